"""The records of a shard's log, as in ``__consumer_offsets``: their types, encoding and decoding.

A key begins with the number of its record type (Kafka calls it the key's version): 0 and 1 are committed offsets (0 is
an old type, which is only read), 2 is a classic group's metadata, 3 to 10 are connect groups, 20 to 27 consumer groups
(KIP-848), 28 the topics of a kcoord without a cluster. A value begins with the version of its schema. No value (None)
is a tombstone.

| key | record | value written at |
| --- | --- | --- |
| 0 | committed offset, as written before Kafka 0.9 | never written |
| 1 | committed offset | version 4, or 1 if it has an expiry time |
| 2 | metadata of a classic group | version 4, with kcoord's own tagged fields |
| 3 | a connect group: its epoch, and why it began | version 0, as all records of connect groups |
| 4 | a connect group: the configured set of connectors and tasks | |
| 5 | a connect group: what a member reported of itself | |
| 6 | a connect group: what the members' targets have in common | |
| 7 | a connect group: everything that a member may be running | |
| 8 | a connect group: its own settings | |
| 9 | a connect group: the target of a member | |
| 10 | a connect group: why an epoch began, and its outcome | |
| 20 | a consumer group: its epoch, and why it began | version 0, as all records from here on |
| 21 | a consumer group: the topics that its members subscribe to, as they were seen last | |
| 22 | a consumer group: what a member said of itself | |
| 23 | a consumer group: what the members' targets have in common | |
| 24 | a consumer group: the target of a member | |
| 25 | a consumer group: everything that a member may be consuming | |
| 26 | a consumer group: the topics that match a regular expression | |
| 27 | a consumer group: why an epoch began, and its outcome | |
| 28 | a topic of a kcoord without a cluster: its id, and how many partitions it has | |

Kafka's own coordinator uses the numbers 3 to 8 and 16 for KIP-848's groups; no log holds both. The values of 20 and 22
to 26 are Kafka's of 3, 5 to 8 and 16, byte for byte. kcoord's own fields in them have tags from 1000 on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.generated.connect_worker_group_configuration_key import ConnectWorkerGroupConfigurationKey
from kcoord.protocol.generated.connect_worker_group_configuration_value import ConnectWorkerGroupConfigurationValue
from kcoord.protocol.generated.connect_worker_group_connectors_tasks_metadata_key import (
    ConnectWorkerGroupConnectorsTasksMetadataKey,
)
from kcoord.protocol.generated.connect_worker_group_connectors_tasks_metadata_value import (
    ConnectWorkerGroupConnectorsTasksMetadataValue,
)
from kcoord.protocol.generated.connect_worker_group_current_member_assignment_key import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
)
from kcoord.protocol.generated.connect_worker_group_current_member_assignment_value import (
    ConnectWorkerGroupCurrentMemberAssignmentValue,
)
from kcoord.protocol.generated.connect_worker_group_history_key import ConnectWorkerGroupHistoryKey
from kcoord.protocol.generated.connect_worker_group_history_value import ConnectWorkerGroupHistoryValue
from kcoord.protocol.generated.connect_worker_group_member_metadata_key import ConnectWorkerGroupMemberMetadataKey
from kcoord.protocol.generated.connect_worker_group_member_metadata_value import ConnectWorkerGroupMemberMetadataValue
from kcoord.protocol.generated.connect_worker_group_metadata_key import ConnectWorkerGroupMetadataKey
from kcoord.protocol.generated.connect_worker_group_metadata_value import ConnectWorkerGroupMetadataValue
from kcoord.protocol.generated.connect_worker_group_target_assignment_key import ConnectWorkerGroupTargetAssignmentKey
from kcoord.protocol.generated.connect_worker_group_target_assignment_member_key import (
    ConnectWorkerGroupTargetAssignmentMemberKey,
)
from kcoord.protocol.generated.connect_worker_group_target_assignment_member_value import (
    ConnectWorkerGroupTargetAssignmentMemberValue,
)
from kcoord.protocol.generated.connect_worker_group_target_assignment_value import (
    ConnectWorkerGroupTargetAssignmentValue,
)
from kcoord.protocol.generated.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from kcoord.protocol.generated.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
)
from kcoord.protocol.generated.consumer_group_history_key import ConsumerGroupHistoryKey
from kcoord.protocol.generated.consumer_group_history_value import ConsumerGroupHistoryValue
from kcoord.protocol.generated.consumer_group_member_metadata_key import ConsumerGroupMemberMetadataKey
from kcoord.protocol.generated.consumer_group_member_metadata_value import ConsumerGroupMemberMetadataValue
from kcoord.protocol.generated.consumer_group_metadata_key import ConsumerGroupMetadataKey
from kcoord.protocol.generated.consumer_group_metadata_value import ConsumerGroupMetadataValue
from kcoord.protocol.generated.consumer_group_regular_expression_key import ConsumerGroupRegularExpressionKey
from kcoord.protocol.generated.consumer_group_regular_expression_value import ConsumerGroupRegularExpressionValue
from kcoord.protocol.generated.consumer_group_target_assignment_member_key import ConsumerGroupTargetAssignmentMemberKey
from kcoord.protocol.generated.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
)
from kcoord.protocol.generated.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from kcoord.protocol.generated.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kcoord.protocol.generated.consumer_group_topics_key import ConsumerGroupTopicsKey
from kcoord.protocol.generated.consumer_group_topics_value import ConsumerGroupTopicsValue
from kcoord.protocol.generated.declared_topic_key import DeclaredTopicKey
from kcoord.protocol.generated.declared_topic_value import DeclaredTopicValue
from kcoord.protocol.generated.group_metadata_key import GroupMetadataKey
from kcoord.protocol.generated.group_metadata_value import GroupMetadataValue, MemberMetadata
from kcoord.protocol.generated.legacy_offset_commit_key import LegacyOffsetCommitKey
from kcoord.protocol.generated.legacy_offset_commit_value import LegacyOffsetCommitValue
from kcoord.protocol.generated.offset_commit_key import OffsetCommitKey
from kcoord.protocol.generated.offset_commit_value import OffsetCommitValue
from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.protocol.record_levels import RECORD_LEVEL, TYPE_LEVELS, VALUE_LEVELS, level_of, version_at

__all__ = [
    "EPOCH_FIELDS",
    "ConnectWorkerGroupConfigurationKey",
    "ConnectWorkerGroupConfigurationValue",
    "ConnectWorkerGroupConnectorsTasksMetadataKey",
    "ConnectWorkerGroupConnectorsTasksMetadataValue",
    "ConnectWorkerGroupCurrentMemberAssignmentKey",
    "ConnectWorkerGroupCurrentMemberAssignmentValue",
    "ConnectWorkerGroupHistoryKey",
    "ConnectWorkerGroupHistoryValue",
    "ConnectWorkerGroupMemberMetadataKey",
    "ConnectWorkerGroupMemberMetadataValue",
    "ConnectWorkerGroupMetadataKey",
    "ConnectWorkerGroupMetadataValue",
    "ConnectWorkerGroupTargetAssignmentKey",
    "ConnectWorkerGroupTargetAssignmentMemberKey",
    "ConnectWorkerGroupTargetAssignmentMemberValue",
    "ConnectWorkerGroupTargetAssignmentValue",
    "ConsumerGroupCurrentMemberAssignmentKey",
    "ConsumerGroupCurrentMemberAssignmentValue",
    "ConsumerGroupHistoryKey",
    "ConsumerGroupHistoryValue",
    "ConsumerGroupMemberMetadataKey",
    "ConsumerGroupMemberMetadataValue",
    "ConsumerGroupMetadataKey",
    "ConsumerGroupMetadataValue",
    "ConsumerGroupRegularExpressionKey",
    "ConsumerGroupRegularExpressionValue",
    "ConsumerGroupTargetAssignmentMemberKey",
    "ConsumerGroupTargetAssignmentMemberValue",
    "ConsumerGroupTargetAssignmentMetadataKey",
    "ConsumerGroupTargetAssignmentMetadataValue",
    "ConsumerGroupTopicsKey",
    "ConsumerGroupTopicsValue",
    "DeclaredTopicKey",
    "DeclaredTopicValue",
    "GroupMetadataKey",
    "GroupMetadataValue",
    "LegacyOffsetCommitKey",
    "LegacyOffsetCommitValue",
    "MemberMetadata",
    "OffsetCommitKey",
    "OffsetCommitValue",
    "Record",
    "UnknownRecordError",
    "ValueParts",
    "decode_key",
    "decode_record",
    "empty_lists",
    "encode_record",
    "is_of_newer_kcoord",
    "list_splitter",
    "value_check",
    "value_decoder",
]

Key = (
    GroupMetadataKey
    | OffsetCommitKey
    | LegacyOffsetCommitKey
    | ConnectWorkerGroupMetadataKey
    | ConnectWorkerGroupConnectorsTasksMetadataKey
    | ConnectWorkerGroupMemberMetadataKey
    | ConnectWorkerGroupTargetAssignmentKey
    | ConnectWorkerGroupCurrentMemberAssignmentKey
    | ConnectWorkerGroupConfigurationKey
    | ConnectWorkerGroupTargetAssignmentMemberKey
    | ConnectWorkerGroupHistoryKey
    | ConsumerGroupMetadataKey
    | ConsumerGroupTopicsKey
    | ConsumerGroupMemberMetadataKey
    | ConsumerGroupTargetAssignmentMetadataKey
    | ConsumerGroupTargetAssignmentMemberKey
    | ConsumerGroupCurrentMemberAssignmentKey
    | ConsumerGroupRegularExpressionKey
    | ConsumerGroupHistoryKey
    | DeclaredTopicKey
)
Value = (
    GroupMetadataValue
    | OffsetCommitValue
    | LegacyOffsetCommitValue
    | ConnectWorkerGroupMetadataValue
    | ConnectWorkerGroupConnectorsTasksMetadataValue
    | ConnectWorkerGroupMemberMetadataValue
    | ConnectWorkerGroupTargetAssignmentValue
    | ConnectWorkerGroupCurrentMemberAssignmentValue
    | ConnectWorkerGroupConfigurationValue
    | ConnectWorkerGroupTargetAssignmentMemberValue
    | ConnectWorkerGroupHistoryValue
    | ConsumerGroupMetadataValue
    | ConsumerGroupTopicsValue
    | ConsumerGroupMemberMetadataValue
    | ConsumerGroupTargetAssignmentMetadataValue
    | ConsumerGroupTargetAssignmentMemberValue
    | ConsumerGroupCurrentMemberAssignmentValue
    | ConsumerGroupRegularExpressionValue
    | ConsumerGroupHistoryValue
    | DeclaredTopicValue
)

_KEYS: dict[int, tuple[type[Key], type[Value]]] = {
    0: (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
    3: (ConnectWorkerGroupMetadataKey, ConnectWorkerGroupMetadataValue),
    4: (ConnectWorkerGroupConnectorsTasksMetadataKey, ConnectWorkerGroupConnectorsTasksMetadataValue),
    5: (ConnectWorkerGroupMemberMetadataKey, ConnectWorkerGroupMemberMetadataValue),
    6: (ConnectWorkerGroupTargetAssignmentKey, ConnectWorkerGroupTargetAssignmentValue),
    7: (ConnectWorkerGroupCurrentMemberAssignmentKey, ConnectWorkerGroupCurrentMemberAssignmentValue),
    8: (ConnectWorkerGroupConfigurationKey, ConnectWorkerGroupConfigurationValue),
    9: (ConnectWorkerGroupTargetAssignmentMemberKey, ConnectWorkerGroupTargetAssignmentMemberValue),
    10: (ConnectWorkerGroupHistoryKey, ConnectWorkerGroupHistoryValue),
    20: (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    21: (ConsumerGroupTopicsKey, ConsumerGroupTopicsValue),
    22: (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    23: (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    24: (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    25: (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    26: (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
    27: (ConsumerGroupHistoryKey, ConsumerGroupHistoryValue),
    28: (DeclaredTopicKey, DeclaredTopicValue),
}
_NUMBER = struct.Struct(">h")
_KEY_SCHEMA_VERSION = 0
_DECODERS: dict[int, tuple[Callable[[bytes, int], Key], dict[int, Callable[[bytes, int], Value]]]] = {
    number: (key._DECODERS[_KEY_SCHEMA_VERSION], value._DECODERS) for number, (key, value) in _KEYS.items()
}
"""Record number → the decoder of its key, and the decoder of each version of its value."""
EPOCH_FIELDS = {number: value.EPOCH for number, (_, value) in _KEYS.items() if value.EPOCH is not None}
"""Record number → the field of its value that has the epoch or generation, for values that have one."""
_FAULTS = (IndexError, struct.error, ValueError, OverflowError, KeyError)
"""The exceptions of a generated codec for bytes that do not fit."""
_OFFSET_WITH_EXPIRY_VERSION = 1
"""The only version of an offset's value that has an expiry time."""


