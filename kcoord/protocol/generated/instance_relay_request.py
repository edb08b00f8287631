# Generated from schemas/internal/InstanceRelayRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceRelayRequest, a request between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    ZERO_UUID,
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
unpack_uixn = Format(">16si?B").unpack_from
unpack_x = Format(">?").unpack_from
unpack_hhn = Format(">hhB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_q = Format(">q").unpack_from
unpack_qxn = Format(">q?B").unpack_from
pack_uix = Format(">16si?").pack
pack_hh = Format(">hh").pack
pack_i = Format(">i").pack
pack_q = Format(">q").pack
pack_qx = Format(">q?").pack


@attrs.define(slots=True, weakref_slot=False)
class SeenTopic(Struct):
    name: str = ""
    """The topic."""
    topic_id: bytes = ZERO_UUID
    """Its id."""
    partitions: int = 0
    """Their number; 0: the topic does not exist."""
    certain: bool = False
    """Whether several looks agree, so that it may say that there is less than before."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class InstanceRelayRequest(Request):
    """A group's own request, passed on from the instance that its client is connected to."""

    connection: int = 0
    """The client's connection, by its number in the process that passes it on."""
    pipelined: bool = False
    """Whether it was sent before the answer to the request before it was there."""
    client_id: str = ""
    """The client's name."""
    client_host: str = ""
    """The client's address."""
    api_key: int = 0
    """Which request."""
    api_version: int = 0
    """Its version."""
    body: bytes = b""
    """Its body."""
    listener: int = -1
    """Which port of the process that passes it on the client's connection came by; -1: nothing is said of its making."""
    made_since_ms: int = 0
    """The client's connection was made at this time or later, in ms on the monotonic clock of the instance that gets this request."""
    made_by_ms: int = 0
    """It was made by this time, likewise."""
    seen_topics: list[SeenTopic] | None = None
    """What the cluster has shown of the topics that a consumer subscribes to; null: nobody has looked."""
    resolved: list[str] | None = None
    """The topics that match the regular expression of a consumer's subscription; null: nobody has looked."""
    agreed_ms: int = 0
    """The first of the looks of which several agree was at most so long ago, in ms."""
    patient: bool = False
    """Whether the client is known to wait for the answer to a heartbeat for longer than one interval."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceRelayRequest:
    end = len(data)
    message = new(InstanceRelayRequest)
    message.connection, message.pipelined, n = unpack_qxn(data, pos)
    pos += 9
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
    message.api_key, message.api_version, n = unpack_hhn(data, pos)
    pos += 4
    if n > 127:
        pos += 1
        n += (data[pos] << 7) - 128
        if n > 16383:
            n, pos = read_uvarint(data, pos - 1)
            pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.body = data[pos + 1 : stop]
    pos = stop
    message.listener = -1
    message.made_since_ms = 0
    message.made_by_ms = 0
    message.seen_topics = None
    message.resolved = None
    message.agreed_ms = 0
    message.patient = False
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
                (message.listener,) = unpack_i(data, pos)
                pos += 4
            elif message_tag == 1:
                (message.made_since_ms,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 2:
                (message.made_by_ms,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 3:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    message.seen_topics = None
                else:
                    n -= 1
                    if n * 23 > end - pos:
                        raise Malformed
                    seen_topics: list[SeenTopic] = []
                    seen_topics_count = n
                    for _ in range(seen_topics_count):
                        seen_topic = new(SeenTopic)
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        seen_topic.name = data[pos + 1 : stop].decode()
                        pos = stop
                        seen_topic.topic_id, seen_topic.partitions, seen_topic.certain, n = unpack_uixn(data, pos)
                        pos += 21
                        if n:
                            n, pos = read_uvarint(data, pos)
                            seen_topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            seen_topic.unknown_tagged_fields = ()
                            pos += 1
                        seen_topics.append(seen_topic)
                    message.seen_topics = seen_topics
            elif message_tag == 4:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    message.resolved = None
                else:
                    n -= 1
                    if n > end - pos:
                        raise Malformed
                    resolved: list[str] = []
                    resolved_count = n
                    for _ in range(resolved_count):
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        resolved_item = data[pos + 1 : stop].decode()
                        pos = stop
                        resolved.append(resolved_item)
                    message.resolved = resolved
            elif message_tag == 5:
                (message.agreed_ms,) = unpack_i(data, pos)
                pos += 4
            elif message_tag == 6:
                (message.patient,) = unpack_x(data, pos)
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


def _encode_v0(m: InstanceRelayRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.client_id.encode()
    n2 = len(b1) + 1
    b3 = m.client_host.encode()
    n4 = len(b3) + 1
    b5 = m.body
    n6 = len(b5) + 1
    out += (
        pack_qx(m.connection, m.pipelined),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_hh(m.api_key, m.api_version),
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
        b5,
    )
    tagged7: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.listener != -1:
        tagged7.append((0, pack_i(m.listener)))
    if m.made_since_ms != 0:
        tagged7.append((1, pack_q(m.made_since_ms)))
    if m.made_by_ms != 0:
        tagged7.append((2, pack_q(m.made_by_ms)))
    if m.seen_topics is not None:
        parts11: list[bytes | memoryview] = []
        n12 = len(m.seen_topics) + 1
        parts11.append(ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12))
        for e13 in m.seen_topics:
            b14 = e13.name.encode()
            n15 = len(b14) + 1
            if len(e13.topic_id) != 16:
                raise EncodeError("TopicId is not 16 bytes long")
            parts11 += (
                ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
                b14,
                pack_uix(e13.topic_id, e13.partitions, e13.certain),
                write_tagged(e13.unknown_tagged_fields) if e13.unknown_tagged_fields else b"\0",
            )
        tagged7.append((3, b"".join(parts11)))
    if m.resolved is not None:
        parts16: list[bytes | memoryview] = []
        n17 = len(m.resolved) + 1
        parts16.append(ONE_BYTE[n17] if n17 < 128 else write_uvarint(n17))
        for e18 in m.resolved:
            b19 = e18.encode()
            n20 = len(b19) + 1
            parts16 += (ONE_BYTE[n20] if n20 < 128 else write_string_length(n20), b19)
        tagged7.append((4, b"".join(parts16)))
    if m.agreed_ms != 0:
        tagged7.append((5, pack_i(m.agreed_ms)))
    if m.patient:
        tagged7.append((6, b"\1"))
    out.append(write_tagged(tagged7) if tagged7 else b"\0")
    return b"".join(out)


SeenTopic.FIELDS = (
    Field("name", "Name", "string", (0, 0), entity="topicName"),
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0)),
    Field("certain", "Certain", "bool", (0, 0)),
)
InstanceRelayRequest.FIELDS = (
    Field("connection", "Connection", "int64", (0, 0)),
    Field("pipelined", "Pipelined", "bool", (0, 0)),
    Field("client_id", "ClientId", "string", (0, 0)),
    Field("client_host", "ClientHost", "string", (0, 0)),
    Field("api_key", "ApiKey", "int16", (0, 0)),
    Field("api_version", "ApiVersion", "int16", (0, 0)),
    Field("body", "Body", "bytes", (0, 0)),
    Field("listener", "Listener", "int32", (0, 0), tag=0, tagged=(0, 0)),
    Field("made_since_ms", "MadeSinceMs", "int64", (0, 0), tag=1, tagged=(0, 0)),
    Field("made_by_ms", "MadeByMs", "int64", (0, 0), tag=2, tagged=(0, 0)),
    Field(
        "seen_topics",
        "SeenTopics",
        "struct",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        tag=3,
        tagged=(0, 0),
        struct=SeenTopic,
    ),
    Field(
        "resolved",
        "Resolved",
        "string",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        tag=4,
        tagged=(0, 0),
        entity="topicName",
    ),
    Field("agreed_ms", "AgreedMs", "int32", (0, 0), tag=5, tagged=(0, 0)),
    Field("patient", "Patient", "bool", (0, 0), tag=6, tagged=(0, 0)),
)
InstanceRelayRequest.NAME = "InstanceRelayRequest"
InstanceRelayRequest.API_KEY = 32122
InstanceRelayRequest.MIN_VERSION = 0
InstanceRelayRequest.MAX_VERSION = 0
InstanceRelayRequest.FLEXIBLE_FROM = 0
InstanceRelayRequest._DECODERS = {0: _decode_v0}
InstanceRelayRequest._ENCODERS = {0: _encode_v0}
