"""Does `verify` find what is wrong with a log, and nothing else?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kcoord.group.log_verification import Finding, Verifier
from kcoord.group.partition_of_group import partition_of
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Metadata, Target
from kcoord.group.state.records import connect_records as records
from kcoord.protocol.records import (
    ConnectWorkerGroupHistoryKey,
    ConnectWorkerGroupHistoryValue,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    encode_record,
)
from kcoord.resource import Resource, connector, task
from kcoord.sim.world import World

Steps = Sequence[Sequence[Record]]
A, A0 = connector("a"), task("a", 0)


def found(steps: Steps, partitions: int = 1) -> list[tuple[int | None, str]]:
    """What `verify` says of these steps, in partition 0."""
    verifier = Verifier(0, partitions)
    findings: list[Finding] = []
    position = 0
    for step in steps:
        for record in step:
            findings += verifier.see(position, record)
            position += 1
        findings += verifier.step_done()
    findings += verifier.end()
    return [(each.position, each.what) for each in findings]


def compacted(steps: Steps, until: int) -> Steps:
    """As Kafka's cleaner leaves it: of the first so many steps the last record of each key, tombstones too."""
    last = {encode_record(record)[0]: record for step in steps[:until] for record in step}
    kept = {id(record) for record in last.values()}
    return [[record for record in step if id(record) in kept] for step in steps[:until]] + list(steps[until:])


