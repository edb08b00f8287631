# Generated from schemas/message/ShareFetchResponse.json by `python -m schemas.generator`. Do not edit.
"""ShareFetchResponse, a response, versions 1-2."""

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
unpack_hn = Format(">hB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_qqhn = Format(">qqhB").unpack_from
iterate_qqhn = Format(">qqhB").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack
pack_qqh = Format(">qqh").pack


@attrs.define(slots=True, weakref_slot=False)
class LeaderIdAndEpoch(Struct):
    leader_id: int = 0
    """The broker that leads the partition, or -1."""
    leader_epoch: int = 0
    """The leader epoch, or -1."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class AcquiredRecords(Struct):
    first_offset: int = 0
    """The first offset of the range."""
    last_offset: int = 0
    """The last offset of the range."""
    delivery_count: int = 0
    """How often these records have been delivered, this time included."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class PartitionData(Struct):
    partition_index: int = 0
    """The partition's number."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    acknowledge_error_code: int = 0
    """The error of the acknowledgements sent along, or 0."""
    acknowledge_error_message: str | None = None
    """Text to that error, or null."""
    current_leader: LeaderIdAndEpoch = attrs.Factory(LeaderIdAndEpoch)
    """The leader to turn to, where it was not this broker."""
    records: bytes | memoryview | None = None
    """Batches of records, opaque, or null."""
    acquired_records: list[AcquiredRecords] = attrs.Factory(list)
    """Ranges of records that this member has acquired."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ShareFetchableTopicResponse(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[PartitionData] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class NodeEndpoint(Struct):
    node_id: int = 0
    """The broker's id."""
    host: str = ""
    """The host name or address to connect to."""
    port: int = 0
    """The port to connect to."""
    rack: str | None = None
    """The broker's rack, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ShareFetchResponse(Response):
    """Records that the member has acquired, for a time."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    acquisition_lock_timeout_ms: int = 0
    """How long acquired records belong to the member, in ms."""
    responses: list[ShareFetchableTopicResponse] = attrs.Factory(list)
    """One entry for each topic."""
    node_endpoints: list[NodeEndpoint] = attrs.Factory(list)
    """Addresses of the leaders named above (KIP-951)."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> ShareFetchResponse:
    end = len(data)
    message = new(ShareFetchResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.error_message = None
        pos += 1
    elif n == 1:
        message.error_message = ""
        pos += 1
    else:
        stop = pos + n
        message.error_message = data[pos + 1 : stop].decode()
        pos = stop
    message.acquisition_lock_timeout_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    responses: list[ShareFetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(ShareFetchableTopicResponse)
        response.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 22 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.partition_index, partition.error_code, n = unpack_ihn(data, pos)
            pos += 6
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition.error_message = None
                pos += 1
            elif n == 1:
                partition.error_message = ""
                pos += 1
            else:
                stop = pos + n
                partition.error_message = data[pos + 1 : stop].decode()
                pos = stop
            partition.acknowledge_error_code, n = unpack_hn(data, pos)
            pos += 2
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition.acknowledge_error_message = None
                pos += 1
            elif n == 1:
                partition.acknowledge_error_message = ""
                pos += 1
            else:
                stop = pos + n
                partition.acknowledge_error_message = data[pos + 1 : stop].decode()
                pos = stop
            current_leader = new(LeaderIdAndEpoch)
            current_leader.leader_id, current_leader.leader_epoch, n = unpack_iin(data, pos)
            pos += 8
            if n:
                n, pos = read_uvarint(data, pos)
                current_leader.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                current_leader.unknown_tagged_fields = ()
                pos += 1
            partition.current_leader = current_leader
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
            if stop > len(data):
                raise Malformed
            partition.records = memoryview(data)[pos + 1 : stop]
            pos = stop
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 19 > end - pos:
                raise Malformed
            acquired_records: list[AcquiredRecords] = []
            acquired_records_count = n
            for row in iterate_qqhn(memoryview(data)[pos : pos + n * 19]):
                acquired_record = new(AcquiredRecords)
                acquired_record.first_offset, acquired_record.last_offset, acquired_record.delivery_count, n = row
                if n:
                    break
                acquired_record.unknown_tagged_fields = ()
                acquired_records.append(acquired_record)
            pos += len(acquired_records) * 19
            for _ in range(acquired_records_count - len(acquired_records)):
                acquired_record = new(AcquiredRecords)
                acquired_record.first_offset, acquired_record.last_offset, acquired_record.delivery_count, n = unpack_qqhn(data, pos)
                pos += 18
                if n:
                    n, pos = read_uvarint(data, pos)
                    acquired_record.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    acquired_record.unknown_tagged_fields = ()
                    pos += 1
                acquired_records.append(acquired_record)
            partition.acquired_records = acquired_records
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
        response.partitions = partitions
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            response.unknown_tagged_fields = ()
            pos += 1
        responses.append(response)
    message.responses = responses
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
    node_endpoints_left = n
    node_endpoints_tries = 4
    while node_endpoints_left:
        node_endpoints_start = pos
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
        host_end = pos
        host_n = n
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
        rack_end = pos
        rack_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            node_endpoint.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            node_endpoint.unknown_tagged_fields = ()
            pos += 1
        node_endpoints.append(node_endpoint)
        node_endpoints_left -= 1
        if node_endpoints_tries and node_endpoints_left >= 12:
            host_size = host_n - 1
            same = data[node_endpoints_start + 4 : host_end - host_size]
            rack_null = node_endpoint.rack is None
            rack_size = 0 if node_endpoint.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            node_endpoints_unknown = node_endpoint.unknown_tagged_fields
            node_endpoints_done = len(node_endpoints)
            node_endpoints_size = pos - node_endpoints_start
            stop = pos + min(node_endpoints_left, (end - pos) // node_endpoints_size) * node_endpoints_size
            for row_2 in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack, gap_3 = row_2
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                node_endpoint = new(NodeEndpoint)
                node_endpoint.node_id = node_id
                node_endpoint.host = host.decode() if host else ""
                node_endpoint.port = port
                node_endpoint.rack = None if rack_null else rack.decode() if rack else ""
                node_endpoint.unknown_tagged_fields = node_endpoints_unknown
                node_endpoints.append(node_endpoint)
            node_endpoints_done = len(node_endpoints) - node_endpoints_done
            pos += node_endpoints_done * node_endpoints_size
            node_endpoints_left -= node_endpoints_done
            if not node_endpoints_done:
                node_endpoints_tries -= 1
    message.node_endpoints = node_endpoints
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v1(m: ShareFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    n4 = len(m.responses) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.acquisition_lock_timeout_ms),
        ONE_BYTE[n4] if n4 < 128 else write_uvarint(n4),
    )
    for e5 in m.responses:
        if len(e5.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n6 = len(e5.partitions) + 1
        out += (e5.topic_id, ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6))
        for e7 in e5.partitions:
            v10 = e7.error_message
            if v10 is None:
                b8 = b""
                n9 = 0
            else:
                b8 = v10.encode()
                n9 = len(b8) + 1
            v13 = e7.acknowledge_error_message
            if v13 is None:
                b11 = b""
                n12 = 0
            else:
                b11 = v13.encode()
                n12 = len(b11) + 1
            s14 = e7.current_leader
            v15 = e7.records
            if v15 is None:
                raise EncodeError("Records is null, which is not allowed in this version")
            b16 = v15
            n17 = len(b16) + 1
            n18 = len(e7.acquired_records) + 1
            out += (
                pack_ih(e7.partition_index, e7.error_code),
                ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
                b8,
                pack_h(e7.acknowledge_error_code),
                ONE_BYTE[n12] if n12 < 128 else write_string_length(n12),
                b11,
                pack_ii(s14.leader_id, s14.leader_epoch),
                write_tagged(s14.unknown_tagged_fields) if s14.unknown_tagged_fields else b"\0",
                ONE_BYTE[n17] if n17 < 128 else write_uvarint(n17),
                b16,
                ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18),
            )
            for e19 in e7.acquired_records:
                out += (
                    pack_qqh(e19.first_offset, e19.last_offset, e19.delivery_count),
                    write_tagged(e19.unknown_tagged_fields) if e19.unknown_tagged_fields else b"\0",
                )
            out.append(write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0")
        out.append(write_tagged(e5.unknown_tagged_fields) if e5.unknown_tagged_fields else b"\0")
    n20 = len(m.node_endpoints) + 1
    out.append(ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20))
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
        out += (
            pack_i(e21.node_id),
            ONE_BYTE[n23] if n23 < 128 else write_string_length(n23),
            b22,
            pack_i(e21.port),
            ONE_BYTE[n25] if n25 < 128 else write_string_length(n25),
            b24,
            write_tagged(e21.unknown_tagged_fields) if e21.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


LeaderIdAndEpoch.FIELDS = (
    Field("leader_id", "LeaderId", "int32", (1, 2)),
    Field("leader_epoch", "LeaderEpoch", "int32", (1, 2)),
)
AcquiredRecords.FIELDS = (
    Field("first_offset", "FirstOffset", "int64", (1, 2)),
    Field("last_offset", "LastOffset", "int64", (1, 2)),
    Field("delivery_count", "DeliveryCount", "int16", (1, 2)),
)
PartitionData.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (1, 2)),
    Field("error_code", "ErrorCode", "int16", (1, 2)),
    Field("error_message", "ErrorMessage", "string", (1, 2), nullable=(1, 2)),
    Field("acknowledge_error_code", "AcknowledgeErrorCode", "int16", (1, 2)),
    Field("acknowledge_error_message", "AcknowledgeErrorMessage", "string", (1, 2), nullable=(1, 2)),
    Field("current_leader", "CurrentLeader", "struct", (1, 2), struct=LeaderIdAndEpoch),
    Field("records", "Records", "records", (1, 2)),
    Field("acquired_records", "AcquiredRecords", "struct", (1, 2), is_array=True, struct=AcquiredRecords),
)
ShareFetchableTopicResponse.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (1, 2)),
    Field("partitions", "Partitions", "struct", (1, 2), is_array=True, struct=PartitionData),
)
NodeEndpoint.FIELDS = (
    Field("node_id", "NodeId", "int32", (1, 2), entity="brokerId"),
    Field("host", "Host", "string", (1, 2)),
    Field("port", "Port", "int32", (1, 2)),
    Field("rack", "Rack", "string", (1, 2), nullable=(1, 2)),
)
ShareFetchResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 2)),
    Field("error_code", "ErrorCode", "int16", (1, 2)),
    Field("error_message", "ErrorMessage", "string", (1, 2), nullable=(1, 2)),
    Field("acquisition_lock_timeout_ms", "AcquisitionLockTimeoutMs", "int32", (1, 2)),
    Field("responses", "Responses", "struct", (1, 2), is_array=True, struct=ShareFetchableTopicResponse),
    Field("node_endpoints", "NodeEndpoints", "struct", (1, 2), is_array=True, struct=NodeEndpoint),
)
ShareFetchResponse.NAME = "ShareFetchResponse"
ShareFetchResponse.API_KEY = 78
ShareFetchResponse.MIN_VERSION = 1
ShareFetchResponse.MAX_VERSION = 2
ShareFetchResponse.FLEXIBLE_FROM = 0
ShareFetchResponse._DECODERS = {1: _decode_v1, 2: _decode_v1}
ShareFetchResponse._ENCODERS = {1: _encode_v1, 2: _encode_v1}
