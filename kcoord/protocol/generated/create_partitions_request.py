# Generated from schemas/message/CreatePartitionsRequest.json by `python -m schemas.generator`. Do not edit.
"""CreatePartitionsRequest, a request, versions 0-3."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    Malformed,
    integers,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
unpack_ix = Format(">i?").unpack_from
unpack_ixn = Format(">i?B").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ix = Format(">i?").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class CreatePartitionsAssignment(Struct):
    broker_ids: list[int] = attrs.Factory(list)
    """The brokers of its replicas."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreatePartitionsTopic(Struct):
    name: str = ""
    """The topic's name."""
    count: int = 0
    """How many partitions it shall have."""
    assignments: list[CreatePartitionsAssignment] | None = attrs.Factory(list)
    """Where the replicas of the new ones go; null: the broker decides."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreatePartitionsRequest(Request):
    """Gives topics more partitions."""

    topics: list[CreatePartitionsTopic] = attrs.Factory(list)
    """The topics."""
    timeout_ms: int = 0
    """How long the answer may take, in ms."""
    validate_only: bool = False
    """Whether the change is only checked."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> CreatePartitionsRequest:
    end = len(data)
    message = new(CreatePartitionsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 10 > end - pos:
        raise Malformed
    topics: list[CreatePartitionsTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(CreatePartitionsTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.count, n = unpack_ii(data, pos)
        pos += 8
        if n < 0:
            if n != -1:
                raise Malformed
            topic.assignments = None
        else:
            if n * 4 > end - pos:
                raise Malformed
            assignments: list[CreatePartitionsAssignment] = []
            assignments_left = n
            assignments_tries = 4
            while assignments_left:
                assignments_start = pos
                assignment = new(CreatePartitionsAssignment)
                (n,) = unpack_i(data, pos)
                pos += 4
                if n < 0:
                    raise Malformed
                if n < 17:
                    assignment.broker_ids = list(READ_INT32S[n](data, pos))
                else:
                    assignment.broker_ids = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
                broker_ids_end = pos
                assignment.unknown_tagged_fields = ()
                assignments.append(assignment)
                assignments_left -= 1
                if assignments_tries and assignments_left >= 12:
                    broker_ids_size = len(assignment.broker_ids) * 4
                    same = data[assignments_start : broker_ids_end - broker_ids_size]
                    broker_ids_list = integers("i", len(assignment.broker_ids))
                    assignments_unknown = assignment.unknown_tagged_fields
                    assignments_done = len(assignments)
                    assignments_size = pos - assignments_start
                    stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
                    for row in iter_unpack(f">{len(same)}s{broker_ids_size}s", memoryview(data)[pos:stop]):
                        gap, broker_ids = row
                        if gap != same:
                            break
                        assignment = new(CreatePartitionsAssignment)
                        assignment.broker_ids = list(broker_ids_list(broker_ids))
                        assignment.unknown_tagged_fields = assignments_unknown
                        assignments.append(assignment)
                    assignments_done = len(assignments) - assignments_done
                    pos += assignments_done * assignments_size
                    assignments_left -= assignments_done
                    if not assignments_done:
                        assignments_tries -= 1
            topic.assignments = assignments
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.timeout_ms, message.validate_only = unpack_ix(data, pos)
    pos += 5
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> CreatePartitionsRequest:
    end = len(data)
    message = new(CreatePartitionsRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 7 > end - pos:
        raise Malformed
    topics: list[CreatePartitionsTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(CreatePartitionsTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        topic.count, n = unpack_in(data, pos)
        pos += 4
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            topic.assignments = None
        else:
            n -= 1
            if n * 2 > end - pos:
                raise Malformed
            assignments: list[CreatePartitionsAssignment] = []
            assignments_left = n
            assignments_tries = 4
            while assignments_left:
                assignments_start = pos
                assignment = new(CreatePartitionsAssignment)
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    assignment.broker_ids = list(READ_INT32S[n](data, pos))
                else:
                    assignment.broker_ids = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
                broker_ids_end = pos
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    assignment.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    assignment.unknown_tagged_fields = ()
                    pos += 1
                assignments.append(assignment)
                assignments_left -= 1
                if assignments_tries and assignments_left >= 12:
                    broker_ids_size = len(assignment.broker_ids) * 4
                    same = data[assignments_start : broker_ids_end - broker_ids_size]
                    broker_ids_list = integers("i", len(assignment.broker_ids))
                    same_2 = data[broker_ids_end : pos]
                    assignments_unknown = assignment.unknown_tagged_fields
                    assignments_done = len(assignments)
                    assignments_size = pos - assignments_start
                    stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
                    for row in iter_unpack(f">{len(same)}s{broker_ids_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                        gap, broker_ids, gap_2 = row
                        if gap != same or gap_2 != same_2:
                            break
                        assignment = new(CreatePartitionsAssignment)
                        assignment.broker_ids = list(broker_ids_list(broker_ids))
                        assignment.unknown_tagged_fields = assignments_unknown
                        assignments.append(assignment)
                    assignments_done = len(assignments) - assignments_done
                    pos += assignments_done * assignments_size
                    assignments_left -= assignments_done
                    if not assignments_done:
                        assignments_tries -= 1
            topic.assignments = assignments
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
    message.timeout_ms, message.validate_only, n = unpack_ixn(data, pos)
    pos += 5
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: CreatePartitionsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_i(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        a6 = e2.assignments
        n5 = -1 if a6 is None else len(a6)
        out += (pack_h(n4), b3, pack_ii(e2.count, n5))
        for e7 in a6 or ():
            n8 = len(e7.broker_ids)
            out += (
                pack_i(n8),
                WRITE_INT32S[len(e7.broker_ids)](*e7.broker_ids) if len(e7.broker_ids) < 17 else pack(f">{len(e7.broker_ids)}i", *e7.broker_ids),
            )
    out.append(pack_ix(m.timeout_ms, m.validate_only))
    return b"".join(out)


def _encode_v2(m: CreatePartitionsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        a6 = e2.assignments
        n5 = 0 if a6 is None else len(a6) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_i(e2.count),
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e7 in a6 or ():
            n8 = len(e7.broker_ids) + 1
            out += (
                ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
                WRITE_INT32S[len(e7.broker_ids)](*e7.broker_ids) if len(e7.broker_ids) < 17 else pack(f">{len(e7.broker_ids)}i", *e7.broker_ids),
                write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (
        pack_ix(m.timeout_ms, m.validate_only),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


CreatePartitionsAssignment.FIELDS = (
    Field("broker_ids", "BrokerIds", "int32", (0, 3), is_array=True, entity="brokerId"),
)
CreatePartitionsTopic.FIELDS = (
    Field("name", "Name", "string", (0, 3), entity="topicName"),
    Field("count", "Count", "int32", (0, 3)),
    Field(
        "assignments",
        "Assignments",
        "struct",
        (0, 3),
        is_array=True,
        nullable=(0, 3),
        struct=CreatePartitionsAssignment,
    ),
)
CreatePartitionsRequest.FIELDS = (
    Field("topics", "Topics", "struct", (0, 3), is_array=True, struct=CreatePartitionsTopic),
    Field("timeout_ms", "TimeoutMs", "int32", (0, 3)),
    Field("validate_only", "ValidateOnly", "bool", (0, 3)),
)
CreatePartitionsRequest.NAME = "CreatePartitionsRequest"
CreatePartitionsRequest.API_KEY = 37
CreatePartitionsRequest.MIN_VERSION = 0
CreatePartitionsRequest.MAX_VERSION = 3
CreatePartitionsRequest.FLEXIBLE_FROM = 2
CreatePartitionsRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v2, 3: _decode_v2}
CreatePartitionsRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v2, 3: _encode_v2}
