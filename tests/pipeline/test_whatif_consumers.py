"""Does what-if assign a consumer group's history as kcoord itself would have, and does it say when it cannot know?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import attrs
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.pipeline.history.entry import NAMES, Entry, epoch_of, group_of, member_of
from kcoord.pipeline.schemas import RECORDS
from kcoord.pipeline.whatif.consumer_assignments import (
    AssignmentChoice,
    AssignmentComparison,
    AssignmentCosts,
    answer,
    moments_of,
)
from kcoord.protocol.records import ConsumerGroupTargetAssignmentMemberValue, Record, encode_record
from tests.cli.run_cli import kcoord
from tests.group.consumer import test_any_history as any_history
from tests.group.consumer.test_any_mixed_history import MixedHistory
from tests.group.consumer.world import GROUP, topics
from tests.light import fewer
from tests.pipeline.consumer_story import ConsumerRecorder, consumers, there_and_back
from tests.pipeline.story import entries, tables
from tests.pipeline.test_report import joined, renamed, write

SEEDS = 24
BOTH = ("uniform", "range")


def asked(
    log: Sequence[Entry], intervals_ms: Sequence[int] = (0,), assignors: Sequence[str] = BOTH
) -> AssignmentComparison:
    found = answer(list(moments_of(GROUP, log)), assignors, intervals_ms)
    assert found is not None
    return found


def of(found: AssignmentComparison, assignor: str, interval_ms: int = 0) -> AssignmentCosts:
    return dict(found.choices)[AssignmentChoice(assignor, interval_ms)]


def start_one_after_the_other(interval_ms: int) -> ConsumerRecorder:
    """Three consumers within a second; later one leaves, another process replaces one, and the topic grows."""
    settings = ConsumerSettings(heartbeat_wait_ms=0, assignment_interval_ms=interval_ms)
    world = ConsumerRecorder(settings, topics(A=6))
    for at, member in enumerate("abc"):
        world.join(member, connection=at + 1)
        world.now_ms += 200
    world.pass_ms(10_000)
    world.leave("b", connection=2)
    world.pass_ms(300)
    world.join("d", connection=4)
    world.pass_ms(300)
    world.learn(topics(A=8))
    world.pass_ms(10_000)
    return world


@pytest.mark.parametrize("interval_ms", [500, 1_000, 5_000])
def test_what_would_have_been_is_what_is_then(interval_ms: int) -> None:
    """The same consumers, once with each interval: what-if foretells the second log from the first."""
    found = asked(entries(start_one_after_the_other(0).written), (0, interval_ms))
    then = asked(entries(start_one_after_the_other(interval_ms).written))
    assert found.recorded == of(found, "uniform")
    foretold = of(found, "uniform", interval_ms)
    assert attrs.evolve(foretold, unassigned_ms=0) == attrs.evolve(then.recorded, unassigned_ms=0)
    assert foretold.unassigned_ms == pytest.approx(then.recorded.unassigned_ms, abs=8 * 100)  # a step takes 10 ms here
    assert foretold.assignments < found.recorded.assignments
    assert then.recorded.unassigned_ms > 0


def test_the_figures_of_a_story() -> None:
    found = asked(entries(consumers().written))
    assert found.recorded == AssignmentCosts(assignments=3, handed_over=2, taken_up=6, unassigned_ms=0)
    assert found.recorded == of(found, "uniform")
    assert (found.assignors, found.differs_ms) == (["uniform"], None)


def test_what_a_classic_group_told_is_where_it_begins() -> None:
    """Two of four partitions go to the newcomer, and nothing is taken up that nobody had."""
    found = asked(entries(there_and_back()[0].written))
    assert found.recorded == AssignmentCosts(assignments=1, handed_over=2, taken_up=0, unassigned_ms=0)
    assert found.recorded == of(found, "uniform")


def test_a_static_consumer_that_returns_has_what_it_had() -> None:
    world = ConsumerRecorder()
    world.join("a", instance_id="one")
    world.join("b", connection=2)
    world.beat("a", -2, instance_id="one")
    world.join("c", connection=3, instance_id="one")
    world.learn(topics(A=5))
    found = asked(entries(world.written))
    assert found.recorded.handed_over == of(found, "uniform").handed_over == 2
    assert found.differs_ms is None


@pytest.mark.parametrize("kind", [any_history.History, MixedHistory], ids=["new protocol", "with classic consumers"])
@pytest.mark.parametrize("seed", range(fewer(SEEDS, 8)))
def test_every_assignment_is_made_again(
    seed: int, kind: type[any_history.History], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever consumers, topics and loads do: the recorded assignors make the recorded assignments. If one assignor
    made them all, it is also the choice that costs the same.
    """
    monkeypatch.setattr(any_history, "World", ConsumerRecorder)
    history = kind(Random(seed), holds=seed % 2 == 1)
    for _ in range(any_history.EVENTS):
        history.play()
    assert isinstance(history.world, ConsumerRecorder)
    found = answer(list(moments_of(GROUP, entries(history.world.written))), BOTH, (0,))
    if found is None:
        return
    assert found.differs_ms is None
    if len(found.assignors) == 1:
        assert of(found, found.assignors[0]) == found.recorded


