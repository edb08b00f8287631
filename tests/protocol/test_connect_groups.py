"""Are the messages and records of connect groups on the wire what their schemas say?

No other program speaks them, so the bytes here were worked out by hand from the schema language: a compact text or list
begins with its length plus one (0 is null), a struct ends with its tagged fields as count, then tag, size and content
of each. Round trips of any value are proved in ``test_codec`` and ``test_records``, with everybody else's messages.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcoord.protocol.generated import connect_group_describe_response as describe
from kcoord.protocol.generated import connect_group_heartbeat_request as beat
from kcoord.protocol.generated import connect_group_heartbeat_response as beaten
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.generated import connect_group_prepare_assignment_response as prepared
from kcoord.protocol.generated import connect_worker_group_configuration_value as configuration
from kcoord.protocol.generated import connect_worker_group_connectors_tasks_metadata_value as configured
from kcoord.protocol.generated import connect_worker_group_current_member_assignment_value as current
from kcoord.protocol.generated import connect_worker_group_history_value as history
from kcoord.protocol.generated import connect_worker_group_member_metadata_value as member
from kcoord.protocol.generated import connect_worker_group_target_assignment_member_value as target
from kcoord.protocol.message_base import Message
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
)
from kcoord.protocol.records import (
    ConnectWorkerGroupConfigurationKey,
    ConnectWorkerGroupConnectorsTasksMetadataKey,
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupHistoryKey,
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    ConnectWorkerGroupTargetAssignmentKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
    ConnectWorkerGroupTargetAssignmentValue,
    Record,
    decode_record,
    encode_record,
)
from kcoord.protocol.resources import misnamed, pack, unpack
from kcoord.resource import Resource, connector, task

A_AND_TASK_1 = frozenset({connector("a"), task("a", 1)})
PACKED = "02 0202 61 0202 61 00000001 00 00"
"""One entry: connectors [a], tasks [(a, 1)]."""

MESSAGES: list[tuple[Message, str]] = [
    (
        beat.ConnectGroupHeartbeatRequest(
            "g",
            "m",
            0,
            None,
            60_000,
            None,
            [beat.Assignor("eager", -1, 2, 3, 1, b"\xab")],
            [],
            url="u",
            config_offset=7,
            configured_connectors_and_tasks=pack(A_AND_TASK_1, beat.ConnectorsAndTasks, beat.ConnectorTaskId),
            max_wait_ms=500,
        ),
        "02 67  02 6d  00000000  00  0000ea60  00"
        "02 06 6561676572 ffff 0002 03 0001 02 ab 00  01"
        f"04  00 02 02 75  01 08 0000000000000007  02 0d {PACKED}  03 04 000001f4",
    ),
    (
        beat.ConnectGroupHeartbeatRequest("g", "m", 5),
        "02 67  02 6d  00000005  00  ffffffff  00  00  00  00",
    ),
    (
        beaten.ConnectGroupHeartbeatResponse(
            0,
            32100,
            "go",
            4,
            5_000,
            beaten.Assignment(0, pack(A_AND_TASK_1, beaten.ConnectorsAndTasks, beaten.ConnectorTaskId), 2, b""),
            session_timeout_ms=45_000,
        ),
        f"00000000  7d64  03 676f  00000004  00001388  01 00 {PACKED} 0002 01 00  01 00 04 0000afc8",
    ),
    (
        beaten.ConnectGroupHeartbeatResponse(member_epoch=4, heartbeat_interval_ms=5_000),
        "00000000  0000  00  00000004  00001388  ff  00",
    ),
    (ConnectGroupPrepareAssignmentRequest("g", "m", 3), "02 67  02 6d  00000003  00"),
    (
        prepared.ConnectGroupPrepareAssignmentResponse(
            group_epoch=9,
            assignor_name="eager",
            members=[prepared.Member("m", 8, "i", prepared.Assignor(1, 0, b"x"), [], url="u")],
            config_offset=7,
            configured_connectors_and_tasks=[],
            departed=[prepared.Departed("n", None, "v", [])],
            remaining_delay_ms=0,
            rebalance_delay_ms=300_000,
        ),
        "00000000  0000  00  00000009  06 6561676572"
        "02  02 6d 00000008 02 69  0001 00 02 78 00  01  01 00 02 02 75"
        "05  00 08 0000000000000007  01 01 01  02 08 02 02 6e 00 02 76 01 00  03 04 00000000  04 04 000493e0",
    ),
    (
        install.ConnectGroupInstallAssignmentRequest(
            "g",
            "m",
            3,
            9,
            0,
            [install.Member("m", pack(A_AND_TASK_1, install.ConnectorsAndTasks, install.ConnectorTaskId), 1, b"x")],
            scheduled_delay_ms=300_000,
        ),
        f"02 67  02 6d  00000003  00000009  00  02  02 6d {PACKED} 0001 02 78 00  01 00 04 000493e0",
    ),
    (ConnectGroupInstallAssignmentResponse(0, 32101, "no"), "00000000  7d65  03 6e6f  00"),
    (ConnectGroupDescribeRequest(["g", "h"], True), "03 02 67 02 68  01  00"),
    (
        describe.ConnectGroupDescribeResponse(
            groups=[
                describe.DescribedGroup(
                    group_id="g",
                    group_state="Stable",
                    group_epoch=3,
                    assignment_epoch=2,
                    assignor_name="eager",
                    members=[
                        describe.Member(
                            *("m", None, "c", "/h", "u", 2, "Stable", 60_000, 45_000),
                            owned=pack(A_AND_TASK_1, describe.ConnectorsAndTasks, describe.ConnectorTaskId),
                        )
                    ],
                    departed=[describe.Departed("n", "i", None, [])],
                    history=[describe.HistoryEntry(3, "joined", 1, 2, -1, 1, [describe.Move("", "m", [])])],
                )
            ]
        ),
        "00000000  02"
        "0000 00 02 67 07 537461626c65 00000003 00000002 06 6561676572"
        f"02 02 6d 00 02 63 03 2f68 02 75 00000002 07 537461626c65 0000ea60 0000afc8 {PACKED} 01 01 01 00"
        "00 ffffffffffffffff 00"
        "02 02 6e 02 69 00 01 00"
        "ffffffff 00 00 80000000"
        "02 00000003 07 6a6f696e6564 0000000000000001 0000000000000002 ffffffffffffffff 00000001"
        "02 01 02 6d 01 00  00"
        "00  00",
    ),
]


@pytest.mark.parametrize(("message", "written"), MESSAGES, ids=lambda value: getattr(value, "NAME", ""))
def test_a_message_is_these_bytes(message: Message, written: str) -> None:
    assert message.encode(0).hex() == bytes.fromhex(written).hex()
    assert type(message).decode(bytes.fromhex(written), 0) == message


RECORDS: list[tuple[Record, str, str]] = [
    (
        Record(ConnectWorkerGroupMetadataKey("g"), ConnectWorkerGroupMetadataValue(5, "joined", 9)),
        "0003 0001 67",
        "0000 00000005 02 00 07 07 6a6f696e6564 01 08 0000000000000009",
    ),
    (
        Record(
            ConnectWorkerGroupConnectorsTasksMetadataKey("g"),
            configured.ConnectWorkerGroupConnectorsTasksMetadataValue(
                5, pack(A_AND_TASK_1, configured.ConnectorsTasks, configured.ConnectorTaskId), 7
            ),
        ),
        "0004 0001 67",
        f"0000 00000005 {PACKED} 01 00 08 0000000000000007",
    ),
    (
        Record(
            ConnectWorkerGroupMemberMetadataKey("g", "m"),
            member.ConnectWorkerGroupMemberMetadataValue(
                5, "i", "c", "/h", [member.Assignor("eager", 0, 2, 0, 1, b"x")], "u", 60_000, 45_000, "uniform"
            ),
        ),
        "0005 0001 67 0001 6d",
        "0000 00000005 02 69 02 63 03 2f68 02 06 6561676572 0000 0002 00 0001 02 78 00 02 75 0000ea60 0000afc8"
        "01 00 08 08 756e69666f726d",
    ),
    (
        Record(
            ConnectWorkerGroupTargetAssignmentKey("g"),
            ConnectWorkerGroupTargetAssignmentValue(5, "m", "eager", 9, 1, "no"),
        ),
        "0006 0001 67",
        "0000 00000005 05 00 02 02 6d 01 06 06 6561676572 02 08 0000000000000009 03 01 01 04 03 03 6e6f",
    ),
    (
        Record(
            ConnectWorkerGroupCurrentMemberAssignmentKey("g", "m"),
            current.ConnectWorkerGroupCurrentMemberAssignmentValue(
                5, 0, pack(A_AND_TASK_1, current.ConnectorsTasks, current.ConnectorTaskId), 1, b"x", 4, True
            ),
        ),
        "0007 0001 67 0001 6d",
        f"0000 00000005 00 {PACKED} 0001 02 78 02 00 04 00000004 01 01 01",
    ),
    (
        Record(
            ConnectWorkerGroupConfigurationKey("g"),
            configuration.ConnectWorkerGroupConfigurationValue([configuration.Configuration("a.b", "1")]),
        ),
        "0008 0001 67",
        "0000 02 04 612e62 02 31 00 00",
    ),
    (
        Record(
            ConnectWorkerGroupTargetAssignmentMemberKey("g", "m"),
            target.ConnectWorkerGroupTargetAssignmentMemberValue(
                0, pack(A_AND_TASK_1, target.ConnectorsTasks, target.ConnectorTaskId), 1, b"", "i", "u"
            ),
        ),
        "0009 0001 67 0001 6d",
        f"0000 00 {PACKED} 0001 01 02 00 02 02 69 01 02 02 75",
    ),
    (
        Record(
            ConnectWorkerGroupHistoryKey("g", 5),
            history.ConnectWorkerGroupHistoryValue(
                "left",
                1,
                2,
                -1,
                2,
                [history.Move("m", "n", pack(A_AND_TASK_1, history.ConnectorsTasks, history.ConnectorTaskId))],
            ),
        ),
        "000a 0001 67 00000005",
        f"0000 05 6c656674 0000000000000001 0000000000000002 ffffffffffffffff 0000000202 02 6d 02 6e {PACKED} 00 00",
    ),
]


@pytest.mark.parametrize(("record", "key", "value"), RECORDS, ids=lambda value: getattr(value, "key", value) and "")
def test_a_record_is_these_bytes(record: Record, key: str, value: str) -> None:
    written_key, written_value = encode_record(record)
    assert written_key.hex() == bytes.fromhex(key).hex()
    assert written_value is not None
    assert written_value.hex() == bytes.fromhex(value).hex()
    assert decode_record(bytes.fromhex(key), bytes.fromhex(value)) == record
    assert decode_record(bytes.fromhex(key), None) == Record(record.key, None), "a tombstone"


def test_every_record_type_from_3_to_10_has_its_bytes_here() -> None:
    assert [record.key.API_KEY for record, _, _ in RECORDS] == list(range(3, 11))


# --- resources

RESOURCES = st.frozensets(st.builds(Resource, st.text("ab-ß", min_size=1, max_size=3), st.integers(-1, 2**31 - 1)))


@given(RESOURCES)
def test_resources_come_back_from_any_message(resources: frozenset[Resource]) -> None:
    request = beat.ConnectGroupHeartbeatRequest(
        connectors_and_tasks=pack(resources, beat.ConnectorsAndTasks, beat.ConnectorTaskId)
    )
    again = beat.ConnectGroupHeartbeatRequest.decode(request.encode(0), 0).connectors_and_tasks
    assert again is not None
    assert unpack(again) == resources
    assert misnamed(again) is None
    assert unpack(pack(resources, history.ConnectorsTasks, history.ConnectorTaskId)) == resources


def test_the_same_resources_are_the_same_bytes() -> None:
    resources = [(f"c{n}", task) for n in range(20) for task in range(-1, 5)]
    written = set()
    for seed in range(5):
        random.Random(seed).shuffle(resources)
        entries = pack(frozenset(resources), target.ConnectorsTasks, target.ConnectorTaskId)
        written.add(target.ConnectWorkerGroupTargetAssignmentMemberValue(connectors_tasks=entries).encode(0))
    assert len(written) == 1


def test_nothing_is_no_entry_and_several_entries_are_their_union() -> None:
    assert pack(frozenset(), beat.ConnectorsAndTasks, beat.ConnectorTaskId) == []
    assert unpack([]) == frozenset()
    entries = [
        beat.ConnectorsAndTasks(["a"], []),
        beat.ConnectorsAndTasks([], [beat.ConnectorTaskId("a", 1)]),
        beat.ConnectorsAndTasks(["a"], [beat.ConnectorTaskId("a", 1)]),
    ]
    assert unpack(entries) == A_AND_TASK_1


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (beat.ConnectorsAndTasks([""]), "a connector's name is empty"),
        (beat.ConnectorsAndTasks([], [beat.ConnectorTaskId("", 1)]), "'' has no task 1"),
        (beat.ConnectorsAndTasks([], [beat.ConnectorTaskId("a", -1)]), "'a' has no task -1"),
    ],
)
def test_what_is_no_resource_is_named(entry: beat.ConnectorsAndTasks, says: str) -> None:
    assert misnamed([beat.ConnectorsAndTasks(["a"]), entry]) == says
