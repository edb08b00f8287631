"""Which messages and versions are there to be tested, and which values can they have?

``EVERY_VERSION`` is the table that most tests of the wire run over. Values come in two ways: as hypothesis
strategies, and from a seeded ``random.Random`` for the fuzzer, which needs a million of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import strategies as st

from kcoord.protocol import records
from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message
from kcoord.protocol.messages import REQUESTS, RESPONSES
from schemas.generator.model import load_internal

MESSAGES: list[type[Message]] = [*REQUESTS.values(), *RESPONSES.values()]
RECORDS: list[type[Message]] = [
    records.LegacyOffsetCommitKey,
    records.LegacyOffsetCommitValue,
    records.OffsetCommitKey,
    records.OffsetCommitValue,
    records.GroupMetadataKey,
    records.GroupMetadataValue,
    records.ConnectWorkerGroupMetadataKey,
    records.ConnectWorkerGroupMetadataValue,
    records.ConnectWorkerGroupConnectorsTasksMetadataKey,
    records.ConnectWorkerGroupConnectorsTasksMetadataValue,
    records.ConnectWorkerGroupMemberMetadataKey,
    records.ConnectWorkerGroupMemberMetadataValue,
    records.ConnectWorkerGroupTargetAssignmentKey,
    records.ConnectWorkerGroupTargetAssignmentValue,
    records.ConnectWorkerGroupCurrentMemberAssignmentKey,
    records.ConnectWorkerGroupCurrentMemberAssignmentValue,
    records.ConnectWorkerGroupConfigurationKey,
    records.ConnectWorkerGroupConfigurationValue,
    records.ConnectWorkerGroupTargetAssignmentMemberKey,
    records.ConnectWorkerGroupTargetAssignmentMemberValue,
    records.ConnectWorkerGroupHistoryKey,
    records.ConnectWorkerGroupHistoryValue,
    records.ConsumerGroupMetadataKey,
    records.ConsumerGroupMetadataValue,
    records.ConsumerGroupTopicsKey,
    records.ConsumerGroupTopicsValue,
    records.ConsumerGroupMemberMetadataKey,
    records.ConsumerGroupMemberMetadataValue,
    records.ConsumerGroupTargetAssignmentMetadataKey,
    records.ConsumerGroupTargetAssignmentMetadataValue,
    records.ConsumerGroupTargetAssignmentMemberKey,
    records.ConsumerGroupTargetAssignmentMemberValue,
    records.ConsumerGroupCurrentMemberAssignmentKey,
    records.ConsumerGroupCurrentMemberAssignmentValue,
    records.ConsumerGroupRegularExpressionKey,
    records.ConsumerGroupRegularExpressionValue,
    records.ConsumerGroupHistoryKey,
    records.ConsumerGroupHistoryValue,
    records.DeclaredTopicKey,
    records.DeclaredTopicValue,
]

INTERNAL: list[type[Message]] = [
    getattr(import_module(f"kcoord.protocol.generated.{spec.module}"), spec.name) for spec in load_internal()
]
"""What instances of kcoord say to each other; no client hears of it."""

OURS = frozenset(
    {
        *(cls.NAME for cls in INTERNAL),
        "AdoptGroupRequest",
        "AdoptGroupResponse",
        "ConnectGroupHeartbeatRequest",
        "ConnectGroupHeartbeatResponse",
        "ConnectGroupPrepareAssignmentRequest",
        "ConnectGroupPrepareAssignmentResponse",
        "ConnectGroupInstallAssignmentRequest",
        "ConnectGroupInstallAssignmentResponse",
        "ConnectGroupDescribeRequest",
        "ConnectGroupDescribeResponse",
        "ConnectWorkerGroupMetadataKey",
        "ConnectWorkerGroupMetadataValue",
        "ConnectWorkerGroupConnectorsTasksMetadataKey",
        "ConnectWorkerGroupConnectorsTasksMetadataValue",
        "ConnectWorkerGroupMemberMetadataKey",
        "ConnectWorkerGroupMemberMetadataValue",
        "ConnectWorkerGroupTargetAssignmentKey",
        "ConnectWorkerGroupTargetAssignmentValue",
        "ConnectWorkerGroupCurrentMemberAssignmentKey",
        "ConnectWorkerGroupCurrentMemberAssignmentValue",
        "ConnectWorkerGroupConfigurationKey",
        "ConnectWorkerGroupConfigurationValue",
        "ConnectWorkerGroupTargetAssignmentMemberKey",
        "ConnectWorkerGroupTargetAssignmentMemberValue",
        "ConnectWorkerGroupHistoryKey",
        "ConnectWorkerGroupHistoryValue",
        "ConsumerGroupPrepareAssignmentRequest",
        "ConsumerGroupPrepareAssignmentResponse",
        "ConsumerGroupInstallAssignmentRequest",
        "ConsumerGroupInstallAssignmentResponse",
        "ConsumerGroupTopicsKey",
        "ConsumerGroupTopicsValue",
        "ConsumerGroupHistoryKey",
        "ConsumerGroupHistoryValue",
        "DeclaredTopicsRequest",
        "DeclaredTopicsResponse",
        "DeclaredTopicKey",
        "DeclaredTopicValue",
    }
)
"""What no Kafka has, so that no other codec can be asked: proved by round trips and by bytes worked out by hand
(``test_connect_groups``)."""

Case = tuple[type[Message], int]


def versions_of(*classes: type[Message]) -> list[Case]:
    """Every version of these messages."""
    return [(cls, version) for cls in classes for version in range(cls.MIN_VERSION, cls.MAX_VERSION + 1)]


def named(cases: list[Case]) -> list[Any]:
    """Cases as parameters whose names say message and version."""
    return [pytest.param(cls, version, id=f"{cls.NAME}-v{version}") for cls, version in cases]


EVERY_VERSION = versions_of(*MESSAGES, *RECORDS, *INTERNAL)
KAFKAS_VERSIONS = [(cls, version) for cls, version in EVERY_VERSION if cls.NAME not in OURS]
KAFKAS_MESSAGES = [(cls, version) for cls, version in versions_of(*MESSAGES) if cls.NAME not in OURS]

FLEXIBLE_FROM = {cls.__module__: cls.FLEXIBLE_FROM for cls in (*MESSAGES, *RECORDS, *INTERNAL)}
"""By module: a struct does not know from which version on it is flexible, the message of its module does."""

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}

# Lengths on both sides of where a varint needs one more byte.
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["", "x" * 126, "x" * 127, "x" * 128, "ß" * 64, "x" * 16_382, "x" * 16_383]),
)
BYTES = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([b"", b"\0" * 126, b"\xff" * 127, b"\x80" * 128, b"y" * 16_383, b"z" * 16_384]),
)
UNKNOWN_TAGS = st.dictionaries(st.integers(2_000, 2**32 - 1), BYTES, max_size=2).map(
    lambda tags: tuple(sorted(tags.items()))
)

OWN_TAGS = 1000
"""From this tag on, fields in Kafka's messages are kcoord's own."""
Special = Callable[[Field], st.SearchStrategy[Any] | None]
"""A strategy for one field in place of the usual one, or None."""


def values(
    cls: Any, version: int, special: Special = lambda field: None, unknown: bool = True
) -> st.SearchStrategy[Any]:
    """Any value that a struct can have in that version; fields that the version lacks keep their defaults. `unknown`:
    also what only kcoord knows of, or nobody.
    """
    fields = {
        f.attribute: _field(f, version, special, unknown)
        for f in cls.FIELDS
        if f.is_in(version) and (unknown or not is_own(f))
    }
    if unknown and version >= FLEXIBLE_FROM[cls.__module__]:
        fields["unknown_tagged_fields"] = UNKNOWN_TAGS
    return st.builds(cls, **fields)


def is_own(field: Field) -> bool:
    """Whether it is kcoord's own field in a message of Kafka's."""
    return field.tag is not None and field.tag >= OWN_TAGS


def _field(field: Field, version: int, special: Special, unknown: bool) -> st.SearchStrategy[Any]:
    value = special(field)
    if value is None:
        value = _value(field, version, special, unknown)
    if field.is_array:
        value = st.lists(value, max_size=2 if field.kind == "struct" else 4)
    return st.none() | value if field.is_nullable(version) else value


def _value(field: Field, version: int, special: Special, unknown: bool) -> st.SearchStrategy[Any]:
    if field.kind in BITS:
        half = 1 << (BITS[field.kind] - 1)
        return st.integers(-half, half - 1)
    if field.kind == "struct":
        return values(field.struct, version, special, unknown)
    others: dict[str, st.SearchStrategy[Any]] = {
        "uint16": st.integers(0, 0xFFFF),
        "bool": st.booleans(),
        "uuid": st.binary(min_size=16, max_size=16) | st.just(bytes(16)),
        "string": TEXTS,
        "bytes": BYTES,
        "records": BYTES,
    }
    return others[field.kind]


def random_message(rng: random.Random, cls: Any, version: int) -> Any:
    """A message with values drawn from ``rng``, mostly small."""
    return cls(**{f.attribute: _random_field(rng, f, version) for f in cls.FIELDS if f.is_in(version)})


def _random_field(rng: random.Random, field: Field, version: int) -> Any:
    if field.is_nullable(version) and rng.random() < 0.2:
        return None
    if not field.is_array:
        return _random_value(rng, field, version)
    if field.kind != "struct":
        return [_random_value(rng, field, version) for _ in range(rng.choice((0, 1, 1, 2, 2, 20)))]
    if rng.random() < 0.04:
        return _runs_of_one_shape(rng, field, version)
    return [_random_value(rng, field, version) for _ in range(rng.choice((0, 1, 1, 2)))]


def _runs_of_one_shape(rng: random.Random, field: Field, version: int) -> list[Any]:
    """Elements whose texts, bytes and lists are as long as those of the one before; then perhaps others."""
    found = []
    for more in rng.choice(((13,), (14, 0), (0, 3, 15), (20, 13))):
        first = _random_value(rng, field, version)
        if rng.random() < 0.2 and version >= FLEXIBLE_FROM[type(first).__module__]:
            first.unknown_tagged_fields = ((3_000, b"unknown"),)
        found += [first, *(alike(rng, first, version) for _ in range(more))]
    return found


def alike(rng: random.Random, value: Any, version: int) -> Any:
    """Another struct of the same shape: other numbers, other letters, but the same lengths."""
    fields = {
        f.attribute: _alike(rng, f, getattr(value, f.attribute), version)
        for f in type(value).FIELDS
        if f.is_in(version)
    }
    return type(value)(**fields, unknown_tagged_fields=value.unknown_tagged_fields)


def _alike(rng: random.Random, field: Field, value: Any, version: int) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [_alike(rng, field, each, version) for each in value]
    if field.kind == "struct":
        return alike(rng, value, version)
    if field.kind == "string":
        size = len(value.encode())
        return "ß" * (size // 2) + "x" * (size % 2) if rng.random() < 0.2 else "".join(rng.choices("abcd", k=size))
    if field.kind in ("bytes", "records"):
        return rng.randbytes(len(value))
    return _random_value(rng, field, version)


def _random_value(rng: random.Random, field: Field, version: int) -> Any:
    kind = field.kind
    if kind in BITS:
        half = 1 << (BITS[kind] - 1)
        return rng.choice((-1, 0, 1, rng.randrange(-half, half)))
    if kind == "struct":
        return random_message(rng, field.struct, version)
    if kind == "string":
        return "member-ß"[: rng.randrange(9)] * rng.choice((1, 1, 1, 30))
    if kind in ("bytes", "records"):
        return rng.randbytes(rng.choice((0, 1, 5, 130)))
    return {"uint16": rng.randrange(0x10000), "bool": rng.random() < 0.5, "uuid": rng.randbytes(16)}[kind]