def test_assignments_that_kcoord_does_not_make_are_noticed() -> None:
    """Two members' targets are swapped: then nobody knows how they came to be."""
    log = entries(consumers().written)

    def swapped(record: Record) -> Record:
        value = record.value
        if not isinstance(value, ConsumerGroupTargetAssignmentMemberValue):
            return record
        mirrored = [
            attrs.evolve(each, partitions=[3 - at for at in each.partitions]) for each in value.topic_partitions
        ]
        return Record(record.key, attrs.evolve(value, topic_partitions=mirrored))

    forged = [Entry(each.partition, each.offset, each.at_ms, swapped(each.record)) for each in log]
    second = tables(log)["epochs"][1]["at"]
    assert asked(forged).differs_ms == second


def test_a_compacted_log_counts_from_where_nothing_is_missing() -> None:
    log = entries(consumers().written)
    point = next(each.offset for each in log if each.at_ms >= tables(log)["epochs"][2]["at"])
    last = {str(each.record.key): each.offset for each in log if each.offset < point}
    left = [each for each in log if each.offset >= point or last[str(each.record.key)] == each.offset]
    found = asked(left)
    assert found.recorded == AssignmentCosts(assignments=1, handed_over=0, taken_up=2, unassigned_ms=0)
    assert found.differs_ms is None


# -- the command -------------------------------------------------------------------------------------------------------


def write_all(place: Path, log: Sequence[Entry], *others: dict[str, list[dict[str, object]]]) -> Path:
    """The derived tables, and `records`, as a stream leaves it."""
    write(place, joined(tables(log), *others))
    columns: dict[str, Callable[[Entry], object]] = {
        "partition": lambda each: each.partition,
        "offset": lambda each: each.offset,
        "at": lambda each: each.at_ms * 1000,
        "type": lambda each: each.record.key.API_KEY,
        "name": lambda each: NAMES[each.record.key.API_KEY],
        "group_id": lambda each: group_of(each.record),
        "member_id": lambda each: member_of(each.record),
        "epoch": lambda each: epoch_of(each.record),
        "tombstone": lambda each: each.record.value is None,
        "key": lambda each: encode_record(each.record)[0],
        "value": lambda each: encode_record(each.record)[1],
    }
    made = {name: pa.array([of_entry(each) for each in log]) for name, of_entry in columns.items()}
    made["at"] = made["at"].cast(pa.timestamp("us", tz="UTC"))
    (place / RECORDS.name / "batch=0").mkdir(parents=True)
    parquet.write_table(pa.table(made), place / RECORDS.name / "batch=0" / "part-0.parquet")
    return place


def test_the_command(tmp_path: Path) -> None:
    place = write_all(tmp_path / "t", entries(start_one_after_the_other(0).written))
    done = kcoord("pipeline", "whatif", "--tables", place, "--interval", 0, "--interval", 5, "--assignor", "uniform")
    assert done.code == 0, done.err
    heading, names, _, recorded, first, second = done.out.splitlines()
    assert heading.startswith(f"{GROUP}: 6 assignments by uniform from 2023-11-14 ")
    assert names.split("  ")[0] == "ASSIGNOR"
    assert recorded.split()[:2] == ["recorded", "6"]
    assert sorted((first.split()[1], second.split()[1])) == ["0", "5"]
    assert int(first.split()[4]) <= int(second.split()[4])


def failed(*arguments: object) -> str:
    done = kcoord("pipeline", "whatif", *arguments)
    assert (done.code != 0, done.out) == (True, "")
    return " ".join(done.err.split())


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    place = write_all(tmp_path / "t", entries(consumers().written), renamed("workers", "copy", "w"))
    assert "g is a group of consumers: it has assignors (--assignor)" in failed(
        "--tables", place, "-g", GROUP, "--delay", 30
    )
    assert "These options are for Connect workers: --seeds, --session" in failed(
        "--tables", place, "-g", GROUP, "--session", 30, "--seeds", 3, "--interval", 1
    )
    assert "an interval of -1 is not between 0 and 3,600 seconds" in failed(
        "--tables", place, "-g", GROUP, "--interval", -1
    )
    assert "--out is missing" in failed("--tables", place)
    assert "are for consumer groups" in failed("--tables", place, "--out", tmp_path / "o", "--interval", 1)