class UnknownRecordError(DecodeError):
    """The record has a type that this kcoord does not know. The text names the key's number."""


@frozen(slots=True)
class Record:
    """One typed record. A ``value`` of None is a tombstone. The value's type belongs to the key's type."""

    key: Key
    value: Value | None


def encode_record(record: Record, level: int = RECORD_LEVEL) -> tuple[bytes, bytes | None]:
    """The record's key and value as bytes that instances of record level `level` can read.

    Raises EncodeError for values out of range, for a value that does not belong to its key, and for a record of a
    higher level.
    """
    key, value = record.key, record.value
    if TYPE_LEVELS and level_of(key.API_KEY) > level:
        raise EncodeError(
            f"{key.NAME} is of record level {level_of(key.API_KEY)}, and there are instances that read level {level}"
        )
    encoded_key = _NUMBER.pack(key.API_KEY) + key.encode(_KEY_SCHEMA_VERSION)
    if value is None:
        return encoded_key, None
    if not isinstance(value, _KEYS[key.API_KEY][1]):
        raise EncodeError(f"{key.NAME} goes with {_KEYS[key.API_KEY][1].NAME}, not with {value.NAME}")
    version = _value_version(key.API_KEY, value, level)
    return encoded_key, _NUMBER.pack(version) + value.encode(version)


