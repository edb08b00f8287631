"""What happens to bytes that are no message?

A DecodeError names message, version, field and position, and no memory is taken for what is only claimed.
"""

from __future__ import annotations

import re
import tracemalloc

import attrs
import pytest

from kcoord.protocol.generated.api_versions_response import ApiVersionsResponse
from kcoord.protocol.generated.describe_groups_request import DescribeGroupsRequest
from kcoord.protocol.generated.fetch_response import FetchResponse
from kcoord.protocol.generated.heartbeat_request import HeartbeatRequest
from kcoord.protocol.generated.join_group_request import JoinGroupRequest
from kcoord.protocol.generated.metadata_request import MetadataRequest
from kcoord.protocol.generated.metadata_response import MetadataResponse
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequest
from kcoord.protocol.generated.produce_request import ProduceRequest
from kcoord.protocol.generated.sync_group_response import SyncGroupResponse
from kcoord.protocol.message_base import Message
from kcoord.protocol.primitives import DecodeError
from tests.light import fewer
from tests.protocol import fuzz

HEARTBEAT_V4 = HeartbeatRequest("g", 1, "m", "i").encode(4)
HTTP = b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n"
TLS = bytes.fromhex("16030100c8010000c40303")


@attrs.frozen
class Bad:
    why: str
    cls: type[Message]
    version: int
    data: bytes
    says: str


TABLE = [
    Bad("nothing at all", HeartbeatRequest, 0, b"", "GroupId at byte 0: the data ends: 2 bytes are needed, 0 are left"),
    Bad("cut in a text", HeartbeatRequest, 0, b"\0\5ab", "GroupId at byte 2: says 5 bytes, 2 are left"),
    Bad(
        "cut in a number",
        HeartbeatRequest,
        0,
        b"\0\0\0\0",
        "GenerationId at byte 2: the data ends: 4 bytes are needed, 2 are left",
    ),
    Bad(
        "cut before the tags",
        HeartbeatRequest,
        4,
        HEARTBEAT_V4[:-1],
        "tagged fields at byte 10: the data ends inside a varint",
    ),
    Bad(
        "bytes behind the end",
        HeartbeatRequest,
        4,
        HEARTBEAT_V4 + b"\0",
        "at byte 11: 1 bytes too many behind the last field",
    ),
    Bad("null where none is", HeartbeatRequest, 4, b"\0", "GroupId at byte 1: null, which is not allowed here"),
    Bad("null in the old form", HeartbeatRequest, 0, b"\xff\xff", "GroupId at byte 2: null, which is not allowed here"),
    Bad("negative length", HeartbeatRequest, 3, b"\xff\xfe", "GroupId at byte 2: a length of -2"),
    Bad("varint too long", HeartbeatRequest, 4, b"\xff" * 6, "GroupId at byte 0: a varint of more than 5 bytes"),
    Bad(
        "varint too large",
        HeartbeatRequest,
        4,
        b"\xff\xff\xff\xff\x1f",
        "GroupId at byte 0: a varint of more than 32 bits",
    ),
    Bad(
        "a text longer than Kafka takes",
        HeartbeatRequest,
        4,
        b"\x81\x80\x02" + b"g" * 32_768 + bytes(8),
        "GroupId at byte 3: a string of 32768 bytes, at most 32767 are possible",
    ),
    Bad(
        "a count that cannot be",
        DescribeGroupsRequest,
        0,
        b"\x7f\xff\xff\xff\0\1a",
        "Groups at byte 4: says 2147483647 elements of at least 2 bytes, 3 bytes are left",
    ),
    Bad(
        "a compact count that cannot be",
        DescribeGroupsRequest,
        5,
        b"\xff\xff\xff\xff\x0f\2a",
        "Groups at byte 5: says 4294967294 elements of at least 1 bytes, 2 bytes are left",
    ),
    Bad(
        "a count inside a list",
        OffsetFetchRequest,
        1,
        b"\0\1g\0\0\0\1\0\1t\x40\0\0\0",
        "Topics.[0].PartitionIndexes at byte 14: says 1073741824 elements of at least 4 bytes, 0 bytes are left",
    ),
    Bad(
        "a count of numbers in a flexible list",
        OffsetFetchRequest,
        6,
        b"\2g\2\2t\xff\xff\xff\x7f\0",
        "Topics.[0].PartitionIndexes at byte 9: says 268435454 elements of at least 4 bytes, 1 bytes are left",
    ),
    Bad(
        "a count of structs",
        JoinGroupRequest,
        0,
        b"\0\1g\0\0\0\0\0\0\0\1c\0\xff\xff\xff",
        "Protocols at byte 16: says 16777215 elements of at least 6 bytes, 0 bytes are left",
    ),
    Bad(
        "the second of two elements",
        JoinGroupRequest,
        0,
        JoinGroupRequest("g").encode(0)[:-4] + b"\0\0\0\2\0\1p\0\0\0\0\0\1q\0\0\0\7xyz",
        "Protocols.[1].Metadata at byte 29: says 7 bytes, 3 are left",
    ),
    Bad(
        "more tagged fields than bytes",
        HeartbeatRequest,
        4,
        HEARTBEAT_V4[:-1] + b"\x7f\0",
        "tagged fields at byte 11: says 127 elements of at least 2 bytes, 1 bytes are left",
    ),
    Bad(
        "a tagged field beyond the end",
        HeartbeatRequest,
        4,
        HEARTBEAT_V4[:-1] + b"\1\5\xff\xff\xff\xff\7",
        "tagged fields at byte 17: says 2147483647 bytes, 0 are left",
    ),
    Bad(
        "a tagged field of the wrong size",
        ApiVersionsResponse,
        3,
        ApiVersionsResponse().encode(3)[:-1] + b"\1\1\7" + bytes(7),
        "tagged fields.FinalizedFeaturesEpoch at byte 10: the data ends: 8 bytes are needed, 7 are left",
    ),
    Bad(
        "a tagged field smaller than it says",
        ApiVersionsResponse,
        3,
        ApiVersionsResponse().encode(3)[:-1] + b"\1\1\x09" + bytes(9),
        "tagged fields.FinalizedFeaturesEpoch at byte 18: the tagged field says 9 bytes, its value has 8",
    ),
    Bad(
        "records beyond the end",
        ProduceRequest,
        3,
        ProduceRequest().encode(3)[:-4] + b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + b"\x06\x40\0\0",
        "TopicData.[0].PartitionData.[0].Records at byte 27: says 104857600 bytes, 0 are left",
    ),
    Bad("HTTP", MetadataRequest, 9, HTTP, "Topics at byte 1: says 70 elements of at least 2 bytes, 30 bytes are left"),
    Bad(
        "TLS",
        MetadataRequest,
        4,
        TLS,
        "Topics at byte 4: says 369295616 elements of at least 2 bytes, 7 bytes are left",
    ),
]


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: bad.why)
def test_refused_with_the_place(bad: Bad) -> None:
    says = re.escape(f"{bad.cls.NAME} v{bad.version}: {bad.says}")
    with pytest.raises(DecodeError, match=f"^{says}$"):
        bad.cls.decode(bad.data, bad.version)


