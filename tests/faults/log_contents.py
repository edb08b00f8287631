"""What does the log hold in the end? Read with librdkafka, and held against the books.

The last record of each key is what a coordinator would load; each is one more `Read` of what clients wrote.
"""

from __future__ import annotations

from collections.abc import Iterator

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from kcoord.protocol.records import (
    ConnectWorkerGroupConfigurationKey,
    ConnectWorkerGroupConfigurationValue,
    ConnectWorkerGroupConnectorsTasksMetadataKey,
    ConnectWorkerGroupConnectorsTasksMetadataValue,
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupMemberMetadataValue,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    ConnectWorkerGroupTargetAssignmentKey,
    ConnectWorkerGroupTargetAssignmentValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    decode_record,
)
from tests.faults.connect_member import ConnectMember
from tests.faults.history import History, Kind, Read, Register, now_us
from tests.faults.load import ConnectGroup, Load
from tests.faults.onlooker import SETTING, url_number
from tests.kafka.cluster import KafkaCluster

Told = tuple[Register, int | None]


def read_log(kafka: KafkaCluster, topic: str, load: Load, history: History) -> int:
    """Write down what the log says of the load's groups; gives the number of committed records. All must be settled."""
    live = {
        (group.work.group, seat.member.member_id)
        for group in load.groups
        if isinstance(group, ConnectGroup)
        for seat in group.seats
        if isinstance(seat.member, ConnectMember)
    }
    wanted = {event.register for event in history.events if isinstance(event, Read) and event.register.name == ""}
    sent_us = now_us()
    last: dict[bytes, bytes | None] = {}
    count = 0
    for key, value in records(kafka, topic):
        last[key] = value
        count += 1
    ended_us = now_us()
    told = (each for key, value in last.items() for each in _told(decode_record(key, value), live))
    found: dict[Register, int | None] = dict.fromkeys(wanted) | dict(told)
    for register, number in found.items():
        history.add(Read(register, number, f"the log in {topic}", sent_us, ended_us))
    return count


def _told(record: Record, live: set[tuple[str, str]]) -> Iterator[Told]:
    key, value = record.key, record.value
    match key, value:
        case ConnectWorkerGroupMetadataKey(), ConnectWorkerGroupMetadataValue():
            yield Register(Kind.GROUP_EPOCH, key.group_id), value.epoch
        case ConnectWorkerGroupTargetAssignmentKey(), ConnectWorkerGroupTargetAssignmentValue():
            yield Register(Kind.ASSIGNMENT_EPOCH, key.group_id), value.assignment_epoch
        case ConnectWorkerGroupConnectorsTasksMetadataKey(), ConnectWorkerGroupConnectorsTasksMetadataValue():
            yield Register(Kind.CONFIG, key.group_id), value.config_offset
        case ConnectWorkerGroupMemberMetadataKey(), ConnectWorkerGroupMemberMetadataValue():
            if (key.group_id, key.member_id) in live:
                yield Register(Kind.URL, key.group_id, key.member_id), url_number(value.url)
        case ConnectWorkerGroupConfigurationKey(), ConnectWorkerGroupConfigurationValue():
            values = {each.name: int(each.value) for each in value.configurations if each.name == SETTING}
            yield Register(Kind.SETTING, key.group_id), values.get(SETTING)
        case GroupMetadataKey(), GroupMetadataValue():
            yield Register(Kind.GENERATION, key.group), value.generation
        case OffsetCommitKey(), OffsetCommitValue():
            yield Register(Kind.OFFSET, key.group, f"{key.topic}-{key.partition}"), value.offset


def records(kafka: KafkaCluster, topic: str) -> Iterator[tuple[bytes, bytes | None]]:
    """All committed records, each partition's in order."""
    settings = {"group.id": "not-joined", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, **settings, "isolation.level": "read_committed"})
    try:
        partitions = consumer.list_topics(topic, timeout=120).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
        open_ends = set(partitions)
        while open_ends:
            message = consumer.poll(30)
            assert message is not None, f"no more records of {topic}, whose end was not reached"
            error = message.error()
            if error is None:
                key, value = message.key(), message.value()
                assert isinstance(key, bytes)
                assert value is None or isinstance(value, bytes)
                yield key, value
            elif error.code() == error._PARTITION_EOF:
                open_ends.discard(message.partition())
            else:
                raise AssertionError(f"reading {topic}: {error}")
    finally:
        consumer.close()
