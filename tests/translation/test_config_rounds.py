"""Does a change of configuration come about as Connect relies on? All have stopped the reconfigured tasks before any
starts them anew (CM-25); and it costs no more rounds than with Kafka's own coordinator.
"""

from __future__ import annotations

import pytest

from kcoord.resource import Resource
from tests.translation.fleet import SETTLED_MS, Fleet
from tests.translation.mixed_fleet import Fleet as MixedFleet
from tests.translation.test_stories import assert_well


class Watched(Fleet):
    """A fleet that notes with which task configurations each task runs."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, int] = {}
        self.revisions: dict[tuple[str, Resource], int] = {}
        self.mixed: list[str] = []
        """Where a task ran by a new configuration while another of its connector ran by an elder one."""

    def judge(self) -> None:
        """Somebody has started something."""
        super().judge()
        for host in self.hosts:
            for resource in host.started[self.seen.get(host.name, 0) :]:
                self.revisions[host.name, resource] = host.worker._configs.revisions.get(resource.connector, 0)
            self.seen[host.name] = len(host.started)
        by_connector: dict[str, set[int]] = {}
        for host in self.hosts:
            for resource in host.runs:
                if not resource.is_connector:
                    by_connector.setdefault(resource.connector, set()).add(self.revisions[host.name, resource])
        self.mixed += [
            f"{name} at {self.events.now_ms}: {found}" for name, found in by_connector.items() if len(found) > 1
        ]


def settled() -> Watched:
    """Three workers at rest."""
    fleet = Watched()
    fleet.configure(a=6, b=4)
    for name in ("w0", "w1", "w2"):
        fleet.worker(name)
    fleet.run(2 * SETTLED_MS)
    assert_well(fleet)
    assert not fleet.mixed
    fleet.mark()
    return fleet


@pytest.mark.parametrize("tasks", [6, 8, 3])
def test_reconfigured_tasks_are_stopped_by_all_before_any_starts_them_anew(tasks: int) -> None:
    fleet = settled()
    fleet.configure(a=tasks)
    fleet.run(2 * SETTLED_MS)
    assert_well(fleet)
    assert not fleet.mixed
    joins = fleet.new_joins()
    assert all(1 <= count <= 3 for count in joins.values())


def test_one_that_hears_late_is_called_and_waited_for() -> None:
    """CM-22. Told of more than it has read, it would do nothing until it has read on, or leave the group."""
    fleet = settled()
    late = fleet.hosts[2]
    late.reads = False
    fleet.configure(a=6)
    fleet.run(5_000)
    assert opened_for_certain(fleet)
    assert fleet.new_joins()[late.name] == 1, "it is called"
    assert late.worker.stable, "and goes on with what it runs"
    late.reads = True
    late.hear(fleet.topic.newest)
    fleet.run(100)
    assert fleet.group.classic.round is None
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    assert not fleet.mixed


@pytest.mark.parametrize("gap_ms", [5, 15, 40, 200, 1_500])
def test_a_second_change_while_the_first_is_on_its_way(gap_ms: int) -> None:
    fleet = settled()
    fleet.configure(a=6)
    fleet.run(gap_ms)
    fleet.configure(a=6)
    fleet.run(2 * SETTLED_MS)
    assert_well(fleet)
    newest = fleet.topic.newest.revisions["a"]
    runs = [
        (host.name, each)
        for host in fleet.alive
        for each in host.runs
        if each.connector == "a" and not each.is_connector
    ]
    assert {fleet.revisions[each] for each in runs} == {newest}, "all were started anew after the second one, too"
    assert max(fleet.new_joins().values()) <= 4


def test_a_deleted_connector_is_started_by_nobody_again() -> None:
    """A follower that came before the leader restarted a removed task for 3 s, answered at once."""
    fleet = settled()
    begun = {host.name: len(host.started) for host in fleet.hosts}
    fleet.topic.remove("b")
    fleet.tell()
    fleet.run(2 * SETTLED_MS)
    assert_well(fleet)
    assert not [each for host in fleet.hosts for each in host.started[begun[host.name] :] if each.connector == "b"]


def opened_for_certain(fleet: Watched) -> bool:
    """A round is open that ends only when all have come; not one that waits 0.7 s for whether others come."""
    config_round = fleet.group.classic.round
    return config_round is not None and config_round.is_certain


def test_what_moves_once_tasks_were_deleted_costs_the_leader_few_joins() -> None:
    """It clears the status of what was deleted in a join that it makes anyway (CM-41). Asked while work was
    to move, it could be told nothing for a heartbeat interval, and joined six times.
    """
    fleet = Fleet()
    others = {f"c{number}": 3 for number in range(4)}
    fleet.configure(**others, more=5)
    for number in range(5):
        fleet.worker(f"w{number}")
    fleet.run(2 * SETTLED_MS)
    fleet.mark()
    fleet.configure(**others, more=3)
    fleet.run(2 * SETTLED_MS)
    assert_well(fleet)
    assert max(fleet.new_joins().values()) <= 4


def test_a_session_key_opens_no_round() -> None:
    fleet = settled()
    fleet.topic.put_session_key()
    fleet.tell()
    fleet.run(100)
    assert fleet.group.classic.round is None
    fleet.worker("w3")
    fleet.run(100)
    assert not opened_for_certain(fleet)
    fleet.run(1_000)
    assert fleet.group.classic.round is None
    fleet.run(SETTLED_MS)
    assert_well(fleet)


def test_a_worker_that_dies_in_a_round_keeps_nobody_for_longer_than_the_round() -> None:
    fleet = settled()
    fleet.hosts[1].kill()
    fleet.configure(a=6)
    fleet.run(10_500)
    assert fleet.group.classic.round is None
    fleet.run(3 * SETTLED_MS)
    assert_well(fleet)


def test_a_round_that_changes_nothing_but_tasks_ends_beside_a_leader_of_the_new_protocol_too() -> None:
    """The set is the same, so nobody computes; all the same the leader has read as far."""
    fleet = MixedFleet()
    fleet.configure(a=6, b=4)
    for name in ("w0", "w1"):
        fleet.worker(name)
    fleet.new("n0")
    fleet.run(3 * SETTLED_MS)
    assert fleet.group.computed_by == "new-n0"
    fleet.configure(a=6)
    fleet.run(3_000)
    assert fleet.group.classic.round is None
    fleet.run(2 * SETTLED_MS)
    assert fleet.all_run_once()
    assert not fleet.doubles
