# Generated from schemas/message/ProduceResponse.json by `python -m schemas.generator`. Do not edit.
"""ProduceResponse, a response, versions 3-13."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
unpack_un = Format(">16sB").unpack_from
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ih = Format(">ih").unpack_from
unpack_ihqqqn = Format(">ihqqqB").unpack_from
unpack_ihqqqi = Format(">ihqqqi").unpack_from
unpack_iin = Format(">iiB").unpack_from
iterate_ihqq = Format(">ihqq").iter_unpack
iterate_ihqqq = Format(">ihqqq").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ihqq = Format(">ihqq").pack
pack_ihqqq = Format(">ihqqq").pack
pack_ihqqqi = Format(">ihqqqi").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class BatchIndexAndErrorMessage(Struct):
    batch_index: int = 0
    """Which record of the batch was refused, from 0. Since version 8."""
    batch_index_error_message: str | None = None
    """Why, in words, or null. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class LeaderIdAndEpoch(Struct):
    leader_id: int = -1
    """The broker that leads the partition, or -1. Since version 10."""
    leader_epoch: int = -1
    """The leader epoch, or -1. Since version 10."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class PartitionProduceResponse(Struct):
    index: int = 0
    """The partition's number."""
    error_code: int = 0
    """The error, or 0."""
    base_offset: int = 0
    """The offset that the batch's first record got."""
    log_append_time_ms: int = -1
    """When the broker appended it, in ms since 1970, or -1 where records bear their creation time."""
    log_start_offset: int = -1
    """The first offset that the log still has, or -1. Since version 5."""
    record_errors: list[BatchIndexAndErrorMessage] = attrs.Factory(list)
    """The records that were refused, when the batch was. Since version 8."""
    error_message: str | None = None
    """Text to the error, or null. Since version 8."""
    current_leader: LeaderIdAndEpoch = attrs.Factory(LeaderIdAndEpoch)
    """The leader to turn to, where it was not this broker. Since version 10."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TopicProduceResponse(Struct):
    name: str = ""
    """The topic's name. Until version 12."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 13."""
    partition_responses: list[PartitionProduceResponse] = attrs.Factory(list)
    """One entry for each partition."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class NodeEndpoint(Struct):
    node_id: int = 0
    """The broker's id. Since version 10."""
    host: str = ""
    """The host name or address to connect to. Since version 10."""
    port: int = 0
    """The port to connect to. Since version 10."""
    rack: str | None = None
    """The broker's rack, or null. Since version 10."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ProduceResponse(Response):
    """Where each batch was appended; none is sent for acks = 0."""

    responses: list[TopicProduceResponse] = attrs.Factory(list)
    """One entry for each topic."""
    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    node_endpoints: list[NodeEndpoint] = attrs.Factory(list)
    """Addresses of the leaders named above (KIP-951). Since version 10."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v3(data: bytes, pos: int) -> ProduceResponse:
    end = len(data)
    message = new(ProduceResponse)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    responses: list[TopicProduceResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(TopicProduceResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos:stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 22 > end - pos:
            raise Malformed
        partition_responses: list[PartitionProduceResponse] = []
        for row in iterate_ihqq(memoryview(data)[pos : pos + n * 22]):
            partition_response = new(PartitionProduceResponse)
            partition_response.index, partition_response.error_code, partition_response.base_offset, partition_response.log_append_time_ms = row
            partition_response.log_start_offset = -1
            partition_response.record_errors = []
            partition_response.error_message = None
            partition_response.current_leader = LeaderIdAndEpoch()
            partition_response.unknown_tagged_fields = ()
            partition_responses.append(partition_response)
        pos += n * 22
        response.partition_responses = partition_responses
        response.unknown_tagged_fields = ()
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    (message.throttle_time_ms,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> ProduceResponse:
    end = len(data)
    message = new(ProduceResponse)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    responses: list[TopicProduceResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(TopicProduceResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos:stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 30 > end - pos:
            raise Malformed
        partition_responses: list[PartitionProduceResponse] = []
        for row in iterate_ihqqq(memoryview(data)[pos : pos + n * 30]):
            partition_response = new(PartitionProduceResponse)
            partition_response.index, partition_response.error_code, partition_response.base_offset, partition_response.log_append_time_ms, partition_response.log_start_offset = row
            partition_response.record_errors = []
            partition_response.error_message = None
            partition_response.current_leader = LeaderIdAndEpoch()
            partition_response.unknown_tagged_fields = ()
            partition_responses.append(partition_response)
        pos += n * 30
        response.partition_responses = partition_responses
        response.unknown_tagged_fields = ()
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    (message.throttle_time_ms,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v8(data: bytes, pos: int) -> ProduceResponse:
    end = len(data)
    message = new(ProduceResponse)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    responses: list[TopicProduceResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(TopicProduceResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos:stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 36 > end - pos:
            raise Malformed
        partition_responses: list[PartitionProduceResponse] = []
        partition_responses_count = n
        for _ in range(partition_responses_count):
            partition_response = new(PartitionProduceResponse)
            partition_response.index, partition_response.error_code, partition_response.base_offset, partition_response.log_append_time_ms, partition_response.log_start_offset, n = unpack_ihqqqi(data, pos)
            pos += 34
            if n < 0:
                raise Malformed
            if n * 6 > end - pos:
                raise Malformed
            record_errors: list[BatchIndexAndErrorMessage] = []
            record_errors_left = n
            record_errors_tries = 4
            while record_errors_left:
                record_errors_start = pos
                record_error = new(BatchIndexAndErrorMessage)
                record_error.batch_index, n = unpack_ih(data, pos)
                pos += 6
                if n < 0:
                    if n != -1:
                        raise Malformed
                    record_error.batch_index_error_message = None
                elif n == 0:
                    record_error.batch_index_error_message = ""
                else:
                    stop = pos + n
                    record_error.batch_index_error_message = data[pos:stop].decode()
                    pos = stop
                batch_index_error_message_end = pos
                batch_index_error_message_n = n
                record_error.unknown_tagged_fields = ()
                record_errors.append(record_error)
                record_errors_left -= 1
                if record_errors_tries and record_errors_left >= 12:
                    batch_index_error_message_null = record_error.batch_index_error_message is None
                    batch_index_error_message_size = 0 if record_error.batch_index_error_message is None else batch_index_error_message_n
                    same = data[record_errors_start + 4 : batch_index_error_message_end - batch_index_error_message_size]
                    record_errors_unknown = record_error.unknown_tagged_fields
                    record_errors_done = len(record_errors)
                    record_errors_size = pos - record_errors_start
                    stop = pos + min(record_errors_left, (end - pos) // record_errors_size) * record_errors_size
                    for row in iter_unpack(f">i{len(same)}s{batch_index_error_message_size}s", memoryview(data)[pos:stop]):
                        batch_index, gap, batch_index_error_message = row
                        if gap != same:
                            break
                        record_error = new(BatchIndexAndErrorMessage)
                        record_error.batch_index = batch_index
                        record_error.batch_index_error_message = None if batch_index_error_message_null else batch_index_error_message.decode() if batch_index_error_message else ""
                        record_error.unknown_tagged_fields = record_errors_unknown
                        record_errors.append(record_error)
                    record_errors_done = len(record_errors) - record_errors_done
                    pos += record_errors_done * record_errors_size
                    record_errors_left -= record_errors_done
                    if not record_errors_done:
                        record_errors_tries -= 1
            partition_response.record_errors = record_errors
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                if n != -1:
                    raise Malformed
                partition_response.error_message = None
            elif n == 0:
                partition_response.error_message = ""
            else:
                stop = pos + n
                partition_response.error_message = data[pos:stop].decode()
                pos = stop
            partition_response.current_leader = LeaderIdAndEpoch()
            partition_response.unknown_tagged_fields = ()
            partition_responses.append(partition_response)
        response.partition_responses = partition_responses
        response.unknown_tagged_fields = ()
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    (message.throttle_time_ms,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v9(data: bytes, pos: int) -> ProduceResponse:
    end = len(data)
    message = new(ProduceResponse)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    responses: list[TopicProduceResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(TopicProduceResponse)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos + 1 : stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 33 > end - pos:
            raise Malformed
        partition_responses: list[PartitionProduceResponse] = []
        partition_responses_count = n
        for _ in range(partition_responses_count):
            partition_response = new(PartitionProduceResponse)
            partition_response.index, partition_response.error_code, partition_response.base_offset, partition_response.log_append_time_ms, partition_response.log_start_offset, n = unpack_ihqqqn(data, pos)
            pos += 30
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 6 > end - pos:
                raise Malformed
            record_errors: list[BatchIndexAndErrorMessage] = []
            record_errors_left = n
            record_errors_tries = 4
            while record_errors_left:
                record_errors_start = pos
                record_error = new(BatchIndexAndErrorMessage)
                record_error.batch_index, n = unpack_in(data, pos)
                pos += 4
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    record_error.batch_index_error_message = None
                    pos += 1
                elif n == 1:
                    record_error.batch_index_error_message = ""
                    pos += 1
                else:
                    stop = pos + n
                    record_error.batch_index_error_message = data[pos + 1 : stop].decode()
                    pos = stop
                batch_index_error_message_end = pos
                batch_index_error_message_n = n
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    record_error.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    record_error.unknown_tagged_fields = ()
                    pos += 1
                record_errors.append(record_error)
                record_errors_left -= 1
                if record_errors_tries and record_errors_left >= 12:
                    batch_index_error_message_null = record_error.batch_index_error_message is None
                    batch_index_error_message_size = 0 if record_error.batch_index_error_message is None else batch_index_error_message_n - 1
                    same = data[record_errors_start + 4 : batch_index_error_message_end - batch_index_error_message_size]
                    same_2 = data[batch_index_error_message_end : pos]
                    record_errors_unknown = record_error.unknown_tagged_fields
                    record_errors_done = len(record_errors)
                    record_errors_size = pos - record_errors_start
                    stop = pos + min(record_errors_left, (end - pos) // record_errors_size) * record_errors_size
                    for row in iter_unpack(f">i{len(same)}s{batch_index_error_message_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                        batch_index, gap, batch_index_error_message, gap_2 = row
                        if gap != same or gap_2 != same_2:
                            break
                        record_error = new(BatchIndexAndErrorMessage)
                        record_error.batch_index = batch_index
                        record_error.batch_index_error_message = None if batch_index_error_message_null else batch_index_error_message.decode() if batch_index_error_message else ""
                        record_error.unknown_tagged_fields = record_errors_unknown
                        record_errors.append(record_error)
                    record_errors_done = len(record_errors) - record_errors_done
                    pos += record_errors_done * record_errors_size
                    record_errors_left -= record_errors_done
                    if not record_errors_done:
                        record_errors_tries -= 1
            partition_response.record_errors = record_errors
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition_response.error_message = None
                pos += 1
            elif n == 1:
                partition_response.error_message = ""
                pos += 1
            else:
                stop = pos + n
                partition_response.error_message = data[pos + 1 : stop].decode()
                pos = stop
            partition_response.current_leader = LeaderIdAndEpoch()
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition_response.unknown_tagged_fields = ()
                pos += 1
            partition_responses.append(partition_response)
        response.partition_responses = partition_responses
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            response.unknown_tagged_fields = ()
            pos += 1
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v10(data: bytes, pos: int) -> ProduceResponse:
    end = len(data)
    message = new(ProduceResponse)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    responses: list[TopicProduceResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(TopicProduceResponse)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos + 1 : stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 33 > end - pos:
            raise Malformed
        partition_responses: list[PartitionProduceResponse] = []
        partition_responses_count = n
        for _ in range(partition_responses_count):
            partition_response = new(PartitionProduceResponse)
            partition_response.index, partition_response.error_code, partition_response.base_offset, partition_response.log_append_time_ms, partition_response.log_start_offset, n = unpack_ihqqqn(data, pos)
            pos += 30
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 6 > end - pos:
                raise Malformed
            record_errors: list[BatchIndexAndErrorMessage] = []
            record_errors_left = n
            record_errors_tries = 4
            while record_errors_left:
                record_errors_start = pos
                record_error = new(BatchIndexAndErrorMessage)
                record_error.batch_index, n = unpack_in(data, pos)
                pos += 4
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    record_error.batch_index_error_message = None
                    pos += 1
                elif n == 1:
                    record_error.batch_index_error_message = ""
                    pos += 1
                else:
                    stop = pos + n
                    record_error.batch_index_error_message = data[pos + 1 : stop].decode()
                    pos = stop
                batch_index_error_message_end = pos
                batch_index_error_message_n = n
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    record_error.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    record_error.unknown_tagged_fields = ()
                    pos += 1
                record_errors.append(record_error)
                record_errors_left -= 1
                if record_errors_tries and record_errors_left >= 12:
                    batch_index_error_message_null = record_error.batch_index_error_message is None
                    batch_index_error_message_size = 0 if record_error.batch_index_error_message is None else batch_index_error_message_n - 1
                    same = data[record_errors_start + 4 : batch_index_error_message_end - batch_index_error_message_size]
                    same_2 = data[batch_index_error_message_end : pos]
                    record_errors_unknown = record_error.unknown_tagged_fields
                    record_errors_done = len(record_errors)
                    record_errors_size = pos - record_errors_start
                    stop = pos + min(record_errors_left, (end - pos) // record_errors_size) * record_errors_size
                    for row in iter_unpack(f">i{len(same)}s{batch_index_error_message_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                        batch_index, gap, batch_index_error_message, gap_2 = row
                        if gap != same or gap_2 != same_2:
                            break
                        record_error = new(BatchIndexAndErrorMessage)
                        record_error.batch_index = batch_index
                        record_error.batch_index_error_message = None if batch_index_error_message_null else batch_index_error_message.decode() if batch_index_error_message else ""
                        record_error.unknown_tagged_fields = record_errors_unknown
                        record_errors.append(record_error)
                    record_errors_done = len(record_errors) - record_errors_done
                    pos += record_errors_done * record_errors_size
                    record_errors_left -= record_errors_done
                    if not record_errors_done:
                        record_errors_tries -= 1
            partition_response.record_errors = record_errors
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition_response.error_message = None
                pos += 1
            elif n == 1:
                partition_response.error_message = ""
                pos += 1
            else:
                stop = pos + n
                partition_response.error_message = data[pos + 1 : stop].decode()
                pos = stop
            partition_response.current_leader = LeaderIdAndEpoch()
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_response_others = []
                partition_response_tag_count = n
                for _ in range(partition_response_tag_count):
                    partition_response_tag, pos = read_uvarint(data, pos)
                    n, pos = read_uvarint(data, pos)
                    partition_response_stop = pos + n
                    if partition_response_stop > len(data):
                        raise Malformed
                    if partition_response_tag == 0:
                        current_leader = new(LeaderIdAndEpoch)
                        current_leader.leader_id, current_leader.leader_epoch, n = unpack_iin(data, pos)
                        pos += 8
                        if n:
                            n, pos = read_uvarint(data, pos)
                            current_leader.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            current_leader.unknown_tagged_fields = ()
                            pos += 1
                        partition_response.current_leader = current_leader
                    else:
                        partition_response_others.append((partition_response_tag, data[pos:partition_response_stop]))
                        pos = partition_response_stop
                    if pos != partition_response_stop:
                        raise Malformed
                partition_response.unknown_tagged_fields = tuple(partition_response_others)
            else:
                partition_response.unknown_tagged_fields = ()
                pos += 1
            partition_responses.append(partition_response)
        response.partition_responses = partition_responses
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            response.unknown_tagged_fields = ()
            pos += 1
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
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
                if n * 11 > end - pos:
                    raise Malformed
                node_endpoints: list[NodeEndpoint] = []
                node_endpoints_count = n
                for _ in range(node_endpoints_count):
                    node_endpoint = new(NodeEndpoint)
                    node_endpoint.node_id, n = unpack_in(data, pos)
                    pos += 4
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    node_endpoint.host = data[pos + 1 : stop].decode()
                    pos = stop
                    node_endpoint.port, n = unpack_in(data, pos)
                    pos += 4
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        node_endpoint.rack = None
                        pos += 1
                    elif n == 1:
                        node_endpoint.rack = ""
                        pos += 1
                    else:
                        stop = pos + n
                        node_endpoint.rack = data[pos + 1 : stop].decode()
                        pos = stop
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        node_endpoint.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        node_endpoint.unknown_tagged_fields = ()
                        pos += 1
                    node_endpoints.append(node_endpoint)
                message.node_endpoints = node_endpoints
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


def _decode_v13(data: bytes, pos: int) -> ProduceResponse:
    end = len(data)
    message = new(ProduceResponse)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    responses: list[TopicProduceResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(TopicProduceResponse)
        response.name = ""
        response.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 33 > end - pos:
            raise Malformed
        partition_responses: list[PartitionProduceResponse] = []
        partition_responses_count = n
        for _ in range(partition_responses_count):
            partition_response = new(PartitionProduceResponse)
            partition_response.index, partition_response.error_code, partition_response.base_offset, partition_response.log_append_time_ms, partition_response.log_start_offset, n = unpack_ihqqqn(data, pos)
            pos += 30
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 6 > end - pos:
                raise Malformed
            record_errors: list[BatchIndexAndErrorMessage] = []
            record_errors_left = n
            record_errors_tries = 4
            while record_errors_left:
                record_errors_start = pos
                record_error = new(BatchIndexAndErrorMessage)
                record_error.batch_index, n = unpack_in(data, pos)
                pos += 4
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    record_error.batch_index_error_message = None
                    pos += 1
                elif n == 1:
                    record_error.batch_index_error_message = ""
                    pos += 1
                else:
                    stop = pos + n
                    record_error.batch_index_error_message = data[pos + 1 : stop].decode()
                    pos = stop
                batch_index_error_message_end = pos
                batch_index_error_message_n = n
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    record_error.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    record_error.unknown_tagged_fields = ()
                    pos += 1
                record_errors.append(record_error)
                record_errors_left -= 1
                if record_errors_tries and record_errors_left >= 12:
                    batch_index_error_message_null = record_error.batch_index_error_message is None
                    batch_index_error_message_size = 0 if record_error.batch_index_error_message is None else batch_index_error_message_n - 1
                    same = data[record_errors_start + 4 : batch_index_error_message_end - batch_index_error_message_size]
                    same_2 = data[batch_index_error_message_end : pos]
                    record_errors_unknown = record_error.unknown_tagged_fields
                    record_errors_done = len(record_errors)
                    record_errors_size = pos - record_errors_start
                    stop = pos + min(record_errors_left, (end - pos) // record_errors_size) * record_errors_size
                    for row in iter_unpack(f">i{len(same)}s{batch_index_error_message_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                        batch_index, gap, batch_index_error_message, gap_2 = row
                        if gap != same or gap_2 != same_2:
                            break
                        record_error = new(BatchIndexAndErrorMessage)
                        record_error.batch_index = batch_index
                        record_error.batch_index_error_message = None if batch_index_error_message_null else batch_index_error_message.decode() if batch_index_error_message else ""
                        record_error.unknown_tagged_fields = record_errors_unknown
                        record_errors.append(record_error)
                    record_errors_done = len(record_errors) - record_errors_done
                    pos += record_errors_done * record_errors_size
                    record_errors_left -= record_errors_done
                    if not record_errors_done:
                        record_errors_tries -= 1
            partition_response.record_errors = record_errors
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition_response.error_message = None
                pos += 1
            elif n == 1:
                partition_response.error_message = ""
                pos += 1
            else:
                stop = pos + n
                partition_response.error_message = data[pos + 1 : stop].decode()
                pos = stop
            partition_response.current_leader = LeaderIdAndEpoch()
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_response_others = []
                partition_response_tag_count = n
                for _ in range(partition_response_tag_count):
                    partition_response_tag, pos = read_uvarint(data, pos)
                    n, pos = read_uvarint(data, pos)
                    partition_response_stop = pos + n
                    if partition_response_stop > len(data):
                        raise Malformed
                    if partition_response_tag == 0:
                        current_leader = new(LeaderIdAndEpoch)
                        current_leader.leader_id, current_leader.leader_epoch, n = unpack_iin(data, pos)
                        pos += 8
                        if n:
                            n, pos = read_uvarint(data, pos)
                            current_leader.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            current_leader.unknown_tagged_fields = ()
                            pos += 1
                        partition_response.current_leader = current_leader
                    else:
                        partition_response_others.append((partition_response_tag, data[pos:partition_response_stop]))
                        pos = partition_response_stop
                    if pos != partition_response_stop:
                        raise Malformed
                partition_response.unknown_tagged_fields = tuple(partition_response_others)
            else:
                partition_response.unknown_tagged_fields = ()
                pos += 1
            partition_responses.append(partition_response)
        response.partition_responses = partition_responses
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            response.unknown_tagged_fields = ()
            pos += 1
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
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
                if n * 11 > end - pos:
                    raise Malformed
                node_endpoints: list[NodeEndpoint] = []
                node_endpoints_count = n
                for _ in range(node_endpoints_count):
                    node_endpoint = new(NodeEndpoint)
                    node_endpoint.node_id, n = unpack_in(data, pos)
                    pos += 4
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    node_endpoint.host = data[pos + 1 : stop].decode()
                    pos = stop
                    node_endpoint.port, n = unpack_in(data, pos)
                    pos += 4
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        node_endpoint.rack = None
                        pos += 1
                    elif n == 1:
                        node_endpoint.rack = ""
                        pos += 1
                    else:
                        stop = pos + n
                        node_endpoint.rack = data[pos + 1 : stop].decode()
                        pos = stop
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        node_endpoint.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        node_endpoint.unknown_tagged_fields = ()
                        pos += 1
                    node_endpoints.append(node_endpoint)
                message.node_endpoints = node_endpoints
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


def _encode_v3(m: ProduceResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses)
    out.append(pack_i(n1))
    for e2 in m.responses:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partition_responses)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partition_responses:
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            out.append(pack_ihqq(e6.index, e6.error_code, e6.base_offset, e6.log_append_time_ms))
    out.append(pack_i(m.throttle_time_ms))
    return b"".join(out)


def _encode_v5(m: ProduceResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses)
    out.append(pack_i(n1))
    for e2 in m.responses:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partition_responses)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partition_responses:
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            out.append(pack_ihqqq(e6.index, e6.error_code, e6.base_offset, e6.log_append_time_ms, e6.log_start_offset))
    out.append(pack_i(m.throttle_time_ms))
    return b"".join(out)


def _encode_v8(m: ProduceResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses)
    out.append(pack_i(n1))
    for e2 in m.responses:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partition_responses)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partition_responses:
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            n7 = len(e6.record_errors)
            out.append(pack_ihqqqi(e6.index, e6.error_code, e6.base_offset, e6.log_append_time_ms, e6.log_start_offset, n7))
            for e8 in e6.record_errors:
                v11 = e8.batch_index_error_message
                if v11 is None:
                    b9 = b""
                    n10 = -1
                else:
                    b9 = v11.encode()
                    n10 = len(b9)
                out += (pack_ih(e8.batch_index, n10), b9)
            v14 = e6.error_message
            if v14 is None:
                b12 = b""
                n13 = -1
            else:
                b12 = v14.encode()
                n13 = len(b12)
            out += (pack_h(n13), b12)
    out.append(pack_i(m.throttle_time_ms))
    return b"".join(out)


def _encode_v9(m: ProduceResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        n5 = len(e2.partition_responses) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.partition_responses:
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            n7 = len(e6.record_errors) + 1
            out += (
                pack_ihqqq(e6.index, e6.error_code, e6.base_offset, e6.log_append_time_ms, e6.log_start_offset),
                ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
            )
            for e8 in e6.record_errors:
                v11 = e8.batch_index_error_message
                if v11 is None:
                    b9 = b""
                    n10 = 0
                else:
                    b9 = v11.encode()
                    n10 = len(b9) + 1
                out += (
                    pack_i(e8.batch_index),
                    ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
                    b9,
                    write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0",
                )
            v14 = e6.error_message
            if v14 is None:
                b12 = b""
                n13 = 0
            else:
                b12 = v14.encode()
                n13 = len(b12) + 1
            out += (
                ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
                b12,
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (pack_i(m.throttle_time_ms), write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v10(m: ProduceResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        n5 = len(e2.partition_responses) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.partition_responses:
            n7 = len(e6.record_errors) + 1
            out += (
                pack_ihqqq(e6.index, e6.error_code, e6.base_offset, e6.log_append_time_ms, e6.log_start_offset),
                ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
            )
            for e8 in e6.record_errors:
                v11 = e8.batch_index_error_message
                if v11 is None:
                    b9 = b""
                    n10 = 0
                else:
                    b9 = v11.encode()
                    n10 = len(b9) + 1
                out += (
                    pack_i(e8.batch_index),
                    ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
                    b9,
                    write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0",
                )
            v14 = e6.error_message
            if v14 is None:
                b12 = b""
                n13 = 0
            else:
                b12 = v14.encode()
                n13 = len(b12) + 1
            out += (ONE_BYTE[n13] if n13 < 128 else write_string_length(n13), b12)
            tagged15: list[tuple[int, bytes]] = [*e6.unknown_tagged_fields]
            if e6.current_leader != LeaderIdAndEpoch():
                s17 = e6.current_leader
                tagged15.append((
                    0,
                    b"".join((pack_ii(s17.leader_id, s17.leader_epoch), write_tagged(s17.unknown_tagged_fields) if s17.unknown_tagged_fields else b"\0")),
                ))
            out.append(write_tagged(tagged15) if tagged15 else b"\0")
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(pack_i(m.throttle_time_ms))
    tagged18: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.node_endpoints != []:
        parts19: list[bytes | memoryview] = []
        n20 = len(m.node_endpoints) + 1
        parts19.append(ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20))
        for e21 in m.node_endpoints:
            b22 = e21.host.encode()
            n23 = len(b22) + 1
            v26 = e21.rack
            if v26 is None:
                b24 = b""
                n25 = 0
            else:
                b24 = v26.encode()
                n25 = len(b24) + 1
            parts19 += (
                pack_i(e21.node_id),
                ONE_BYTE[n23] if n23 < 128 else write_string_length(n23),
                b22,
                pack_i(e21.port),
                ONE_BYTE[n25] if n25 < 128 else write_string_length(n25),
                b24,
                write_tagged(e21.unknown_tagged_fields) if e21.unknown_tagged_fields else b"\0",
            )
        tagged18.append((0, b"".join(parts19)))
    out.append(write_tagged(tagged18) if tagged18 else b"\0")
    return b"".join(out)


def _encode_v13(m: ProduceResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partition_responses) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partition_responses:
            n5 = len(e4.record_errors) + 1
            out += (
                pack_ihqqq(e4.index, e4.error_code, e4.base_offset, e4.log_append_time_ms, e4.log_start_offset),
                ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
            )
            for e6 in e4.record_errors:
                v9 = e6.batch_index_error_message
                if v9 is None:
                    b7 = b""
                    n8 = 0
                else:
                    b7 = v9.encode()
                    n8 = len(b7) + 1
                out += (
                    pack_i(e6.batch_index),
                    ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
                    b7,
                    write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
                )
            v12 = e4.error_message
            if v12 is None:
                b10 = b""
                n11 = 0
            else:
                b10 = v12.encode()
                n11 = len(b10) + 1
            out += (ONE_BYTE[n11] if n11 < 128 else write_string_length(n11), b10)
            tagged13: list[tuple[int, bytes]] = [*e4.unknown_tagged_fields]
            if e4.current_leader != LeaderIdAndEpoch():
                s15 = e4.current_leader
                tagged13.append((
                    0,
                    b"".join((pack_ii(s15.leader_id, s15.leader_epoch), write_tagged(s15.unknown_tagged_fields) if s15.unknown_tagged_fields else b"\0")),
                ))
            out.append(write_tagged(tagged13) if tagged13 else b"\0")
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(pack_i(m.throttle_time_ms))
    tagged16: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.node_endpoints != []:
        parts17: list[bytes | memoryview] = []
        n18 = len(m.node_endpoints) + 1
        parts17.append(ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18))
        for e19 in m.node_endpoints:
            b20 = e19.host.encode()
            n21 = len(b20) + 1
            v24 = e19.rack
            if v24 is None:
                b22 = b""
                n23 = 0
            else:
                b22 = v24.encode()
                n23 = len(b22) + 1
            parts17 += (
                pack_i(e19.node_id),
                ONE_BYTE[n21] if n21 < 128 else write_string_length(n21),
                b20,
                pack_i(e19.port),
                ONE_BYTE[n23] if n23 < 128 else write_string_length(n23),
                b22,
                write_tagged(e19.unknown_tagged_fields) if e19.unknown_tagged_fields else b"\0",
            )
        tagged16.append((0, b"".join(parts17)))
    out.append(write_tagged(tagged16) if tagged16 else b"\0")
    return b"".join(out)


BatchIndexAndErrorMessage.FIELDS = (
    Field("batch_index", "BatchIndex", "int32", (8, 13)),
    Field("batch_index_error_message", "BatchIndexErrorMessage", "string", (8, 13), nullable=(8, 13)),
)
LeaderIdAndEpoch.FIELDS = (
    Field("leader_id", "LeaderId", "int32", (10, 13), entity="brokerId"),
    Field("leader_epoch", "LeaderEpoch", "int32", (10, 13)),
)
PartitionProduceResponse.FIELDS = (
    Field("index", "Index", "int32", (3, 13)),
    Field("error_code", "ErrorCode", "int16", (3, 13)),
    Field("base_offset", "BaseOffset", "int64", (3, 13)),
    Field("log_append_time_ms", "LogAppendTimeMs", "int64", (3, 13), ignorable=True),
    Field("log_start_offset", "LogStartOffset", "int64", (5, 13), ignorable=True),
    Field(
        "record_errors",
        "RecordErrors",
        "struct",
        (8, 13),
        is_array=True,
        struct=BatchIndexAndErrorMessage,
        ignorable=True,
    ),
    Field("error_message", "ErrorMessage", "string", (8, 13), nullable=(8, 13), ignorable=True),
    Field("current_leader", "CurrentLeader", "struct", (10, 13), tag=0, tagged=(10, 13), struct=LeaderIdAndEpoch),
)
TopicProduceResponse.FIELDS = (
    Field("name", "Name", "string", (3, 12), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (13, 13), ignorable=True),
    Field(
        "partition_responses",
        "PartitionResponses",
        "struct",
        (3, 13),
        is_array=True,
        struct=PartitionProduceResponse,
    ),
)
NodeEndpoint.FIELDS = (
    Field("node_id", "NodeId", "int32", (10, 13), entity="brokerId"),
    Field("host", "Host", "string", (10, 13)),
    Field("port", "Port", "int32", (10, 13)),
    Field("rack", "Rack", "string", (10, 13), nullable=(10, 13)),
)
ProduceResponse.FIELDS = (
    Field("responses", "Responses", "struct", (3, 13), is_array=True, struct=TopicProduceResponse),
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (3, 13), ignorable=True),
    Field(
        "node_endpoints",
        "NodeEndpoints",
        "struct",
        (10, 13),
        is_array=True,
        tag=0,
        tagged=(10, 13),
        struct=NodeEndpoint,
    ),
)
ProduceResponse.NAME = "ProduceResponse"
ProduceResponse.API_KEY = 0
ProduceResponse.MIN_VERSION = 3
ProduceResponse.MAX_VERSION = 13
ProduceResponse.FLEXIBLE_FROM = 9
ProduceResponse._DECODERS = {
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v5,
    6: _decode_v5,
    7: _decode_v5,
    8: _decode_v8,
    9: _decode_v9,
    10: _decode_v10,
    11: _decode_v10,
    12: _decode_v10,
    13: _decode_v13,
}
ProduceResponse._ENCODERS = {
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v5,
    6: _encode_v5,
    7: _encode_v5,
    8: _encode_v8,
    9: _encode_v9,
    10: _encode_v10,
    11: _encode_v10,
    12: _encode_v10,
    13: _encode_v13,
}