@pytest.mark.parametrize("seed", range(40))
def test_what_the_coordinator_writes_is_sound(seed: int) -> None:
    """Whole, and compacted up to any place: what is gone by then is not missed."""
    world = World(seed)
    world.run()
    log = [list(batch.records) for batch in world.coordinator.storage.batches if batch.complete]
    assert log
    for until in (0, len(log) // 3, len(log) * 2 // 3, len(log)):
        assert found(compacted(log, until)) == []


# -- logs that no coordinator writes -----------------------------------------------------------------------------------


def metadata(epoch: int) -> Record:
    return records.group_epoch(ConnectGroup("g"), epoch, "", 0)


def said(member_id: str) -> Record:
    return records.member_metadata("g", member_id, Metadata())


def target(member_id: str, *resources: Resource) -> Record:
    return records.member_target("g", member_id, Target(frozenset(resources)))


def assigned(epoch: int) -> Record:
    return records.target_assignment(ConnectGroup("g"), None, "", -1, epoch=epoch)


def current(member_id: str, epoch: int, *resources: Resource) -> Record:
    member = ConnectMember(member_id, Metadata())
    return records.current_assignment(ConnectGroup("g"), member, frozenset(resources), epoch, -1)


def classic(generation: int, state: str, *members: str, leader: str | None = None, group: str = "g") -> Record:
    """`members` as ID or ID/INSTANCE."""
    parts = [name.partition("/") for name in members]
    each = [MemberMetadata(member_id=name, group_instance_id=instance or None) for name, _, instance in parts]
    value = GroupMetadataValue("consumer", generation, "range", leader, 1, each, state=state)
    return Record(GroupMetadataKey(group), value)


SOUND = [metadata(1), said("W1"), said("W2"), assigned(1), target("W1", A, A0), current("W1", 1, A, A0)]
ELSEWHERE = next(name for name in map(str, range(99)) if partition_of(name, 4) == 3)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        pytest.param([SOUND], [], id="a sound group"),
        pytest.param(
            [SOUND, [current("W1", 1, A)]],
            ["None connect group g: W1 is at the assignment epoch 1 and does not own its target (CG-10)"],
            id="not its whole target",
        ),
        pytest.param(
            [SOUND, [current("W2", 0, A0)], [current("W1", 0, A)]],
            ["6 connect group g: task a-0 is in the current of W1 and of W2 (CG-2)"],
            id="two owners for one step",
        ),
        pytest.param([SOUND, [current("W2", 0, A0), current("W1", 0, A)]], [], id="within a step nobody looks"),
        pytest.param(
            [SOUND, [current("W2", 0, A)]],
            [
                "6 connect group g: connector a is in the current of W1 and of W2 (CG-2)",
                "None connect group g: connector a is in the current of W1 and of W2 (CG-2)",
            ],
            id="two owners to the end",
        ),
        pytest.param(
            [[*SOUND, target("W2", A0)]],
            ["None connect group g: task a-0 is in the target of W1 and of W2"],
            id="targets",
        ),
        pytest.param(
            [SOUND, [metadata(5)], [metadata(4)]], ["7 group g: the group epoch goes back from 5 to 4"], id="epoch"
        ),
        pytest.param(
            [[metadata(9), said("W1"), assigned(3), assigned(2)]],
            ["3 group g: the assignment epoch goes back from 3 to 2"],
            id="assignment epoch",
        ),
        pytest.param(
            [[metadata(9), said("W1"), assigned(9), current("W1", 4), current("W1", 3)]],
            ["4 group g: the member epoch of member W1 goes back from 4 to 3"],
            id="member epoch",
        ),
        pytest.param(
            [[metadata(9), said("W1"), assigned(9), current("W1", 4)], [current("W1", 0)]], [], id="a member joins anew"
        ),
        pytest.param(
            [[metadata(2), said("W1"), assigned(3)]],
            ["None connect group g: its assignment epoch 3 is above the group's 2 (CG-10)"],
            id="assigned ahead",
        ),
        pytest.param(
            [[metadata(3), said("W1"), assigned(2), current("W1", 3)]],
            ["None connect group g: W1 is at 3, above the assignment epoch 2"],
            id="a member ahead",
        ),
        pytest.param(
            [SOUND, [current("W3", 0)]],
            ["None connect group g: W3 has a current assignment and is no member"],
            id="current of nobody",
        ),
        pytest.param(
            [[said("W1")]], ["None connect group g: there are records of it, but none of the group"], id="no group"
        ),
        pytest.param(
            [[metadata(2)]], ["None connect group g: it has no members, and group epoch 2 at assignment"], id="empty"
        ),
        pytest.param(
            [[*SOUND, Record(ConnectWorkerGroupHistoryKey("g", 3), ConnectWorkerGroupHistoryValue())]],
            ["None connect group g: the group epoch is 1, and its history has epochs 3"],
            id="history",
        ),
        pytest.param([[classic(3, "Stable", "m1", "m2/i", leader="m1")], [classic(4, "Empty")]], [], id="generic"),
        pytest.param(
            [[classic(3, "Empty")], [classic(2, "Empty")]],
            ["1 group g: the generation goes back from 3 to 2"],
            id="generation",
        ),
        pytest.param(
            [[classic(3, "Stable", "m1", leader="m2")]], ["None group g: its leader m2 is no member"], id="leader"
        ),
        pytest.param([[classic(3, "Stable", "m", "m")]], ["None group g: a member is there twice: ['m']"], id="twice"),
        pytest.param(
            [[classic(3, "Stable", "m/i", "n/i")]],
            ["None group g: two members have one group.instance.id"],
            id="static",
        ),
        pytest.param([[classic(3, "Empty", "m")]], ["None group g: it is Empty and has 1 members"], id="Empty"),
        pytest.param([[classic(3, "Stable")]], ["None group g: it is Stable and has no members"], id="Stable"),
        pytest.param(
            [[*SOUND, classic(3, "Empty")]], ["None g is a classic group and a connect group at once"], id="both"
        ),
        pytest.param([[*SOUND, Record(OffsetCommitKey("g", "t", 0), OffsetCommitValue())]], [], id="offsets of it"),
    ],
)  # fmt: skip
def test_faults(steps: Steps, says: list[str]) -> None:
    told = [f"{position} {what}" for position, what in found(steps)]
    assert len(told) == len(says), told
    for each, beginning in zip(told, says, strict=True):
        assert beginning in each


def test_a_group_in_another_partition() -> None:
    assert found([[classic(3, "Empty", group=ELSEWHERE)]], partitions=4) == [
        (0, f"group {ELSEWHERE} belongs to partition 3")
    ]
