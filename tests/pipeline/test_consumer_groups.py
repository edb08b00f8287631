"""What do the tables say of consumer groups, whose every step is known? And are they what was true at each moment,
whatever consumers of both protocols do?
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from kcoord.group.state.topic import Topic
from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.schemas import DERIVED
from kcoord.protocol.consumer_embedded import encode_assignment
from kcoord.protocol.generated import consumer_group_current_member_assignment_value as record25
from kcoord.protocol.generated.consumer_group_topics_value import SeenTopic
from kcoord.protocol.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    ConsumerGroupTopicsKey,
    ConsumerGroupTopicsValue,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    Record,
)
from kcoord.sim.basis.run_kinds import CONSUMER
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.series.run import run_seed
from tests.group.consumer import test_any_history as any_history
from tests.group.consumer.classic_sides import VERSION, subscription
from tests.group.consumer.classic_world import by_topic
from tests.group.consumer.test_any_mixed_history import MixedHistory
from tests.group.consumer.world import GROUP, topic_id, topics
from tests.light import fewer
from tests.pipeline.consumer_story import ConsumerRecorder, consumers, there_and_back
from tests.pipeline.story import Written, entries, tables

SEEDS = 24
SIMULATED = fewer(30, 8)


@pytest.fixture(scope="module")
def written() -> Written:
    return consumers().written


def picked(rows: Sequence[Row], *names: str) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def stays(rows: Sequence[Row]) -> set[tuple[object, ...]]:
    """Who had which partition, and how that ended."""
    return {(row["member_id"], f"{row['connector']}{row['task']}", row["ended"]) for row in rows}


# -- the tables --------------------------------------------------------------------------------------------------------


def test_rows_have_the_columns_of_their_tables(written: Written) -> None:
    found = tables(entries(written))
    for table in DERIVED:
        for row in found.get(table.name, []):
            assert set(row) == {column.name for column in table.columns}, table.name
            assert row["protocol_type"] == "consumer"


def test_every_epoch_says_why_it_began_and_what_came_of_it(written: Written) -> None:
    found = tables(entries(written))
    assert picked(found["epochs"], "kind", "epoch", "detail", "members", "configured") == [
        ("consumer", 2, "consumer joined: a", 1, 4),
        ("consumer", 3, "consumer joined: b", 2, 4),
        ("consumer", 4, "session expired: b", 1, 4),
    ]
    counts = ("epoch", "moved", "granted", "stopped", "returned", "lost", "interrupted", "assignor")
    assert picked(found["rebalances"], *counts) == [
        (2, 4, 4, 0, 0, 0, 0, "uniform"),
        (3, 2, 2, 2, 0, 0, 1, "uniform"),
        (4, 2, 2, 0, 0, 2, 0, "uniform"),
    ]
    for row in found["rebalances"]:
        assert row["started"] <= row["installed"] <= row["converged"] == row["settled"]


def test_the_tables_say_the_same_as_the_group_s_own_history(written: Written) -> None:
    """What `kcoord groups explain` shows."""
    world = consumers()
    history = world.describe(with_history=True).history or []
    found = tables(entries(world.written))
    assert [
        (each.epoch, each.reason, each.timestamp_ms, each.installed_ms, each.converged_ms, each.moved_count)
        for each in history
    ] == picked(found["rebalances"], "epoch", "detail", "started", "installed", "converged", "moved")


def test_who_could_be_consuming_what(written: Written) -> None:
    found = tables(entries(written))
    assert stays(found["ownership"]) == {
        ("a", "A0", None),
        ("a", "A1", None),
        ("a", "A2", "released"),
        ("a", "A3", "released"),
        ("b", "A2", "gone"),
        ("b", "A3", "gone"),
        ("a", "A2", None),
        ("a", "A3", None),
    }
    assert {(row["speaks"], row["whole"]) for row in found["ownership"]} == {("consumer", True)}
    assert picked(found["sessions"], "member_id", "ended") == [("b", "session expired"), ("a", None)]
    assert picked(found["connectors"], "connector", "tasks", "to_at") == [("A", 4, None)]
    lost = [row for row in found["gaps"] if row["epoch"] == 4]
    assert picked(lost, "connector", "task", "from_member", "to_member", "reason") == [
        ("A", 2, "b", "a", "session expired"),
        ("A", 3, "b", "a", "session expired"),
    ]
    assert picked(found["balance"], "members", "configured", "owned", "most", "least")[-1] == (1, 4, 4, 4, 4)


def test_a_static_consumer_that_is_away_consumes_nothing_and_is_why() -> None:
    """KG-4: its partitions are kept for it, no epoch begins, and another process comes in its place."""
    world = ConsumerRecorder()
    world.join("a", instance_id="one")
    world.beat("a", -2, instance_id="one")
    open_gaps = tables(entries(world.written))["gaps"]
    assert {(row["reason"], row["from_member"], row["to_at"]) for row in open_gaps} == {("consumer away", "a", None)}
    world.pass_ms(2_000)
    world.join("b", connection=2, instance_id="one")
    found = tables(entries(world.written))
    assert {(row["reason"], row["to_member"], row["duration_ms"] >= 2_000) for row in found["gaps"]} == {
        ("consumer away", "b", True)
    }
    assert picked(found["epochs"], "epoch") == [(2,)]
    assert "audit" not in found
    world.compare(found)


def test_topics_grow_and_vanish_and_are_made_anew() -> None:
    """The same name is another topic then: what somebody still has of the former one nobody else waits for."""
    world = ConsumerRecorder(known=topics(A=1, B=1))
    world.join("a", "AB")
    world.beat("a", 2, "A0 B0")
    world.learn(topics(A=2, B=1))
    made_anew = {**topics(A=2), "B": Topic("B", topic_id("B", 1), 1)}
    world.learn(made_anew)
    world.learn({"B": made_anew["B"]})
    found = tables(entries(world.written))
    assert picked(found["connectors"], "connector", "tasks") == [("A", 1), ("A", 2), ("B", 1)]
    assert {row["detail"] for row in found["epochs"]} == {
        "consumer joined: a",
        "topics changed: A",
        "topics changed: B",
    }
    assert "audit" not in found
    world.compare(found)


def test_nobody_consumes_while_the_group_is_empty() -> None:
    """What the last consumers subscribed to is missed until the next one comes."""
    world = ConsumerRecorder()
    world.join("a")
    world.leave("a")
    world.pass_ms(60_000)
    world.join("b", connection=2)
    found = tables(entries(world.written))
    assert {(row["reason"], row["from_member"], row["to_member"]) for row in found["gaps"]} == {
        ("consumer left", "a", "b")
    }
    assert all(row["duration_ms"] >= 60_000 for row in found["gaps"])
    assert picked(found["connectors"], "connector", "tasks", "to_at") == [("A", 4, None)]


def test_a_topic_that_claims_to_be_huge_is_not_believed(written: Written) -> None:
    huge = Record(ConsumerGroupTopicsKey(GROUP), ConsumerGroupTopicsValue([SeenTopic("A", topic_id("A"), 2**31 - 1)]))
    found = tables(entries([*written, (written[-1][0] + 5, [huge])]))
    assert found["balance"][-1]["configured"] == 0


# -- classic groups ----------------------------------------------------------------------------------------------------


def generation(number: int, **members: tuple[str, str]) -> Record:
    """A generation of a classic group: what each member said that it goes on consuming, and what it was assigned."""
    seats = [
        MemberMetadata(
            each,
            None,
            "app",
            "/10.0.0.1",
            30_000,
            10_000,
            subscription("A", by_topic(reported)),
            encode_assignment(VERSION, by_topic(assigned)),
        )
        for each, (reported, assigned) in members.items()
    ]
    value = GroupMetadataValue("consumer", number, "cooperative-sticky", next(iter(members)), 1_000, seats)
    return Record(GroupMetadataKey(GROUP), value)


def test_what_a_cooperative_leader_keeps_back_is_nobody_s_until_the_next_round() -> None:
    """It is not deleted, although the leader gave it to nobody: who had it must let go of it first."""
    steps = [
        generation(1, m1=("", "A0 A1")),
        generation(2, m1=("A0 A1", "A0"), m2=("", "")),
        generation(3, m1=("A0", "A0"), m2=("", "A1")),
        generation(4, m1=("A0", "A0"), m2=("A1", "")),
        generation(5, m1=("A0", "A0"), m2=("", "")),
    ]
    found = tables(entries([(1_000 * at, [each]) for at, each in enumerate(steps, 1)]))
    assert stays(found["ownership"]) == {
        ("m1", "A0", None),
        ("m1", "A1", "released"),
        ("m2", "A1", "released"),
    }
    assert picked(found["gaps"], "task", "from_at", "to_at", "from_member", "to_member") == [
        (1, 2_000, 3_000, "m1", "m2")
    ]
    assert picked(found["rebalances"], "epoch", "granted", "stopped", "assignor") == [
        (1, 2, 0, "cooperative-sticky"),
        (2, 0, 1, "cooperative-sticky"),
        (3, 1, 0, "cooperative-sticky"),
        (4, 0, 1, "cooperative-sticky"),
        (5, 0, 0, "cooperative-sticky"),
    ]


# -- conversions -------------------------------------------------------------------------------------------------------


def test_a_classic_group_becomes_a_consumer_group_and_back() -> None:
    """Epochs go on, one member stays all the time, and what it keeps it keeps through both conversions."""
    world, classic = there_and_back()
    found, me = tables(entries(world.written)), classic.member_id
    assert picked(found["epochs"], "kind", "epoch", "reason") == [
        ("generic", 1, "member joined"),
        ("consumer", 1, "migrated from a classic group"),
        ("consumer", 2, "consumer joined"),
        ("consumer", 3, "consumer left"),
        ("generic", 3, "all its consumers speak the classic protocol"),
        ("generic", 4, "all its consumers speak the classic protocol"),
    ]
    assert picked(found["sessions"], "member_id", "incarnation", "ended") == [
        ("n", 1, "consumer left"),
        (me, 1, None),
    ]
    assert stays(found["ownership"]) == {
        (me, "A0", None),
        (me, "A1", None),
        (me, "A2", "released"),
        (me, "A3", "released"),
        ("n", "A2", "gone"),
        ("n", "A3", "gone"),
        (me, "A2", None),
        (me, "A3", None),
    }
    lost = [row for row in found["gaps"] if row["from_member"] == "n"]
    assert {(row["reason"], row["to_member"]) for row in lost} == {("consumer left", me)}
    assert all(row["duration_ms"] >= 1_000 for row in lost)
    assert {row["incarnation"] for rows in found.values() for row in rows} == {1}
    assert "audit" not in found
    world.compare(found)


def test_an_empty_group_s_name_is_taken_by_another_kind() -> None:
    world, classic = there_and_back()
    classic.go()
    world.join("n2", connection=9)
    found = tables(entries(world.written))
    assert [row["kind"] for row in found["epochs"]][-2:] == ["generic", "consumer"]
    assert [row["member_id"] for row in found["sessions"] if row["ended"] is None] == ["n2"]
    assert "audit" not in found
    world.compare(found)


# -- the audit ---------------------------------------------------------------------------------------------------------


def current(member: str, partitions: Sequence[int], epoch: int) -> Record:
    told = [record25.TopicPartitions(topic_id("A"), list(partitions))]
    value = ConsumerGroupCurrentMemberAssignmentValue(epoch, 0, 0, told, [])
    return Record(ConsumerGroupCurrentMemberAssignmentKey(GROUP, member), value)


def said(member: str, **fields: Any) -> Record:
    value = ConsumerGroupMemberMetadataValue(client_id="app", subscribed_topic_names=["A"], **fields)
    return Record(ConsumerGroupMemberMetadataKey(GROUP, member), value)


def findings(written: Written, *forged: Record) -> list[tuple[object, ...]]:
    rows = tables(entries([*written, (written[-1][0] + 5, list(forged))])).get("audit", [])
    return picked(rows, "finding", "connector", "task", "member_ids")


def test_what_must_never_be_is_found(written: Written) -> None:
    assert findings(written) == []
    assert findings(written, said("z"), current("z", [1], 4)) == [("double owner", "A", 1, ["a", "z"])]
    assert findings(written, current("a", [0, 1, 2], 4)) == [("gap", "A", 3, ["a"])]
    assert findings(written, current("a", [0, 1, 2, 3], 2)) == [("epoch back", None, None, ["a"])]
    back = Record(ConsumerGroupMetadataKey(GROUP), ConsumerGroupMetadataValue(3, reason="forged"))
    assert findings(written, back) == [("epoch back", None, None, [])]
    early = ConsumerGroupTargetAssignmentMetadataValue(7, 0, "uniform")
    assert ("bad install", None, None, []) in findings(
        written, Record(ConsumerGroupTargetAssignmentMetadataKey(GROUP), early)
    )


def test_findings_name_partitions(written: Written) -> None:
    [row] = tables(entries([*written, (written[-1][0] + 5, [current("a", [0, 1, 2], 4)])]))["audit"]
    assert row["what"] == "nobody could be running partition A-3, which is configured, and the group is at rest"


def test_what_compaction_took_is_not_made_up() -> None:
    """Also where a group was converted: no false findings, whatever is left."""
    for world in (consumers(), there_and_back()[0]):
        log = entries(world.written)
        for point in range(len(log) + 1):
            last = {str(each.record.key): each.offset for each in log[:point]}
            left = [each for at, each in enumerate(log) if at >= point or last[str(each.record.key)] == each.offset]
            found = tables(left)
            assert "audit" not in found, f"compacted up to {point}: {found['audit']}"
            assert _open(found["ownership"]) == _open(tables(log)["ownership"]), point


def _open(rows: Sequence[Row]) -> set[tuple[object, ...]]:
    return {each for each in stays(rows) if each[-1] is None}


# -- whatever happens --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [any_history.History, MixedHistory], ids=["new protocol", "with classic consumers"])
@pytest.mark.parametrize("seed", range(fewer(SEEDS, 6)))
def test_the_tables_are_what_was_true(
    seed: int, kind: type[any_history.History], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_history, "World", ConsumerRecorder)
    history = kind(Random(seed), holds=seed % 2 == 1)
    for _ in range(any_history.EVENTS):
        history.play()
    history.come_to_rest()
    world = history.world
    assert isinstance(world, ConsumerRecorder)
    found = tables(entries(world.written))
    world.compare(found)
    assert "audit" not in found


def test_no_finding_in_simulated_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with faults, and with topics that are heard of late or from a cluster: they have their own judges."""
    written: Written = []
    start = Coordinator.__init__

    def noted(self: Coordinator, *arguments: Any) -> None:
        start(self, *arguments)
        commit = self.storage.commit

        def kept(records: Sequence[Record]) -> None:
            written.append((self.wall_ms, list(records)))
            commit(records)

        monkeypatch.setattr(self.storage, "commit", kept)

    monkeypatch.setattr(Coordinator, "__init__", noted)
    owned = 0
    for seed in range(SIMULATED):
        written.clear()
        assert run_seed(seed, kind=CONSUMER).violation is None
        found = tables(entries(written))
        assert "audit" not in found, f"seed {seed}: {found['audit']}"
        owned += len(found.get("ownership", ()))
    assert owned > SIMULATED


def test_the_histories_have_groups_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the comparison above would prove little."""
    monkeypatch.setattr(any_history, "World", ConsumerRecorder)
    kinds, speak, moments = set[tuple[str, str]](), set[str](), 0
    for seed in range(10):
        history = MixedHistory(Random(seed), holds=seed % 2 == 1)
        for _ in range(any_history.EVENTS):
            history.play()
        assert isinstance(history.world, ConsumerRecorder)
        found = tables(entries(history.world.written))
        moments += history.world.compare(found)
        order = [row["kind"] for row in found["epochs"]]
        kinds |= set(pairwise(order))
        speak |= {row["speaks"] for row in found["sessions"]}
    assert {("generic", "consumer"), ("consumer", "generic")} <= kinds
    assert speak == {"consumer", "legacy", "generic"}
    assert moments > 100