def decode_record(key: bytes, value: bytes | None) -> Record:
    """Read a record. Raises UnknownRecordError for a type that is not in the table above, and DecodeError for bytes
    that do not fit their type.
    """
    try:  # the fast path: a load waits for this
        of_key, of_value = _DECODERS[key[0] << 8 | key[1]]
        typed_key = of_key(key, _NUMBER.size)
        if value is None:
            return Record(typed_key, None)
        return Record(typed_key, of_value[value[0] << 8 | value[1]](value, _NUMBER.size))
    except _FAULTS:  # read again, for an error that says what is wrong
        careful_key = _key_carefully(key)
        return Record(careful_key, None if value is None else _value_carefully(careful_key.API_KEY, value))


def decode_key(data: bytes) -> Key:
    """The key of a record alone, with the errors of `decode_record`. For readers of many records, because keys repeat
    and values do not.
    """
    try:
        return _DECODERS[data[0] << 8 | data[1]][0](data, _NUMBER.size)
    except _FAULTS:
        return _key_carefully(data)


def value_decoder(number: int) -> Callable[[bytes], Value]:
    """A function that reads the values of this record number, with the errors of `decode_record`."""
    versions = _DECODERS[number][1]

    def decode(data: bytes) -> Value:
        try:
            return versions[data[0] << 8 | data[1]](data, _NUMBER.size)
        except _FAULTS:
            return _value_carefully(number, data)

    return decode


