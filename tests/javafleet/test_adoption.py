"""Does a live Connect fleet move behind kcoord and back to the brokers without a stop or a lost record? AD-6 and on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.run_cli import kcoord
from tests.javafleet.conftest import BARRIER, INDIVIDUAL, Stage, StageMaker, Watch
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import overlaps, running
from tests.javafleet.numbers import Numbered, Numbers
from tests.kafka.cluster import KafkaCluster
from tests.kafka.wait import NotYet, eventually

WORKERS = ("w1", "w2")
CONNECTORS, TASKS = ("a", "b"), 3
SINK, SINK_GROUP, SINK_TOPIC, PARTITIONS = "sink", "connect-sink", "numbers-for-sinks", 4
DELAY_S = 30
AT_LEAST_ONCE, EXACTLY_ONCE = "at least once", "exactly once"
ADOPTED, RELEASED = "is kcoord's now: adopted", "is the cluster's again"


def move(stage: Stage, bootstrap: str) -> None:
    """Give each worker another address to begin with, one after the other, each time with a restart."""
    stage.fleet.bootstrap = bootstrap
    for name in WORKERS:
        bounce(stage.fleet, name)


def bounce(fleet: JavaFleet, name: str) -> None:
    fleet.stop(name)
    fleet.start(name)
    fleet.wait_until_quiet()


def wait_until_said(stage: Stage, what: str, times: int, group: str = "") -> None:
    """kcoord has logged of the group `what`, so often by now. The fleet's own, if no group is named."""
    line = f"group {group or stage.fleet.group} {what}"
    eventually(lambda: stage.kcoord.log.read_text().count(line) == times, f"{line}, {times} times")


def create_sources(fleet: JavaFleet, topic: str, delivery: str) -> None:
    """Connectors whose tasks write 0, 1, 2, … and go on where their source offset says."""
    settings = {"exactly_once_support": "required"} if delivery == EXACTLY_ONCE else {}
    for name in CONNECTORS:
        fleet.create(name, TASKS, topic=topic, **settings)
    fleet.wait_until_quiet()


def check_adopted(stage: Stage, watch: Watch, mode: str) -> None:
    figures = watch.figures()
    stage.check_soundness()
    assert not figures.stopped
    if mode == BARRIER:
        assert figures.rejoined() == set(), "nobody has to join for it"
    else:
        assert len(figures.rejoined()) <= 1, "only the leader joins, which is asked what exists"


def check_released(watch: Watch, protocol: str) -> None:
    """One ordinary rebalance: each worker joins once, and those of the eager protocol stop their tasks for it."""
    figures = watch.figures()
    assert figures.rejoined() == set(WORKERS)
    if protocol != "eager":
        assert not figures.stopped
        assert set(figures.joins.values()) == {1}


def check_written(written: dict[str, list[int]], delivery: str) -> None:
    """Of each task each number: once, or at least once."""
    assert len(written) == len(CONNECTORS) * TASKS
    for task, numbers in written.items():
        wanted = list(range(max(numbers) + 1))
        assert (numbers if delivery == EXACTLY_ONCE else sorted(set(numbers))) == wanted, task


