# Generated from schemas/message/DescribeConfigsRequest.json by `python -m schemas.generator`. Do not edit.
"""DescribeConfigsRequest, a request, versions 1-4."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    EncodeError,
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
unpack_xx = Format(">??").unpack_from
unpack_xxn = Format(">??B").unpack_from
unpack_bn = Format(">bB").unpack_from
unpack_bh = Format(">bh").unpack_from
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
pack_xx = Format(">??").pack
pack_b = Format(">b").pack
pack_bh = Format(">bh").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class DescribeConfigsResource(Struct):
    resource_type: int = 0
    """What kind of resource it is: 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group."""
    resource_name: str = ""
    """Its name."""
    configuration_keys: list[str] | None = attrs.Factory(list)
    """Which settings; null: all."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeConfigsRequest(Request):
    """Asks for the settings of resources: topics, brokers, groups and others."""

    resources: list[DescribeConfigsResource] = attrs.Factory(list)
    """Whose settings are asked for."""
    include_synonyms: bool = False
    """Whether to tell where else a value could come from."""
    include_documentation: bool = False
    """Whether to tell what each setting means. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> DescribeConfigsRequest:
    end = len(data)
    message = new(DescribeConfigsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 7 > end - pos:
        raise Malformed
    resources: list[DescribeConfigsResource] = []
    resources_count = n
    for _ in range(resources_count):
        resource = new(DescribeConfigsResource)
        resource.resource_type, n = unpack_bh(data, pos)
        pos += 3
        if n < 0:
            raise Malformed
        stop = pos + n
        resource.resource_name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            if n != -1:
                raise Malformed
            resource.configuration_keys = None
        else:
            if n * 2 > end - pos:
                raise Malformed
            configuration_keys: list[str] = []
            configuration_keys_count = n
            for _ in range(configuration_keys_count):
                (n,) = unpack_h(data, pos)
                pos += 2
                if n < 0:
                    raise Malformed
                stop = pos + n
                configuration_key = data[pos:stop].decode()
                pos = stop
                configuration_keys.append(configuration_key)
            resource.configuration_keys = configuration_keys
        resource.unknown_tagged_fields = ()
        resources.append(resource)
    message.resources = resources
    message.include_documentation = False
    (message.include_synonyms,) = unpack_x(data, pos)
    pos += 1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> DescribeConfigsRequest:
    end = len(data)
    message = new(DescribeConfigsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 7 > end - pos:
        raise Malformed
    resources: list[DescribeConfigsResource] = []
    resources_count = n
    for _ in range(resources_count):
        resource = new(DescribeConfigsResource)
        resource.resource_type, n = unpack_bh(data, pos)
        pos += 3
        if n < 0:
            raise Malformed
        stop = pos + n
        resource.resource_name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            if n != -1:
                raise Malformed
            resource.configuration_keys = None
        else:
            if n * 2 > end - pos:
                raise Malformed
            configuration_keys: list[str] = []
            configuration_keys_count = n
            for _ in range(configuration_keys_count):
                (n,) = unpack_h(data, pos)
                pos += 2
                if n < 0:
                    raise Malformed
                stop = pos + n
                configuration_key = data[pos:stop].decode()
                pos = stop
                configuration_keys.append(configuration_key)
            resource.configuration_keys = configuration_keys
        resource.unknown_tagged_fields = ()
        resources.append(resource)
    message.resources = resources
    message.include_synonyms, message.include_documentation = unpack_xx(data, pos)
    pos += 2
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> DescribeConfigsRequest:
    end = len(data)
    message = new(DescribeConfigsRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 4 > end - pos:
        raise Malformed
    resources: list[DescribeConfigsResource] = []
    resources_count = n
    for _ in range(resources_count):
        resource = new(DescribeConfigsResource)
        resource.resource_type, n = unpack_bn(data, pos)
        pos += 1
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        resource.resource_name = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            resource.configuration_keys = None
        else:
            n -= 1
            if n > end - pos:
                raise Malformed
            configuration_keys: list[str] = []
            configuration_keys_count = n
            for _ in range(configuration_keys_count):
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                configuration_key = data[pos + 1 : stop].decode()
                pos = stop
                configuration_keys.append(configuration_key)
            resource.configuration_keys = configuration_keys
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            resource.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            resource.unknown_tagged_fields = ()
            pos += 1
        resources.append(resource)
    message.resources = resources
    message.include_synonyms, message.include_documentation, n = unpack_xxn(data, pos)
    pos += 2
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v1(m: DescribeConfigsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.include_documentation:
        raise EncodeError("IncludeDocumentation is set, which this version lacks")
    n1 = len(m.resources)
    out.append(pack_i(n1))
    for e2 in m.resources:
        b3 = e2.resource_name.encode()
        n4 = len(b3)
        a6 = e2.configuration_keys
        n5 = -1 if a6 is None else len(a6)
        out += (pack_bh(e2.resource_type, n4), b3, pack_i(n5))
        for e7 in a6 or ():
            b8 = e7.encode()
            n9 = len(b8)
            out += (pack_h(n9), b8)
    out.append(b"\1" if m.include_synonyms else b"\0")
    return b"".join(out)


def _encode_v3(m: DescribeConfigsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.resources)
    out.append(pack_i(n1))
    for e2 in m.resources:
        b3 = e2.resource_name.encode()
        n4 = len(b3)
        a6 = e2.configuration_keys
        n5 = -1 if a6 is None else len(a6)
        out += (pack_bh(e2.resource_type, n4), b3, pack_i(n5))
        for e7 in a6 or ():
            b8 = e7.encode()
            n9 = len(b8)
            out += (pack_h(n9), b8)
    out.append(pack_xx(m.include_synonyms, m.include_documentation))
    return b"".join(out)


def _encode_v4(m: DescribeConfigsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.resources) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.resources:
        b3 = e2.resource_name.encode()
        n4 = len(b3) + 1
        a6 = e2.configuration_keys
        n5 = 0 if a6 is None else len(a6) + 1
        out += (
            pack_b(e2.resource_type),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e7 in a6 or ():
            b8 = e7.encode()
            n9 = len(b8) + 1
            out += (ONE_BYTE[n9] if n9 < 128 else write_string_length(n9), b8)
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (
        pack_xx(m.include_synonyms, m.include_documentation),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


DescribeConfigsResource.FIELDS = (
    Field("resource_type", "ResourceType", "int8", (1, 4)),
    Field("resource_name", "ResourceName", "string", (1, 4)),
    Field("configuration_keys", "ConfigurationKeys", "string", (1, 4), is_array=True, nullable=(1, 4)),
)
DescribeConfigsRequest.FIELDS = (
    Field("resources", "Resources", "struct", (1, 4), is_array=True, struct=DescribeConfigsResource),
    Field("include_synonyms", "IncludeSynonyms", "bool", (1, 4)),
    Field("include_documentation", "IncludeDocumentation", "bool", (3, 4)),
)
DescribeConfigsRequest.NAME = "DescribeConfigsRequest"
DescribeConfigsRequest.API_KEY = 32
DescribeConfigsRequest.MIN_VERSION = 1
DescribeConfigsRequest.MAX_VERSION = 4
DescribeConfigsRequest.FLEXIBLE_FROM = 4
DescribeConfigsRequest._DECODERS = {1: _decode_v1, 2: _decode_v1, 3: _decode_v3, 4: _decode_v4}
DescribeConfigsRequest._ENCODERS = {1: _encode_v1, 2: _encode_v1, 3: _encode_v3, 4: _encode_v4}