def value_check(number: int) -> Callable[[bytes | None], int | None]:
    """A function that refuses values of this record number as `value_decoder` does, with the same errors, and gives
    their epoch. None: such values have none, or it is a tombstone. No value is made: it takes a fraction of the time.
    """
    versions, decode, epoch = _KEYS[number][1]._CHECKS, value_decoder(number), EPOCH_FIELDS.get(number, "")

    def check(data: bytes | None) -> int | None:
        if data is None:
            return None
        try:
            return versions[data[0] << 8 | data[1]](data, _NUMBER.size)
        except _FAULTS:  # the decoder knows why, or reads it after all
            return getattr(decode(data), epoch, None)

    return check


@frozen(slots=True)
class ValueParts:
    """A value that was taken apart."""

    version: bytes
    at: int
    """Where its lists begin: in each value of this version at the same place."""
    lists: bytes


def list_splitter(number: int) -> Callable[[bytes], ValueParts | None]:
    """A function that finds the lists in a value of this record number, which says what a member has or is to have: 7,
    9, 24 or 25. The value must be one that `value_check` accepts. It gives None for values that only the decoder reads.
    """
    finders = _KEYS[number][1]._FINDERS

    def split(data: bytes) -> ValueParts | None:
        try:
            start, stop = finders[data[0] << 8 | data[1]](data, _NUMBER.size)
        except _FAULTS:
            return None
        return ValueParts(data[: _NUMBER.size], start, data[start:stop])

    return split


def empty_lists(number: int) -> bytes:
    """What stands in a value of this record number in place of its lists if they are empty."""
    return b"\1" * _KEYS[number][1].LISTS


def _key_carefully(data: bytes) -> Key:
    number = _leading_number(data, "key")
    if number not in _KEYS:
        raise UnknownRecordError(f"record key of type {number}, known are {sorted(_KEYS)}")
    return _KEYS[number][0].decode(data, _KEY_SCHEMA_VERSION, _NUMBER.size)


def _value_carefully(number: int, data: bytes) -> Value:
    return _KEYS[number][1].decode(data, _leading_number(data, "value"), _NUMBER.size)


def is_of_newer_kcoord(key: bytes, value: bytes | None) -> bool:
    """Whether a record that cannot be read has a type that this kcoord does not know, or a version above those that it
    knows.
    """
    try:
        number = _leading_number(key, "key")
        if number not in _KEYS:
            return number >= 0
        return value is not None and _leading_number(value, "value") > _KEYS[number][1].MAX_VERSION
    except DecodeError:
        return False


def _leading_number(data: bytes, what: str) -> int:
    try:
        number: int = _NUMBER.unpack_from(data)[0]
    except struct.error:
        raise DecodeError(f"record {what} of {len(data)} bytes, it begins with a number of {_NUMBER.size}") from None
    return number


def _value_version(number: int, value: Value, level: int) -> int:
    if isinstance(value, OffsetCommitValue) and value.expire_timestamp != -1:
        return _OFFSET_WITH_EXPIRY_VERSION
    if VALUE_LEVELS:
        return version_at(level, number, value.MIN_VERSION, value.MAX_VERSION)
    return value.MAX_VERSION
