"""Does the generated codec keep its promises beside being right? Unknown fields, what is refused, and the codec
that checks it.
"""

from __future__ import annotations

import random
import re
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kcoord.protocol import explaining_codec
from kcoord.protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kcoord.protocol.generated.fetch_request import FetchRequest, FetchTopic
from kcoord.protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kcoord.protocol.generated.group_metadata_value import GroupMetadataValue
from kcoord.protocol.generated.heartbeat_request import HeartbeatRequest
from kcoord.protocol.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kcoord.protocol.generated.join_group_response import JoinGroupResponse
from kcoord.protocol.generated.leave_group_request import LeaveGroupRequest, MemberIdentity
from kcoord.protocol.generated.metadata_request import MetadataRequest
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequest
from kcoord.protocol.generated.sync_group_response import SyncGroupResponse
from kcoord.protocol.message_base import Message
from kcoord.protocol.primitives import DecodeError, EncodeError
from tests.light import fewer, some
from tests.protocol.catalogue import EVERY_VERSION, named, random_message, values


@pytest.mark.parametrize(("cls", "version"), some(named(EVERY_VERSION), 90))
@settings(max_examples=fewer(4, 2), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_written_is_read_again_with_its_unknown_fields(
    cls: type[Message], version: int, data: st.DataObject
) -> None:
    message = data.draw(values(cls, version))
    written = message.encode(version)
    assert cls.decode(written, version) == message
    assert cls.decode(b"front" + written, version, 5) == message
    assert explaining_codec.decode(cls, written, version, 0) == message


@pytest.mark.parametrize(("cls", "version"), named(EVERY_VERSION))
def test_runs_of_elements_of_one_shape_are_read_as_others_are(cls: type[Message], version: int) -> None:
    rng = random.Random(version)
    for _ in range(fewer(12, 4)):
        message = random_message(rng, cls, version)
        written = message.encode(version)
        assert cls.decode(written, version) == message
        assert explaining_codec.decode(cls, written, version, 0) == message


@pytest.mark.parametrize(("cls", "version"), named(EVERY_VERSION))
def test_a_message_of_defaults_is_valid_in_every_version(cls: type[Message], version: int) -> None:
    assert cls.decode(cls().encode(version), version) == cls()


def test_structs_do_not_share_their_lists() -> None:
    JoinGroupRequest().protocols.append(JoinGroupRequestProtocol())
    assert JoinGroupRequest().protocols == []


def test_records_are_slices_of_the_frame_and_not_copies() -> None:
    records = bytes(range(256)) * 400
    response = FetchResponse(responses=[FetchableTopicResponse("t", partitions=[PartitionData(records=records)])])
    frame = response.encode(12)
    found = FetchResponse.decode(frame, 12).responses[0].partitions[0].records
    assert isinstance(found, memoryview)
    assert found.obj is frame
    assert found == records


@attrs.frozen
class _Refused:
    why: str
    message: Message
    version: int
    says: str


@pytest.mark.parametrize(
    "case",
    [
        _Refused("no such version", HeartbeatRequest("g"), 5, "HeartbeatRequest has no version 5: valid are 0-4"),
        _Refused(
            "a field that the version lacks",
            HeartbeatRequest("g", group_instance_id="i"),
            2,
            "HeartbeatRequest v2: GroupInstanceId is set, which this version lacks",
        ),
        _Refused(
            "the same in a list",
            LeaveGroupRequest("g", members=[MemberIdentity("m")]),
            2,
            "LeaveGroupRequest v2: Members is set, which this version lacks",
        ),
        _Refused(
            "null where a list is expected and the field is gone",
            OffsetFetchRequest("", topics=None),
            8,
            "OffsetFetchRequest v8: Topics is set, which this version lacks",
        ),
        _Refused(
            "null in a version that has none yet",
            MetadataRequest(topics=None),
            0,
            "MetadataRequest v0: Topics is null, which is not allowed in this version",
        ),
        _Refused(
            "null text",
            JoinGroupResponse(protocol_name=None),
            6,
            "JoinGroupResponse v6: ProtocolName is null, which is not allowed in this version",
        ),
        _Refused(
            "a number too large",
            ApiVersionsResponse(api_keys=[ApiVersion(1), ApiVersion(40_000)]),
            3,
            "ApiVersionsResponse v3: ApiKeys.[1].ApiKey is 40000, which does not fit int16",
        ),
        _Refused(
            "a text too long for the old form",
            HeartbeatRequest("g" * 32_768),
            3,
            "HeartbeatRequest v3: GroupId is '" + "g" * 79 + ", which does not fit string",
        ),
        _Refused(
            "a text too long for Kafka in the new form",
            HeartbeatRequest("g", member_id="m" * 32_768),
            4,
            "HeartbeatRequest v4: MemberId is '" + "m" * 79 + ", which does not fit string",
        ),
        _Refused(
            "half a surrogate",
            HeartbeatRequest("\ud800"),
            4,
            "HeartbeatRequest v4: GroupId is '\\ud800', which does not fit string",
        ),
        _Refused(
            "a UUID of 15 bytes",
            FetchRequest(topics=[FetchTopic(topic_id=bytes(15))]),
            13,
            "FetchRequest v13: TopicId is not 16 bytes long",
        ),
        _Refused(
            "an unknown field that the version knows",
            GroupMetadataValue(state="Stable", unknown_tagged_fields=((1000, b""),)),
            4,
            "GroupMetadataValue v4: tag 1000 is written twice",
        ),
    ],
    ids=lambda case: case.why,
)
def test_refused_when_written(case: _Refused) -> None:
    with pytest.raises(EncodeError, match=f"^{re.escape(case.says)}$"):
        case.message.encode(case.version)


def test_wrong_types_are_refused_with_the_fields_name() -> None:
    wrong: Any = SyncGroupResponse(assignment="text")  # type: ignore[arg-type]
    with pytest.raises(EncodeError, match=r"SyncGroupResponse v5: Assignment is 'text', which does not fit bytes"):
        wrong.encode(5)


def test_ignorable_fields_are_left_out_where_the_version_lacks_them() -> None:
    request = JoinGroupRequest("g", rebalance_timeout_ms=5, reason="because")
    assert JoinGroupRequest.decode(request.encode(0), 0) == JoinGroupRequest("g")


def test_fields_come_back_in_the_order_of_their_tags() -> None:
    value = GroupMetadataValue(reason="r", unknown_tagged_fields=((2_000, b"b"), (7, b"a")))
    again = GroupMetadataValue.decode(value.encode(4), 4)
    assert again.unknown_tagged_fields == ((7, b"a"), (2_000, b"b"))
    assert again.encode(4) == value.encode(4)


def test_a_version_that_is_not_valid_is_not_read() -> None:
    with pytest.raises(DecodeError, match=r"^HeartbeatRequest has no version 9: valid are 0-4$"):
        HeartbeatRequest.decode(b"", 9)
