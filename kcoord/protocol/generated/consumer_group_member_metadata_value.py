# Generated from schemas/record/ConsumerGroupMemberMetadataValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupMemberMetadataValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue, Struct
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
from kcoord.protocol.skipping import alike, skip_bytes, skip_string, skip_tagged

new = object.__new__
unpack_hhbhn = Format(">hhbhB").unpack_from
unpack_in = Format(">iB").unpack_from
pack_bi = Format(">bi").pack
pack_hhbh = Format(">hhbh").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class ClassicProtocol(Struct):
    name: str = ""
    """The assignor's name."""
    metadata: bytes = b""
    """Its subscription, as that assignor writes it."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ClassicMemberMetadata(Struct):
    session_timeout_ms: int = 0
    """It is lost after this time without a heartbeat, in ms."""
    supported_protocols: list[ClassicProtocol] = attrs.Factory(list)
    """Its assignors, the one that it likes best first."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Assignor(Struct):
    name: str = ""
    """The assignor's name."""
    minimum_version: int = 0
    """The lowest version of metadata that the member can read with it."""
    maximum_version: int = 0
    """The highest version that it can read."""
    reason: int = 0
    """Why the metadata changed, in the assignor's own numbers; 0: no reason."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor wants to be told of this member, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupMemberMetadataValue(RecordValue):
    """What a member of a consumer group said of itself."""

    instance_id: str | None = ""
    """Its static name, or null."""
    rack_id: str | None = ""
    """Its rack, or null."""
    client_id: str = ""
    """The client id that it gave."""
    client_host: str = ""
    """The address that it connects from, with a leading slash."""
    subscribed_topic_names: list[str] = attrs.Factory(list)
    """The topics that it subscribes to by name."""
    subscribed_topic_regex: str | None = ""
    """The regular expression that it subscribes to, or null."""
    rebalance_timeout_ms: int = -1
    """How long it may take to let go of what it must give up, in ms."""
    server_assignor: str | None = ""
    """The coordinator's assignor that it wishes, or null."""
    classic_member_metadata: ClassicMemberMetadata | None = attrs.Factory(ClassicMemberMetadata)
    """What a consumer that speaks the classic protocol said in its JoinGroup; null: it speaks the new one."""
    client_assignors: list[Assignor] = attrs.Factory(list)
    """The assignors that it can run, the one that it likes best first."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupMemberMetadataValue:
    end = len(data)
    message = new(ConsumerGroupMemberMetadataValue)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.instance_id = None
        pos += 1
    elif n == 1:
        message.instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.instance_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.rack_id = None
        pos += 1
    elif n == 1:
        message.rack_id = ""
        pos += 1
    else:
        stop = pos + n
        message.rack_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.client_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.client_host = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n > end - pos:
        raise Malformed
    subscribed_topic_names: list[str] = []
    subscribed_topic_names_count = n
    for _ in range(subscribed_topic_names_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        subscribed_topic_name = data[pos + 1 : stop].decode()
        pos = stop
        subscribed_topic_names.append(subscribed_topic_name)
    message.subscribed_topic_names = subscribed_topic_names
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.subscribed_topic_regex = None
        pos += 1
    elif n == 1:
        message.subscribed_topic_regex = ""
        pos += 1
    else:
        stop = pos + n
        message.subscribed_topic_regex = data[pos + 1 : stop].decode()
        pos = stop
    message.rebalance_timeout_ms, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.server_assignor = None
        pos += 1
    elif n == 1:
        message.server_assignor = ""
        pos += 1
    else:
        stop = pos + n
        message.server_assignor = data[pos + 1 : stop].decode()
        pos = stop
    message.classic_member_metadata = ClassicMemberMetadata()
    message.client_assignors = []
    n = data[pos]
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
                pos += 1
                if n == 0:
                    message.classic_member_metadata = None
                else:
                    classic_member_metadata = new(ClassicMemberMetadata)
                    classic_member_metadata.session_timeout_ms, n = unpack_in(data, pos)
                    pos += 4
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    n -= 1
                    if n * 3 > end - pos:
                        raise Malformed
                    supported_protocols: list[ClassicProtocol] = []
                    supported_protocols_count = n
                    for _ in range(supported_protocols_count):
                        supported_protocol = new(ClassicProtocol)
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        supported_protocol.name = data[pos + 1 : stop].decode()
                        pos = stop
                        n = data[pos]
                        if n > 127:
                            pos += 1
                            n += (data[pos] << 7) - 128
                            if n > 16383:
                                n, pos = read_uvarint(data, pos - 1)
                                pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        supported_protocol.metadata = data[pos + 1 : stop]
                        pos = stop
                        n = data[pos]
                        if n:
                            n, pos = read_uvarint(data, pos)
                            supported_protocol.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            supported_protocol.unknown_tagged_fields = ()
                            pos += 1
                        supported_protocols.append(supported_protocol)
                    classic_member_metadata.supported_protocols = supported_protocols
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        classic_member_metadata.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        classic_member_metadata.unknown_tagged_fields = ()
                        pos += 1
                    message.classic_member_metadata = classic_member_metadata
            elif message_tag == 1000:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n * 10 > end - pos:
                    raise Malformed
                client_assignors: list[Assignor] = []
                client_assignors_count = n
                for _ in range(client_assignors_count):
                    client_assignor = new(Assignor)
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    client_assignor.name = data[pos + 1 : stop].decode()
                    pos = stop
                    client_assignor.minimum_version, client_assignor.maximum_version, client_assignor.reason, client_assignor.version, n = unpack_hhbhn(data, pos)
                    pos += 7
                    if n > 127:
                        pos += 1
                        n += (data[pos] << 7) - 128
                        if n > 16383:
                            n, pos = read_uvarint(data, pos - 1)
                            pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    client_assignor.metadata = data[pos + 1 : stop]
                    pos = stop
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        client_assignor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        client_assignor.unknown_tagged_fields = ()
                        pos += 1
                    client_assignors.append(client_assignor)
                message.client_assignors = client_assignors
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


def _encode_v0(m: ConsumerGroupMemberMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.instance_id
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    v6 = m.rack_id
    if v6 is None:
        b4 = b""
        n5 = 0
    else:
        b4 = v6.encode()
        n5 = len(b4) + 1
    b7 = m.client_id.encode()
    n8 = len(b7) + 1
    b9 = m.client_host.encode()
    n10 = len(b9) + 1
    n11 = len(m.subscribed_topic_names) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
        b7,
        ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
        b9,
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.subscribed_topic_names:
        b13 = e12.encode()
        n14 = len(b13) + 1
        out += (ONE_BYTE[n14] if n14 < 128 else write_string_length(n14), b13)
    v17 = m.subscribed_topic_regex
    if v17 is None:
        b15 = b""
        n16 = 0
    else:
        b15 = v17.encode()
        n16 = len(b15) + 1
    v20 = m.server_assignor
    if v20 is None:
        b18 = b""
        n19 = 0
    else:
        b18 = v20.encode()
        n19 = len(b18) + 1
    out += (
        ONE_BYTE[n16] if n16 < 128 else write_string_length(n16),
        b15,
        pack_i(m.rebalance_timeout_ms),
        ONE_BYTE[n19] if n19 < 128 else write_string_length(n19),
        b18,
    )
    tagged21: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.classic_member_metadata != ClassicMemberMetadata():
        parts22: list[bytes | memoryview] = []
        s23 = m.classic_member_metadata
        if s23 is None:
            parts22.append(b"\0")
        else:
            n24 = len(s23.supported_protocols) + 1
            parts22 += (pack_bi(1, s23.session_timeout_ms), ONE_BYTE[n24] if n24 < 128 else write_uvarint(n24))
            for e25 in s23.supported_protocols:
                b26 = e25.name.encode()
                n27 = len(b26) + 1
                b28 = e25.metadata
                n29 = len(b28) + 1
                parts22 += (
                    ONE_BYTE[n27] if n27 < 128 else write_string_length(n27),
                    b26,
                    ONE_BYTE[n29] if n29 < 128 else write_uvarint(n29),
                    b28,
                    write_tagged(e25.unknown_tagged_fields) if e25.unknown_tagged_fields else b"\0",
                )
            parts22.append(write_tagged(s23.unknown_tagged_fields) if s23.unknown_tagged_fields else b"\0")
        tagged21.append((0, b"".join(parts22)))
    if m.client_assignors != []:
        parts30: list[bytes | memoryview] = []
        n31 = len(m.client_assignors) + 1
        parts30.append(ONE_BYTE[n31] if n31 < 128 else write_uvarint(n31))
        for e32 in m.client_assignors:
            b33 = e32.name.encode()
            n34 = len(b33) + 1
            b35 = e32.metadata
            n36 = len(b35) + 1
            parts30 += (
                ONE_BYTE[n34] if n34 < 128 else write_string_length(n34),
                b33,
                pack_hhbh(e32.minimum_version, e32.maximum_version, e32.reason, e32.version),
                ONE_BYTE[n36] if n36 < 128 else write_uvarint(n36),
                b35,
                write_tagged(e32.unknown_tagged_fields) if e32.unknown_tagged_fields else b"\0",
            )
        tagged21.append((1000, b"".join(parts30)))
    out.append(write_tagged(tagged21) if tagged21 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos]
    pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
    n = data[pos]
    pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    subscribed_topic_names_count = n - 1
    for _ in range(subscribed_topic_names_count):
        n = data[pos]
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos]
    pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
    n = data[pos + 4]
    pos = pos + 4 + (n or 1) if n < 128 else skip_string(data, pos + 4, True)
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        tags = n
        for _ in range(tags):
            tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            stop = pos + n
            if stop > len(data):
                raise Malformed
            if tag == 0:
                n = data[pos]
                pos += 1
                if n:
                    n = data[pos + 4]
                    if n < 128:
                        pos += 5
                    else:
                        n, pos = read_uvarint(data, pos + 4)
                    if n == 0:
                        raise Malformed
                    supported_protocol_left = n - 1
                    supported_protocol_tries = 4
                    while supported_protocol_left:
                        supported_protocol_start = pos
                        n = data[pos]
                        place = pos
                        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
                        n = data[pos]
                        place_2 = pos
                        pos = pos + n if 0 < n < 128 else skip_bytes(data, pos, False)
                        n = data[pos]
                        place_3 = pos
                        if n:
                            pos = skip_tagged(data, pos)
                        else:
                            pos += 1
                        supported_protocol_left -= 1
                        if supported_protocol_tries and supported_protocol_left >= 5 and not n:
                            supported_protocol_same = alike(data, supported_protocol_start, pos, supported_protocol_left, (place, place_2, place_3))
                            pos += supported_protocol_same * (pos - supported_protocol_start)
                            supported_protocol_left -= supported_protocol_same
                            if not supported_protocol_same:
                                supported_protocol_tries -= 1
                    n = data[pos]
                    if n:
                        pos = skip_tagged(data, pos)
                    else:
                        pos += 1
            elif tag == 1000:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                client_assignor_left = n - 1
                client_assignor_tries = 4
                while client_assignor_left:
                    client_assignor_start = pos
                    n = data[pos]
                    place_4 = pos
                    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
                    n = data[pos + 7]
                    place_5 = pos + 7
                    pos = pos + 7 + n if 0 < n < 128 else skip_bytes(data, pos + 7, False)
                    n = data[pos]
                    place_6 = pos
                    if n:
                        pos = skip_tagged(data, pos)
                    else:
                        pos += 1
                    client_assignor_left -= 1
                    if client_assignor_tries and client_assignor_left >= 5 and not n:
                        client_assignor_same = alike(data, client_assignor_start, pos, client_assignor_left, (place_4, place_5, place_6))
                        pos += client_assignor_same * (pos - client_assignor_start)
                        client_assignor_left -= client_assignor_same
                        if not client_assignor_same:
                            client_assignor_tries -= 1
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return None


ClassicProtocol.FIELDS = (
    Field("name", "Name", "string", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
ClassicMemberMetadata.FIELDS = (
    Field("session_timeout_ms", "SessionTimeoutMs", "int32", (0, 0)),
    Field("supported_protocols", "SupportedProtocols", "struct", (0, 0), is_array=True, struct=ClassicProtocol),
)
Assignor.FIELDS = (
    Field("name", "Name", "string", (0, 0)),
    Field("minimum_version", "MinimumVersion", "int16", (0, 0)),
    Field("maximum_version", "MaximumVersion", "int16", (0, 0)),
    Field("reason", "Reason", "int8", (0, 0)),
    Field("version", "Version", "int16", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
ConsumerGroupMemberMetadataValue.FIELDS = (
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("rack_id", "RackId", "string", (0, 0), nullable=(0, 0)),
    Field("client_id", "ClientId", "string", (0, 0)),
    Field("client_host", "ClientHost", "string", (0, 0)),
    Field("subscribed_topic_names", "SubscribedTopicNames", "string", (0, 0), is_array=True),
    Field("subscribed_topic_regex", "SubscribedTopicRegex", "string", (0, 0), nullable=(0, 0)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (0, 0)),
    Field("server_assignor", "ServerAssignor", "string", (0, 0), nullable=(0, 0)),
    Field(
        "classic_member_metadata",
        "ClassicMemberMetadata",
        "struct",
        (0, 0),
        nullable=(0, 0),
        tag=0,
        tagged=(0, 0),
        struct=ClassicMemberMetadata,
    ),
    Field(
        "client_assignors",
        "ClientAssignors",
        "struct",
        (0, 0),
        is_array=True,
        tag=1000,
        tagged=(0, 0),
        struct=Assignor,
        ignorable=True,
    ),
)
ConsumerGroupMemberMetadataValue.NAME = "ConsumerGroupMemberMetadataValue"
ConsumerGroupMemberMetadataValue.API_KEY = 22
ConsumerGroupMemberMetadataValue.MIN_VERSION = 0
ConsumerGroupMemberMetadataValue.MAX_VERSION = 0
ConsumerGroupMemberMetadataValue.FLEXIBLE_FROM = 0
ConsumerGroupMemberMetadataValue._DECODERS = {0: _decode_v0}
ConsumerGroupMemberMetadataValue._ENCODERS = {0: _encode_v0}
ConsumerGroupMemberMetadataValue.EPOCH = None
ConsumerGroupMemberMetadataValue._CHECKS = {0: _check_v0}