@pytest.mark.parametrize(
    ("version", "mode", "protocol", "delivery"),
    [
        (None, BARRIER, "compatible", AT_LEAST_ONCE),
        pytest.param(None, BARRIER, "sessioned", EXACTLY_ONCE, marks=pytest.mark.proof),
        pytest.param(None, INDIVIDUAL, "sessioned", EXACTLY_ONCE, marks=pytest.mark.proof),
        pytest.param(None, INDIVIDUAL, "compatible", AT_LEAST_ONCE, marks=pytest.mark.proof),
        pytest.param(None, BARRIER, "eager", AT_LEAST_ONCE, marks=pytest.mark.proof),
        pytest.param("3.9.1", INDIVIDUAL, "sessioned", EXACTLY_ONCE, marks=pytest.mark.proof),
        pytest.param("2.8.2", INDIVIDUAL, "sessioned", AT_LEAST_ONCE, marks=pytest.mark.proof),
    ],
)
def test_in_and_out_without_a_stop(
    make_stage: StageMaker,
    start_kafka: Callable[..., KafkaCluster],
    version: str | None,
    mode: str,
    protocol: str,
    delivery: str,
) -> None:
    """In worker by worker, adopted, a worker bounced, released, adopted again, released, and out worker by worker.
    Workers and brokers are of the same version.
    """
    settings = {"exactly_once_source_support": "enabled"} if delivery == EXACTLY_ONCE else {}
    upstream = None if version is None else start_kafka(version=version)
    group = f"moves-{mode}-{protocol}"
    stage = make_stage(group, DELAY_S, mode, version, upstream=upstream, connect_protocol=protocol, **settings)
    fleet = stage.fleet
    topic = f"numbers-{fleet.group}"
    stage.kafka.create_topic(topic)
    behind, fleet.bootstrap = fleet.bootstrap, stage.kafka.bootstrap
    fleet.start(*WORKERS)
    with Numbers.of(stage.kafka, topic) as numbers:
        create_sources(fleet, topic, delivery)
        move(stage, behind)
        wait_until_said(stage, ADOPTED, 1)
        watch = Watch(fleet)
        fleet.wait_until_quiet()
        check_adopted(stage, watch, mode)
        bounce(fleet, WORKERS[0])

        owners = fleet.wait_until_quiet()
        for times in (1, 2):
            watch = Watch(fleet)
            stage.ask("config", "set", "gateway.owner=cluster")
            wait_until_said(stage, RELEASED, times)
            assert fleet.wait_until_quiet() == owners
            check_released(watch, protocol)
            if times == 1:
                watch = Watch(fleet)
                stage.ask("config", "set", "gateway.owner=kcoord")
                wait_until_said(stage, ADOPTED, 2)
                assert fleet.wait_until_quiet() == owners
                check_adopted(stage, watch, mode)

        move(stage, stage.kafka.bootstrap)
        stage.kcoord.stop()
        gone = Watch(fleet)
        fleet.wait_until_quiet()
        assert gone.figures().rejoined() == set()
        assert overlaps(fleet.notes.runs()) == []
        for name in CONNECTORS:
            fleet.delete(name)
        eventually(lambda: not running(fleet.notes.runs()), "all have stopped")
        check_written(numbers.all_by_task(), delivery)


@pytest.mark.proof
def test_the_group_of_a_sink_moves_with_its_workers(make_stage: StageMaker) -> None:
    """Its tasks are consumers of a group of their own, which is adopted and released too: each record comes once."""
    stage = make_stage("moves-sinks", DELAY_S, BARRIER, more_groups=[SINK_GROUP])
    fleet, kafka = stage.fleet, stage.kafka
    kafka.create_topic(SINK_TOPIC, PARTITIONS)
    received = fleet.folder / "received"
    load = Numbered(kafka, SINK_TOPIC, PARTITIONS)
    load.start()
    behind, fleet.bootstrap = fleet.bootstrap, kafka.bootstrap
    fleet.start(*WORKERS)
    fleet.create(SINK, TASKS, topics=SINK_TOPIC, received=received)
    fleet.wait_until_quiet()
    move(stage, behind)
    for group in (fleet.group, SINK_GROUP):
        wait_until_said(stage, ADOPTED, 1, group)
    owners = fleet.wait_until_quiet()
    for times in (1, 2):
        for group in (SINK_GROUP, fleet.group):
            assert kcoord("groups", "release", group, "--bootstrap-server", stage.kcoord.bootstrap).code == 0
            wait_until_said(stage, RELEASED, times, group)
        assert fleet.wait_until_quiet() == owners, "no task was stopped"
        if times == 1:
            for group in (SINK_GROUP, fleet.group):
                assert kcoord("groups", "adopt", group, "--bootstrap-server", stage.kcoord.bootstrap).code == 0
                wait_until_said(stage, ADOPTED, 2, group)
            assert fleet.wait_until_quiet() == owners
    move(stage, kafka.bootstrap)
    load.end()

    def all_came() -> bool:
        numbers = sorted(map(int, received.read_text().split()))
        if missing := set(range(load.count)) - set(numbers):
            raise NotYet(f"{len(missing)} of {load.count} are missing")
        return numbers == list(range(load.count))

    assert eventually(all_came, "all have come"), "some have come twice"
