# Generated from schemas/message/FetchResponse.json by `python -m schemas.generator`. Do not edit.
"""FetchResponse, a response, versions 4-18."""

from __future__ import annotations

from struct import Struct as Format

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
unpack_ihin = Format(">ihiB").unpack_from
unpack_ihii = Format(">ihii").unpack_from
unpack_ihqqi = Format(">ihqqi").unpack_from
unpack_ihqqqn = Format(">ihqqqB").unpack_from
unpack_ihqqqi = Format(">ihqqqi").unpack_from
unpack_ii = Format(">ii").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_iqn = Format(">iqB").unpack_from
unpack_qin = Format(">qiB").unpack_from
unpack_qqn = Format(">qqB").unpack_from
iterate_qq = Format(">qq").iter_unpack
iterate_qqn = Format(">qqB").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ihi = Format(">ihi").pack
pack_ihii = Format(">ihii").pack
pack_ihqqi = Format(">ihqqi").pack
pack_ihqqq = Format(">ihqqq").pack
pack_ihqqqi = Format(">ihqqqi").pack
pack_ii = Format(">ii").pack
pack_iq = Format(">iq").pack
pack_qi = Format(">qi").pack
pack_qq = Format(">qq").pack


@attrs.define(slots=True, weakref_slot=False)
class EpochEndOffset(Struct):
    epoch: int = -1
    """The leader epoch. Since version 12."""
    end_offset: int = -1
    """The offset behind the last record. Since version 12."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class LeaderIdAndEpoch(Struct):
    leader_id: int = -1
    """The broker that leads the partition, or -1. Since version 12."""
    leader_epoch: int = -1
    """The leader epoch, or -1. Since version 12."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class SnapshotId(Struct):
    end_offset: int = -1
    """The offset behind the last record."""
    epoch: int = -1
    """The leader epoch."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class AbortedTransaction(Struct):
    producer_id: int = 0
    """The producer's id."""
    first_offset: int = 0
    """The first offset of the aborted transaction."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class PartitionData(Struct):
    partition_index: int = 0
    """The partition's number."""
    error_code: int = 0
    """The error, or 0."""
    high_watermark: int = 0
    """The offset behind the last record that all in-sync replicas have."""
    last_stable_offset: int = -1
    """The offset up to which every transaction is decided."""
    log_start_offset: int = -1
    """The first offset that the log still has, or -1. Since version 5."""
    diverging_epoch: EpochEndOffset = attrs.Factory(EpochEndOffset)
    """Where the follower's log and the leader's part ways. Since version 12."""
    current_leader: LeaderIdAndEpoch = attrs.Factory(LeaderIdAndEpoch)
    """The leader to turn to, where it was not this broker. Since version 12."""
    snapshot_id: SnapshotId = attrs.Factory(SnapshotId)
    """The snapshot to fetch first. Since version 12."""
    aborted_transactions: list[AbortedTransaction] | None = attrs.Factory(list)
    """Aborted transactions among the records; only for read_committed."""
    preferred_read_replica: int = -1
    """The replica that the consumer should read from instead, or -1. Since version 11."""
    records: bytes | memoryview | None = None
    """Batches of records, opaque, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FetchableTopicResponse(Struct):
    topic: str = ""
    """The topic's name. Until version 12."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 13."""
    partitions: list[PartitionData] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class NodeEndpoint(Struct):
    node_id: int = 0
    """The broker's id. Since version 16."""
    host: str = ""
    """The host name or address to connect to. Since version 16."""
    port: int = 0
    """The port to connect to. Since version 16."""
    rack: str | None = None
    """The broker's rack, or null. Since version 16."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FetchResponse(Response):
    """Records of partitions."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0. Since version 7."""
    session_id: int = 0
    """The fetch session, or 0. Since version 7."""
    responses: list[FetchableTopicResponse] = attrs.Factory(list)
    """One entry for each topic."""
    node_endpoints: list[NodeEndpoint] = attrs.Factory(list)
    """Addresses of the leaders named above (KIP-951). Since version 16."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v4(data: bytes, pos: int) -> FetchResponse:
    end = len(data)
    message = new(FetchResponse)
    message.error_code = 0
    message.session_id = 0
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    responses: list[FetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(FetchableTopicResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.topic = data[pos:stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 30 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.log_start_offset = -1
            partition.diverging_epoch = EpochEndOffset()
            partition.current_leader = LeaderIdAndEpoch()
            partition.snapshot_id = SnapshotId()
            partition.partition_index, partition.error_code, partition.high_watermark, partition.last_stable_offset, n = unpack_ihqqi(data, pos)
            pos += 26
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.aborted_transactions = None
            else:
                if n * 16 > end - pos:
                    raise Malformed
                aborted_transactions: list[AbortedTransaction] = []
                for row in iterate_qq(memoryview(data)[pos : pos + n * 16]):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset = row
                    aborted_transaction.unknown_tagged_fields = ()
                    aborted_transactions.append(aborted_transaction)
                pos += n * 16
                partition.aborted_transactions = aborted_transactions
            partition.preferred_read_replica = -1
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.records = None
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition.records = memoryview(data)[pos:stop]
                pos = stop
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        response.partitions = partitions
        response.unknown_tagged_fields = ()
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> FetchResponse:
    end = len(data)
    message = new(FetchResponse)
    message.error_code = 0
    message.session_id = 0
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    responses: list[FetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(FetchableTopicResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.topic = data[pos:stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 38 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.diverging_epoch = EpochEndOffset()
            partition.current_leader = LeaderIdAndEpoch()
            partition.snapshot_id = SnapshotId()
            partition.partition_index, partition.error_code, partition.high_watermark, partition.last_stable_offset, partition.log_start_offset, n = unpack_ihqqqi(data, pos)
            pos += 34
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.aborted_transactions = None
            else:
                if n * 16 > end - pos:
                    raise Malformed
                aborted_transactions: list[AbortedTransaction] = []
                for row in iterate_qq(memoryview(data)[pos : pos + n * 16]):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset = row
                    aborted_transaction.unknown_tagged_fields = ()
                    aborted_transactions.append(aborted_transaction)
                pos += n * 16
                partition.aborted_transactions = aborted_transactions
            partition.preferred_read_replica = -1
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.records = None
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition.records = memoryview(data)[pos:stop]
                pos = stop
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        response.partitions = partitions
        response.unknown_tagged_fields = ()
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v7(data: bytes, pos: int) -> FetchResponse:
    end = len(data)
    message = new(FetchResponse)
    message.throttle_time_ms, message.error_code, message.session_id, n = unpack_ihii(data, pos)
    pos += 14
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    responses: list[FetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(FetchableTopicResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.topic = data[pos:stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 38 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.diverging_epoch = EpochEndOffset()
            partition.current_leader = LeaderIdAndEpoch()
            partition.snapshot_id = SnapshotId()
            partition.partition_index, partition.error_code, partition.high_watermark, partition.last_stable_offset, partition.log_start_offset, n = unpack_ihqqqi(data, pos)
            pos += 34
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.aborted_transactions = None
            else:
                if n * 16 > end - pos:
                    raise Malformed
                aborted_transactions: list[AbortedTransaction] = []
                for row in iterate_qq(memoryview(data)[pos : pos + n * 16]):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset = row
                    aborted_transaction.unknown_tagged_fields = ()
                    aborted_transactions.append(aborted_transaction)
                pos += n * 16
                partition.aborted_transactions = aborted_transactions
            partition.preferred_read_replica = -1
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.records = None
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition.records = memoryview(data)[pos:stop]
                pos = stop
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        response.partitions = partitions
        response.unknown_tagged_fields = ()
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v11(data: bytes, pos: int) -> FetchResponse:
    end = len(data)
    message = new(FetchResponse)
    message.throttle_time_ms, message.error_code, message.session_id, n = unpack_ihii(data, pos)
    pos += 14
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    responses: list[FetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(FetchableTopicResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.topic = data[pos:stop].decode()
        pos = stop
        response.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 42 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.diverging_epoch = EpochEndOffset()
            partition.current_leader = LeaderIdAndEpoch()
            partition.snapshot_id = SnapshotId()
            partition.partition_index, partition.error_code, partition.high_watermark, partition.last_stable_offset, partition.log_start_offset, n = unpack_ihqqqi(data, pos)
            pos += 34
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.aborted_transactions = None
            else:
                if n * 16 > end - pos:
                    raise Malformed
                aborted_transactions: list[AbortedTransaction] = []
                for row in iterate_qq(memoryview(data)[pos : pos + n * 16]):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset = row
                    aborted_transaction.unknown_tagged_fields = ()
                    aborted_transactions.append(aborted_transaction)
                pos += n * 16
                partition.aborted_transactions = aborted_transactions
            partition.preferred_read_replica, n = unpack_ii(data, pos)
            pos += 8
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.records = None
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition.records = memoryview(data)[pos:stop]
                pos = stop
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        response.partitions = partitions
        response.unknown_tagged_fields = ()
        responses.append(response)
    message.responses = responses
    message.node_endpoints = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v12(data: bytes, pos: int) -> FetchResponse:
    end = len(data)
    message = new(FetchResponse)
    message.throttle_time_ms, message.error_code, message.session_id, n = unpack_ihin(data, pos)
    pos += 10
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    responses: list[FetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(FetchableTopicResponse)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        response.topic = data[pos + 1 : stop].decode()
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
        if n * 37 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.partition_index, partition.error_code, partition.high_watermark, partition.last_stable_offset, partition.log_start_offset, n = unpack_ihqqqn(data, pos)
            pos += 30
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                partition.aborted_transactions = None
            else:
                n -= 1
                if n * 17 > end - pos:
                    raise Malformed
                aborted_transactions: list[AbortedTransaction] = []
                aborted_transactions_count = n
                for row in iterate_qqn(memoryview(data)[pos : pos + n * 17]):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset, n = row
                    if n:
                        break
                    aborted_transaction.unknown_tagged_fields = ()
                    aborted_transactions.append(aborted_transaction)
                pos += len(aborted_transactions) * 17
                for _ in range(aborted_transactions_count - len(aborted_transactions)):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset, n = unpack_qqn(data, pos)
                    pos += 16
                    if n:
                        n, pos = read_uvarint(data, pos)
                        aborted_transaction.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        aborted_transaction.unknown_tagged_fields = ()
                        pos += 1
                    aborted_transactions.append(aborted_transaction)
                partition.aborted_transactions = aborted_transactions
            partition.preferred_read_replica, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                pos += 1
                n += (data[pos] << 7) - 128
                if n > 16383:
                    n, pos = read_uvarint(data, pos - 1)
                    pos -= 1
            if n == 0:
                partition.records = None
                pos += 1
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition.records = memoryview(data)[pos + 1 : stop]
                pos = stop
            partition.diverging_epoch = EpochEndOffset()
            partition.current_leader = LeaderIdAndEpoch()
            partition.snapshot_id = SnapshotId()
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_others = []
                partition_tag_count = n
                for _ in range(partition_tag_count):
                    partition_tag, pos = read_uvarint(data, pos)
                    n, pos = read_uvarint(data, pos)
                    partition_stop = pos + n
                    if partition_stop > len(data):
                        raise Malformed
                    if partition_tag == 0:
                        diverging_epoch = new(EpochEndOffset)
                        diverging_epoch.epoch, diverging_epoch.end_offset, n = unpack_iqn(data, pos)
                        pos += 12
                        if n:
                            n, pos = read_uvarint(data, pos)
                            diverging_epoch.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            diverging_epoch.unknown_tagged_fields = ()
                            pos += 1
                        partition.diverging_epoch = diverging_epoch
                    elif partition_tag == 1:
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
                    elif partition_tag == 2:
                        snapshot_id = new(SnapshotId)
                        snapshot_id.end_offset, snapshot_id.epoch, n = unpack_qin(data, pos)
                        pos += 12
                        if n:
                            n, pos = read_uvarint(data, pos)
                            snapshot_id.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            snapshot_id.unknown_tagged_fields = ()
                            pos += 1
                        partition.snapshot_id = snapshot_id
                    else:
                        partition_others.append((partition_tag, data[pos:partition_stop]))
                        pos = partition_stop
                    if pos != partition_stop:
                        raise Malformed
                partition.unknown_tagged_fields = tuple(partition_others)
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
    message.node_endpoints = []
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


def _decode_v13(data: bytes, pos: int) -> FetchResponse:
    end = len(data)
    message = new(FetchResponse)
    message.throttle_time_ms, message.error_code, message.session_id, n = unpack_ihin(data, pos)
    pos += 10
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    responses: list[FetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(FetchableTopicResponse)
        response.topic = ""
        response.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 37 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.partition_index, partition.error_code, partition.high_watermark, partition.last_stable_offset, partition.log_start_offset, n = unpack_ihqqqn(data, pos)
            pos += 30
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                partition.aborted_transactions = None
            else:
                n -= 1
                if n * 17 > end - pos:
                    raise Malformed
                aborted_transactions: list[AbortedTransaction] = []
                aborted_transactions_count = n
                for row in iterate_qqn(memoryview(data)[pos : pos + n * 17]):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset, n = row
                    if n:
                        break
                    aborted_transaction.unknown_tagged_fields = ()
                    aborted_transactions.append(aborted_transaction)
                pos += len(aborted_transactions) * 17
                for _ in range(aborted_transactions_count - len(aborted_transactions)):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset, n = unpack_qqn(data, pos)
                    pos += 16
                    if n:
                        n, pos = read_uvarint(data, pos)
                        aborted_transaction.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        aborted_transaction.unknown_tagged_fields = ()
                        pos += 1
                    aborted_transactions.append(aborted_transaction)
                partition.aborted_transactions = aborted_transactions
            partition.preferred_read_replica, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                pos += 1
                n += (data[pos] << 7) - 128
                if n > 16383:
                    n, pos = read_uvarint(data, pos - 1)
                    pos -= 1
            if n == 0:
                partition.records = None
                pos += 1
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition.records = memoryview(data)[pos + 1 : stop]
                pos = stop
            partition.diverging_epoch = EpochEndOffset()
            partition.current_leader = LeaderIdAndEpoch()
            partition.snapshot_id = SnapshotId()
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_others = []
                partition_tag_count = n
                for _ in range(partition_tag_count):
                    partition_tag, pos = read_uvarint(data, pos)
                    n, pos = read_uvarint(data, pos)
                    partition_stop = pos + n
                    if partition_stop > len(data):
                        raise Malformed
                    if partition_tag == 0:
                        diverging_epoch = new(EpochEndOffset)
                        diverging_epoch.epoch, diverging_epoch.end_offset, n = unpack_iqn(data, pos)
                        pos += 12
                        if n:
                            n, pos = read_uvarint(data, pos)
                            diverging_epoch.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            diverging_epoch.unknown_tagged_fields = ()
                            pos += 1
                        partition.diverging_epoch = diverging_epoch
                    elif partition_tag == 1:
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
                    elif partition_tag == 2:
                        snapshot_id = new(SnapshotId)
                        snapshot_id.end_offset, snapshot_id.epoch, n = unpack_qin(data, pos)
                        pos += 12
                        if n:
                            n, pos = read_uvarint(data, pos)
                            snapshot_id.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            snapshot_id.unknown_tagged_fields = ()
                            pos += 1
                        partition.snapshot_id = snapshot_id
                    else:
                        partition_others.append((partition_tag, data[pos:partition_stop]))
                        pos = partition_stop
                    if pos != partition_stop:
                        raise Malformed
                partition.unknown_tagged_fields = tuple(partition_others)
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
    message.node_endpoints = []
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


def _decode_v16(data: bytes, pos: int) -> FetchResponse:
    end = len(data)
    message = new(FetchResponse)
    message.throttle_time_ms, message.error_code, message.session_id, n = unpack_ihin(data, pos)
    pos += 10
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    responses: list[FetchableTopicResponse] = []
    responses_count = n
    for _ in range(responses_count):
        response = new(FetchableTopicResponse)
        response.topic = ""
        response.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 37 > end - pos:
            raise Malformed
        partitions: list[PartitionData] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(PartitionData)
            partition.partition_index, partition.error_code, partition.high_watermark, partition.last_stable_offset, partition.log_start_offset, n = unpack_ihqqqn(data, pos)
            pos += 30
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                partition.aborted_transactions = None
            else:
                n -= 1
                if n * 17 > end - pos:
                    raise Malformed
                aborted_transactions: list[AbortedTransaction] = []
                aborted_transactions_count = n
                for row in iterate_qqn(memoryview(data)[pos : pos + n * 17]):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset, n = row
                    if n:
                        break
                    aborted_transaction.unknown_tagged_fields = ()
                    aborted_transactions.append(aborted_transaction)
                pos += len(aborted_transactions) * 17
                for _ in range(aborted_transactions_count - len(aborted_transactions)):
                    aborted_transaction = new(AbortedTransaction)
                    aborted_transaction.producer_id, aborted_transaction.first_offset, n = unpack_qqn(data, pos)
                    pos += 16
                    if n:
                        n, pos = read_uvarint(data, pos)
                        aborted_transaction.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        aborted_transaction.unknown_tagged_fields = ()
                        pos += 1
                    aborted_transactions.append(aborted_transaction)
                partition.aborted_transactions = aborted_transactions
            partition.preferred_read_replica, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                pos += 1
                n += (data[pos] << 7) - 128
                if n > 16383:
                    n, pos = read_uvarint(data, pos - 1)
                    pos -= 1
            if n == 0:
                partition.records = None
                pos += 1
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition.records = memoryview(data)[pos + 1 : stop]
                pos = stop
            partition.diverging_epoch = EpochEndOffset()
            partition.current_leader = LeaderIdAndEpoch()
            partition.snapshot_id = SnapshotId()
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_others = []
                partition_tag_count = n
                for _ in range(partition_tag_count):
                    partition_tag, pos = read_uvarint(data, pos)
                    n, pos = read_uvarint(data, pos)
                    partition_stop = pos + n
                    if partition_stop > len(data):
                        raise Malformed
                    if partition_tag == 0:
                        diverging_epoch = new(EpochEndOffset)
                        diverging_epoch.epoch, diverging_epoch.end_offset, n = unpack_iqn(data, pos)
                        pos += 12
                        if n:
                            n, pos = read_uvarint(data, pos)
                            diverging_epoch.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            diverging_epoch.unknown_tagged_fields = ()
                            pos += 1
                        partition.diverging_epoch = diverging_epoch
                    elif partition_tag == 1:
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
                    elif partition_tag == 2:
                        snapshot_id = new(SnapshotId)
                        snapshot_id.end_offset, snapshot_id.epoch, n = unpack_qin(data, pos)
                        pos += 12
                        if n:
                            n, pos = read_uvarint(data, pos)
                            snapshot_id.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            snapshot_id.unknown_tagged_fields = ()
                            pos += 1
                        partition.snapshot_id = snapshot_id
                    else:
                        partition_others.append((partition_tag, data[pos:partition_stop]))
                        pos = partition_stop
                    if pos != partition_stop:
                        raise Malformed
                partition.unknown_tagged_fields = tuple(partition_others)
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
    message.node_endpoints = []
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


def _encode_v4(m: FetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.session_id != 0:
        raise EncodeError("SessionId is set, which this version lacks")
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.responses:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.diverging_epoch != EpochEndOffset():
                raise EncodeError("DivergingEpoch is set, which this version lacks")
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            if e6.snapshot_id != SnapshotId():
                raise EncodeError("SnapshotId is set, which this version lacks")
            if e6.preferred_read_replica != -1:
                raise EncodeError("PreferredReadReplica is set, which this version lacks")
            a8 = e6.aborted_transactions
            n7 = -1 if a8 is None else len(a8)
            out.append(pack_ihqqi(e6.partition_index, e6.error_code, e6.high_watermark, e6.last_stable_offset, n7))
            for e9 in a8 or ():
                out.append(pack_qq(e9.producer_id, e9.first_offset))
            v12 = e6.records
            if v12 is None:
                b10: bytes | memoryview = b""
                n11 = -1
            else:
                b10 = v12
                n11 = len(b10)
            out += (pack_i(n11), b10)
    return b"".join(out)


def _encode_v5(m: FetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.session_id != 0:
        raise EncodeError("SessionId is set, which this version lacks")
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.responses:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.diverging_epoch != EpochEndOffset():
                raise EncodeError("DivergingEpoch is set, which this version lacks")
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            if e6.snapshot_id != SnapshotId():
                raise EncodeError("SnapshotId is set, which this version lacks")
            if e6.preferred_read_replica != -1:
                raise EncodeError("PreferredReadReplica is set, which this version lacks")
            a8 = e6.aborted_transactions
            n7 = -1 if a8 is None else len(a8)
            out.append(pack_ihqqqi(e6.partition_index, e6.error_code, e6.high_watermark, e6.last_stable_offset, e6.log_start_offset, n7))
            for e9 in a8 or ():
                out.append(pack_qq(e9.producer_id, e9.first_offset))
            v12 = e6.records
            if v12 is None:
                b10: bytes | memoryview = b""
                n11 = -1
            else:
                b10 = v12
                n11 = len(b10)
            out += (pack_i(n11), b10)
    return b"".join(out)


def _encode_v7(m: FetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses)
    out.append(pack_ihii(m.throttle_time_ms, m.error_code, m.session_id, n1))
    for e2 in m.responses:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.diverging_epoch != EpochEndOffset():
                raise EncodeError("DivergingEpoch is set, which this version lacks")
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            if e6.snapshot_id != SnapshotId():
                raise EncodeError("SnapshotId is set, which this version lacks")
            if e6.preferred_read_replica != -1:
                raise EncodeError("PreferredReadReplica is set, which this version lacks")
            a8 = e6.aborted_transactions
            n7 = -1 if a8 is None else len(a8)
            out.append(pack_ihqqqi(e6.partition_index, e6.error_code, e6.high_watermark, e6.last_stable_offset, e6.log_start_offset, n7))
            for e9 in a8 or ():
                out.append(pack_qq(e9.producer_id, e9.first_offset))
            v12 = e6.records
            if v12 is None:
                b10: bytes | memoryview = b""
                n11 = -1
            else:
                b10 = v12
                n11 = len(b10)
            out += (pack_i(n11), b10)
    return b"".join(out)


def _encode_v11(m: FetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses)
    out.append(pack_ihii(m.throttle_time_ms, m.error_code, m.session_id, n1))
    for e2 in m.responses:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.diverging_epoch != EpochEndOffset():
                raise EncodeError("DivergingEpoch is set, which this version lacks")
            if e6.current_leader != LeaderIdAndEpoch():
                raise EncodeError("CurrentLeader is set, which this version lacks")
            if e6.snapshot_id != SnapshotId():
                raise EncodeError("SnapshotId is set, which this version lacks")
            a8 = e6.aborted_transactions
            n7 = -1 if a8 is None else len(a8)
            out.append(pack_ihqqqi(e6.partition_index, e6.error_code, e6.high_watermark, e6.last_stable_offset, e6.log_start_offset, n7))
            for e9 in a8 or ():
                out.append(pack_qq(e9.producer_id, e9.first_offset))
            v12 = e6.records
            if v12 is None:
                b10: bytes | memoryview = b""
                n11 = -1
            else:
                b10 = v12
                n11 = len(b10)
            out += (pack_ii(e6.preferred_read_replica, n11), b10)
    return b"".join(out)


def _encode_v12(m: FetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses) + 1
    out += (pack_ihi(m.throttle_time_ms, m.error_code, m.session_id), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        b3 = e2.topic.encode()
        n4 = len(b3) + 1
        n5 = len(e2.partitions) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.partitions:
            a8 = e6.aborted_transactions
            n7 = 0 if a8 is None else len(a8) + 1
            out += (
                pack_ihqqq(e6.partition_index, e6.error_code, e6.high_watermark, e6.last_stable_offset, e6.log_start_offset),
                ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
            )
            for e9 in a8 or ():
                out += (
                    pack_qq(e9.producer_id, e9.first_offset),
                    write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
                )
            v12 = e6.records
            if v12 is None:
                b10: bytes | memoryview = b""
                n11 = 0
            else:
                b10 = v12
                n11 = len(b10) + 1
            out += (pack_i(e6.preferred_read_replica), ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11), b10)
            tagged13: list[tuple[int, bytes]] = [*e6.unknown_tagged_fields]
            if e6.diverging_epoch != EpochEndOffset():
                s15 = e6.diverging_epoch
                tagged13.append((
                    0,
                    b"".join((pack_iq(s15.epoch, s15.end_offset), write_tagged(s15.unknown_tagged_fields) if s15.unknown_tagged_fields else b"\0")),
                ))
            if e6.current_leader != LeaderIdAndEpoch():
                s17 = e6.current_leader
                tagged13.append((
                    1,
                    b"".join((pack_ii(s17.leader_id, s17.leader_epoch), write_tagged(s17.unknown_tagged_fields) if s17.unknown_tagged_fields else b"\0")),
                ))
            if e6.snapshot_id != SnapshotId():
                s19 = e6.snapshot_id
                tagged13.append((
                    2,
                    b"".join((pack_qi(s19.end_offset, s19.epoch), write_tagged(s19.unknown_tagged_fields) if s19.unknown_tagged_fields else b"\0")),
                ))
            out.append(write_tagged(tagged13) if tagged13 else b"\0")
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v13(m: FetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.node_endpoints != []:
        raise EncodeError("NodeEndpoints is set, which this version lacks")
    n1 = len(m.responses) + 1
    out += (pack_ihi(m.throttle_time_ms, m.error_code, m.session_id), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partitions:
            a6 = e4.aborted_transactions
            n5 = 0 if a6 is None else len(a6) + 1
            out += (
                pack_ihqqq(e4.partition_index, e4.error_code, e4.high_watermark, e4.last_stable_offset, e4.log_start_offset),
                ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
            )
            for e7 in a6 or ():
                out += (
                    pack_qq(e7.producer_id, e7.first_offset),
                    write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
                )
            v10 = e4.records
            if v10 is None:
                b8: bytes | memoryview = b""
                n9 = 0
            else:
                b8 = v10
                n9 = len(b8) + 1
            out += (pack_i(e4.preferred_read_replica), ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9), b8)
            tagged11: list[tuple[int, bytes]] = [*e4.unknown_tagged_fields]
            if e4.diverging_epoch != EpochEndOffset():
                s13 = e4.diverging_epoch
                tagged11.append((
                    0,
                    b"".join((pack_iq(s13.epoch, s13.end_offset), write_tagged(s13.unknown_tagged_fields) if s13.unknown_tagged_fields else b"\0")),
                ))
            if e4.current_leader != LeaderIdAndEpoch():
                s15 = e4.current_leader
                tagged11.append((
                    1,
                    b"".join((pack_ii(s15.leader_id, s15.leader_epoch), write_tagged(s15.unknown_tagged_fields) if s15.unknown_tagged_fields else b"\0")),
                ))
            if e4.snapshot_id != SnapshotId():
                s17 = e4.snapshot_id
                tagged11.append((
                    2,
                    b"".join((pack_qi(s17.end_offset, s17.epoch), write_tagged(s17.unknown_tagged_fields) if s17.unknown_tagged_fields else b"\0")),
                ))
            out.append(write_tagged(tagged11) if tagged11 else b"\0")
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v16(m: FetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses) + 1
    out += (pack_ihi(m.throttle_time_ms, m.error_code, m.session_id), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partitions:
            a6 = e4.aborted_transactions
            n5 = 0 if a6 is None else len(a6) + 1
            out += (
                pack_ihqqq(e4.partition_index, e4.error_code, e4.high_watermark, e4.last_stable_offset, e4.log_start_offset),
                ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
            )
            for e7 in a6 or ():
                out += (
                    pack_qq(e7.producer_id, e7.first_offset),
                    write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
                )
            v10 = e4.records
            if v10 is None:
                b8: bytes | memoryview = b""
                n9 = 0
            else:
                b8 = v10
                n9 = len(b8) + 1
            out += (pack_i(e4.preferred_read_replica), ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9), b8)
            tagged11: list[tuple[int, bytes]] = [*e4.unknown_tagged_fields]
            if e4.diverging_epoch != EpochEndOffset():
                s13 = e4.diverging_epoch
                tagged11.append((
                    0,
                    b"".join((pack_iq(s13.epoch, s13.end_offset), write_tagged(s13.unknown_tagged_fields) if s13.unknown_tagged_fields else b"\0")),
                ))
            if e4.current_leader != LeaderIdAndEpoch():
                s15 = e4.current_leader
                tagged11.append((
                    1,
                    b"".join((pack_ii(s15.leader_id, s15.leader_epoch), write_tagged(s15.unknown_tagged_fields) if s15.unknown_tagged_fields else b"\0")),
                ))
            if e4.snapshot_id != SnapshotId():
                s17 = e4.snapshot_id
                tagged11.append((
                    2,
                    b"".join((pack_qi(s17.end_offset, s17.epoch), write_tagged(s17.unknown_tagged_fields) if s17.unknown_tagged_fields else b"\0")),
                ))
            out.append(write_tagged(tagged11) if tagged11 else b"\0")
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
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


EpochEndOffset.FIELDS = (
    Field("epoch", "Epoch", "int32", (12, 18)),
    Field("end_offset", "EndOffset", "int64", (12, 18)),
)
LeaderIdAndEpoch.FIELDS = (
    Field("leader_id", "LeaderId", "int32", (12, 18), entity="brokerId"),
    Field("leader_epoch", "LeaderEpoch", "int32", (12, 18)),
)
SnapshotId.FIELDS = (
    Field("end_offset", "EndOffset", "int64", (4, 18)),
    Field("epoch", "Epoch", "int32", (4, 18)),
)
AbortedTransaction.FIELDS = (
    Field("producer_id", "ProducerId", "int64", (4, 18), entity="producerId"),
    Field("first_offset", "FirstOffset", "int64", (4, 18)),
)
PartitionData.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (4, 18)),
    Field("error_code", "ErrorCode", "int16", (4, 18)),
    Field("high_watermark", "HighWatermark", "int64", (4, 18)),
    Field("last_stable_offset", "LastStableOffset", "int64", (4, 18), ignorable=True),
    Field("log_start_offset", "LogStartOffset", "int64", (5, 18), ignorable=True),
    Field("diverging_epoch", "DivergingEpoch", "struct", (12, 18), tag=0, tagged=(12, 18), struct=EpochEndOffset),
    Field("current_leader", "CurrentLeader", "struct", (12, 18), tag=1, tagged=(12, 18), struct=LeaderIdAndEpoch),
    Field("snapshot_id", "SnapshotId", "struct", (12, 18), tag=2, tagged=(12, 18), struct=SnapshotId),
    Field(
        "aborted_transactions",
        "AbortedTransactions",
        "struct",
        (4, 18),
        is_array=True,
        nullable=(4, 18),
        struct=AbortedTransaction,
        ignorable=True,
    ),
    Field("preferred_read_replica", "PreferredReadReplica", "int32", (11, 18), entity="brokerId"),
    Field("records", "Records", "records", (4, 18), nullable=(4, 18)),
)
FetchableTopicResponse.FIELDS = (
    Field("topic", "Topic", "string", (4, 12), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (13, 18), ignorable=True),
    Field("partitions", "Partitions", "struct", (4, 18), is_array=True, struct=PartitionData),
)
NodeEndpoint.FIELDS = (
    Field("node_id", "NodeId", "int32", (16, 18), entity="brokerId"),
    Field("host", "Host", "string", (16, 18)),
    Field("port", "Port", "int32", (16, 18)),
    Field("rack", "Rack", "string", (16, 18), nullable=(16, 18)),
)
FetchResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (4, 18), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (7, 18), ignorable=True),
    Field("session_id", "SessionId", "int32", (7, 18)),
    Field("responses", "Responses", "struct", (4, 18), is_array=True, struct=FetchableTopicResponse),
    Field(
        "node_endpoints",
        "NodeEndpoints",
        "struct",
        (16, 18),
        is_array=True,
        tag=0,
        tagged=(16, 18),
        struct=NodeEndpoint,
    ),
)
FetchResponse.NAME = "FetchResponse"
FetchResponse.API_KEY = 1
FetchResponse.MIN_VERSION = 4
FetchResponse.MAX_VERSION = 18
FetchResponse.FLEXIBLE_FROM = 12
FetchResponse._DECODERS = {
    4: _decode_v4,
    5: _decode_v5,
    6: _decode_v5,
    7: _decode_v7,
    8: _decode_v7,
    9: _decode_v7,
    10: _decode_v7,
    11: _decode_v11,
    12: _decode_v12,
    13: _decode_v13,
    14: _decode_v13,
    15: _decode_v13,
    16: _decode_v16,
    17: _decode_v16,
    18: _decode_v16,
}
FetchResponse._ENCODERS = {
    4: _encode_v4,
    5: _encode_v5,
    6: _encode_v5,
    7: _encode_v7,
    8: _encode_v7,
    9: _encode_v7,
    10: _encode_v7,
    11: _encode_v11,
    12: _encode_v12,
    13: _encode_v13,
    14: _encode_v13,
    15: _encode_v13,
    16: _encode_v16,
    17: _encode_v16,
    18: _encode_v16,
}
