"""Does the page speak of consumers and partitions where a group has them, and does what-if say that it cannot?"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.report.costs import costs, moves
from kcoord.pipeline.report.member_words import UNOWNED_OF_ALL
from kcoord.pipeline.report.page import page
from kcoord.pipeline.report.reading import read
from kcoord.pipeline.schemas import RECORDS
from kcoord.pipeline.whatif.reading import read as read_for_whatif
from tests.group.consumer.world import GROUP, topics
from tests.pipeline.consumer_story import ConsumerRecorder, consumers, there_and_back
from tests.pipeline.story import entries, tables
from tests.pipeline.test_report import joined, renamed, words, write


def page_of(place: Path) -> str:
    return words("".join(page(read(place))))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tables"), tables(entries(consumers().written)))


def test_the_page_speaks_of_consumers_and_partitions(place: Path) -> None:
    text = page_of(place)
    assert ": session expired: app-b. It was at rest after " in text
    assert "something was consumed by nobody; 0 stopped, 2 lost, 2 started." in text
    assert "app-a → app-b: A-2, A-3" in text
    for said in (
        "Who could be consuming what",
        "Consumers that caused most",
        "partition-seconds nobody consumed",
        "The consumers that the reasons name.",
    ):
        assert said in text, said
    assert "worker" not in text.lower()
    assert "task-seconds" not in text


def test_a_page_of_both_speaks_of_both(tmp_path: Path) -> None:
    found = joined(tables(entries(consumers().written)), renamed("workers", "copy", "w"))
    text = page_of(write(tmp_path / "t", found))
    assert UNOWNED_OF_ALL in text
    assert "Who could be consuming what" in text
    assert "Who could be running what" in text


def test_what_it_cost_and_what_moved(place: Path) -> None:
    [group] = read(place).groups
    told = [[(each.giver, each.taker, len(each.resources)) for each in its] for its in moves(group)]
    assert told == [[(None, "app-a", 4)], [("app-a", "app-b", 2)], [("app-b", "app-a", 2)]]
    assert [(name, each.rebalances, each.stopped, each.lost) for name, each in costs(group).by_worker] == [
        ("app-b", 2, 2, 2),
        ("app-a", 1, 0, 0),
    ]


def test_topics_are_not_members_that_caused_something(tmp_path: Path) -> None:
    world = ConsumerRecorder(known=topics(A=1))
    world.join("a")
    world.learn(topics(A=2))
    [group] = read(write(tmp_path / "t", tables(entries(world.written)))).groups
    found = costs(group)
    assert {name for name, _ in found.by_reason} == {"consumer joined", "topics changed"}
    assert [name for name, _ in found.by_worker] == ["app-a"]


def test_a_static_consumer_that_was_away_is_a_cause(tmp_path: Path) -> None:
    world = ConsumerRecorder()
    world.join("a", instance_id="one")
    world.beat("a", -2, instance_id="one")
    world.pass_ms(5_000)
    world.join("b", connection=2, instance_id="one")
    [group] = read(write(tmp_path / "t", tables(entries(world.written)))).groups
    found = costs(group)
    assert [name for name, _ in found.by_worker] == ["one"]
    assert dict(found.by_reason)["consumer away"].longest_ms >= 5_000


def test_members_that_would_have_one_name_keep_their_ids(tmp_path: Path) -> None:
    world = ConsumerRecorder()
    for at, member in enumerate(("first-0001", "other-0001", "third-0003")):
        world.join(member, connection=at + 1)
    [group] = read(write(tmp_path / "t", tables(entries(world.written)))).groups
    assert [group.called(each) for each in ("first-0001", "other-0001", "third-0003")] == [
        "first-0001",
        "other-0001",
        "app-0003",
    ]


def test_a_group_that_was_converted_has_a_page(tmp_path: Path) -> None:
    text = page_of(write(tmp_path / "t", tables(entries(there_and_back()[0].written))))
    assert "migrated from a classic group" in text
    assert "all its consumers speak the classic protocol" in text


# -- what-if -----------------------------------------------------------------------------------------------------------


def with_records(place: Path) -> Path:
    (place / RECORDS.name).mkdir()
    at = pa.array([0], pa.timestamp("us", tz="UTC"))
    parquet.write_table(pa.table({"at": at}), place / RECORDS.name / "part-0.parquet")
    return place


def test_what_if_leaves_groups_of_consumers_out(tmp_path: Path) -> None:
    """The only group of workers need not be named, and a group of consumers is refused with what there is instead."""
    found = joined(tables(entries(consumers().written)), renamed("workers", "copy", "w"))
    both = with_records(write(tmp_path / "both", found))
    assert read_for_whatif(both, None)[0] == "workers"
    with pytest.raises(PipelineError, match=f"{GROUP} is a group of consumers: only what Connect workers did"):
        read_for_whatif(both, GROUP)
    alone = with_records(write(tmp_path / "alone", tables(entries(there_and_back()[0].written))))
    with pytest.raises(PipelineError, match="has no group of Connect workers that ever ran anything"):
        read_for_whatif(alone, None)