CLAIMS = [
    *TABLE,
    Bad("2^31 replicas", MetadataResponse, 0, b"\x7f\xff\xff\xff" * 8, "Brokers"),
    Bad("2^32 partitions", FetchResponse, 16, bytes(10) + b"\xff\xff\xff\xff\x0f" * 4, "Responses"),
    Bad("a 2 GiB assignment", SyncGroupResponse, 0, b"\0\0\x7f\xff\xff\xff", "Assignment"),
]


@pytest.mark.parametrize("bad", CLAIMS, ids=lambda bad: bad.why)
def test_no_memory_is_taken_for_what_is_only_claimed(bad: Bad) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            bad.cls.decode(bad.data, bad.version)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024


@pytest.mark.parametrize("seed", range(fewer(5, 1)))
def test_mutated_frames_are_read_or_refused(seed: int) -> None:
    tally = fuzz.run(seed, 6_000)
    assert tally.frames == 6_000
    assert tally.read > 500
    assert len(tally.refused) >= 8, "the mutations do not reach every kind of fault"


def test_the_fuzzer_tells_what_it_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def careless(data: bytes, pos: int) -> HeartbeatRequest:
        return HeartbeatRequest("wrong")

    monkeypatch.setitem(HeartbeatRequest._DECODERS, 4, careless)
    monkeypatch.setattr("sys.argv", ["fuzz", "--frames", "20000"])
    assert fuzz.main() == 1
    said = capsys.readouterr().err
    assert "HeartbeatRequest v4" in said
    assert re.search(r"python -m tests.protocol.fuzz --seed 1 --only \d+", said)
