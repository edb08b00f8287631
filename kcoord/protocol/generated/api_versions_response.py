# Generated from schemas/message/ApiVersionsResponse.json by `python -m schemas.generator`. Do not edit.
"""ApiVersionsResponse, a response, versions 0-4."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_x = Format(">?").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_hhn = Format(">hhB").unpack_from
unpack_hhhn = Format(">hhhB").unpack_from
unpack_hi = Format(">hi").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_q = Format(">q").unpack_from
iterate_hhh = Format(">hhh").iter_unpack
iterate_hhhn = Format(">hhhB").iter_unpack
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_hhh = Format(">hhh").pack
pack_hi = Format(">hi").pack
pack_i = Format(">i").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class ApiVersion(Struct):
    api_key: int = 0
    """The API's number."""
    min_version: int = 0
    """The lowest version."""
    max_version: int = 0
    """The highest version."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class SupportedFeatureKey(Struct):
    name: str = ""
    """The feature's name. Since version 3."""
    min_version: int = 0
    """The lowest version. Since version 3."""
    max_version: int = 0
    """The highest version. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FinalizedFeatureKey(Struct):
    name: str = ""
    """The feature's name. Since version 3."""
    max_version_level: int = 0
    """The highest level that is on. Since version 3."""
    min_version_level: int = 0
    """The lowest level that is on. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ApiVersionsResponse(Response):
    """The APIs and versions that the server speaks, and the features of the cluster."""

    error_code: int = 0
    """The error, or 0."""
    api_keys: list[ApiVersion] = attrs.Factory(list)
    """The APIs that are spoken."""
    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 1."""
    supported_features: list[SupportedFeatureKey] = attrs.Factory(list)
    """Features that this broker could run. Since version 3."""
    finalized_features_epoch: int = -1
    """Moves on with every change of the finalized features; -1 when unknown. Since version 3."""
    finalized_features: list[FinalizedFeatureKey] = attrs.Factory(list)
    """Features of the cluster and the levels that are on. Since version 3."""
    zk_migration_ready: bool = False
    """Set by KRaft controllers that could take over from ZooKeeper. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ApiVersionsResponse:
    end = len(data)
    message = new(ApiVersionsResponse)
    message.error_code, n = unpack_hi(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    api_keys: list[ApiVersion] = []
    for row in iterate_hhh(memoryview(data)[pos : pos + n * 6]):
        api_key = new(ApiVersion)
        api_key.api_key, api_key.min_version, api_key.max_version = row
        api_key.unknown_tagged_fields = ()
        api_keys.append(api_key)
    pos += n * 6
    message.api_keys = api_keys
    message.throttle_time_ms = 0
    message.supported_features = []
    message.finalized_features_epoch = -1
    message.finalized_features = []
    message.zk_migration_ready = False
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> ApiVersionsResponse:
    end = len(data)
    message = new(ApiVersionsResponse)
    message.error_code, n = unpack_hi(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    api_keys: list[ApiVersion] = []
    for row in iterate_hhh(memoryview(data)[pos : pos + n * 6]):
        api_key = new(ApiVersion)
        api_key.api_key, api_key.min_version, api_key.max_version = row
        api_key.unknown_tagged_fields = ()
        api_keys.append(api_key)
    pos += n * 6
    message.api_keys = api_keys
    message.supported_features = []
    message.finalized_features_epoch = -1
    message.finalized_features = []
    message.zk_migration_ready = False
    (message.throttle_time_ms,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> ApiVersionsResponse:
    end = len(data)
    message = new(ApiVersionsResponse)
    message.error_code, n = unpack_hn(data, pos)
    pos += 2
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 7 > end - pos:
        raise Malformed
    api_keys: list[ApiVersion] = []
    api_keys_count = n
    for row in iterate_hhhn(memoryview(data)[pos : pos + n * 7]):
        api_key = new(ApiVersion)
        api_key.api_key, api_key.min_version, api_key.max_version, n = row
        if n:
            break
        api_key.unknown_tagged_fields = ()
        api_keys.append(api_key)
    pos += len(api_keys) * 7
    for _ in range(api_keys_count - len(api_keys)):
        api_key = new(ApiVersion)
        api_key.api_key, api_key.min_version, api_key.max_version, n = unpack_hhhn(data, pos)
        pos += 6
        if n:
            n, pos = read_uvarint(data, pos)
            api_key.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            api_key.unknown_tagged_fields = ()
            pos += 1
        api_keys.append(api_key)
    message.api_keys = api_keys
    message.supported_features = []
    message.finalized_features_epoch = -1
    message.finalized_features = []
    message.zk_migration_ready = False
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message_others = []
        message_tag_count = n
        for _ in range(message_tag_count):
            message_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            message_stop = pos + n
            if message_stop > len(data):
                raise Malformed
            if message_tag == 0:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n * 6 > end - pos:
                    raise Malformed
                supported_features: list[SupportedFeatureKey] = []
                supported_features_count = n
                for _ in range(supported_features_count):
                    supported_feature = new(SupportedFeatureKey)
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    supported_feature.name = data[pos + 1 : stop].decode()
                    pos = stop
                    supported_feature.min_version, supported_feature.max_version, n = unpack_hhn(data, pos)
                    pos += 4
                    if n:
                        n, pos = read_uvarint(data, pos)
                        supported_feature.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        supported_feature.unknown_tagged_fields = ()
                        pos += 1
                    supported_features.append(supported_feature)
                message.supported_features = supported_features
            elif message_tag == 1:
                (message.finalized_features_epoch,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 2:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n * 6 > end - pos:
                    raise Malformed
                finalized_features: list[FinalizedFeatureKey] = []
                finalized_features_count = n
                for _ in range(finalized_features_count):
                    finalized_feature = new(FinalizedFeatureKey)
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    finalized_feature.name = data[pos + 1 : stop].decode()
                    pos = stop
                    finalized_feature.max_version_level, finalized_feature.min_version_level, n = unpack_hhn(data, pos)
                    pos += 4
                    if n:
                        n, pos = read_uvarint(data, pos)
                        finalized_feature.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        finalized_feature.unknown_tagged_fields = ()
                        pos += 1
                    finalized_features.append(finalized_feature)
                message.finalized_features = finalized_features
            elif message_tag == 3:
                (message.zk_migration_ready,) = unpack_x(data, pos)
                pos += 1
            else:
                message_others.append((message_tag, data[pos:message_stop]))
                pos = message_stop
            if pos != message_stop:
                raise Malformed
        message.unknown_tagged_fields = tuple(message_others)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ApiVersionsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.api_keys)
    out.append(pack_hi(m.error_code, n1))
    for e2 in m.api_keys:
        out.append(pack_hhh(e2.api_key, e2.min_version, e2.max_version))
    return b"".join(out)


def _encode_v1(m: ApiVersionsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.api_keys)
    out.append(pack_hi(m.error_code, n1))
    for e2 in m.api_keys:
        out.append(pack_hhh(e2.api_key, e2.min_version, e2.max_version))
    out.append(pack_i(m.throttle_time_ms))
    return b"".join(out)


def _encode_v3(m: ApiVersionsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.api_keys) + 1
    out += (pack_h(m.error_code), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.api_keys:
        out += (
            pack_hhh(e2.api_key, e2.min_version, e2.max_version),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(pack_i(m.throttle_time_ms))
    tagged3: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.supported_features != []:
        parts4: list[bytes | memoryview] = []
        n5 = len(m.supported_features) + 1
        parts4.append(ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5))
        for e6 in m.supported_features:
            b7 = e6.name.encode()
            n8 = len(b7) + 1
            parts4 += (
                ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
                b7,
                pack_hh(e6.min_version, e6.max_version),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        tagged3.append((0, b"".join(parts4)))
    if m.finalized_features_epoch != -1:
        tagged3.append((1, pack_q(m.finalized_features_epoch)))
    if m.finalized_features != []:
        parts10: list[bytes | memoryview] = []
        n11 = len(m.finalized_features) + 1
        parts10.append(ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11))
        for e12 in m.finalized_features:
            b13 = e12.name.encode()
            n14 = len(b13) + 1
            parts10 += (
                ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
                b13,
                pack_hh(e12.max_version_level, e12.min_version_level),
                write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
            )
        tagged3.append((2, b"".join(parts10)))
    if m.zk_migration_ready:
        tagged3.append((3, b"\1"))
    out.append(write_tagged(tagged3) if tagged3 else b"\0")
    return b"".join(out)


ApiVersion.FIELDS = (
    Field("api_key", "ApiKey", "int16", (0, 4)),
    Field("min_version", "MinVersion", "int16", (0, 4)),
    Field("max_version", "MaxVersion", "int16", (0, 4)),
)
SupportedFeatureKey.FIELDS = (
    Field("name", "Name", "string", (3, 4)),
    Field("min_version", "MinVersion", "int16", (3, 4)),
    Field("max_version", "MaxVersion", "int16", (3, 4)),
)
FinalizedFeatureKey.FIELDS = (
    Field("name", "Name", "string", (3, 4)),
    Field("max_version_level", "MaxVersionLevel", "int16", (3, 4)),
    Field("min_version_level", "MinVersionLevel", "int16", (3, 4)),
)
ApiVersionsResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 4)),
    Field("api_keys", "ApiKeys", "struct", (0, 4), is_array=True, struct=ApiVersion),
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 4), ignorable=True),
    Field(
        "supported_features",
        "SupportedFeatures",
        "struct",
        (3, 4),
        is_array=True,
        tag=0,
        tagged=(3, 4),
        struct=SupportedFeatureKey,
        ignorable=True,
    ),
    Field("finalized_features_epoch", "FinalizedFeaturesEpoch", "int64", (3, 4), tag=1, tagged=(3, 4), ignorable=True),
    Field(
        "finalized_features",
        "FinalizedFeatures",
        "struct",
        (3, 4),
        is_array=True,
        tag=2,
        tagged=(3, 4),
        struct=FinalizedFeatureKey,
        ignorable=True,
    ),
    Field("zk_migration_ready", "ZkMigrationReady", "bool", (3, 4), tag=3, tagged=(3, 4), ignorable=True),
)
ApiVersionsResponse.NAME = "ApiVersionsResponse"
ApiVersionsResponse.API_KEY = 18
ApiVersionsResponse.MIN_VERSION = 0
ApiVersionsResponse.MAX_VERSION = 4
ApiVersionsResponse.FLEXIBLE_FROM = 3
ApiVersionsResponse._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v1, 3: _decode_v3, 4: _decode_v3}
ApiVersionsResponse._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v1, 3: _encode_v3, 4: _encode_v3}
