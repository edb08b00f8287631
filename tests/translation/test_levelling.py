"""Does a leader need one round to give to a newcomer what others have too much of, and what if it does not play along?

(`kcoord/group/translation/levelling.py`; legacy rules 4, 10, 18.)
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from kcoord.protocol.messages import SyncGroupRequest
from kcoord.protocol.resources import Resource
from tests.sim.legacy.house import Call
from tests.translation.fleet import SETTLED_MS, Fleet
from tests.translation.test_stories import assert_well


class Slow(Fleet):
    """A fleet whose leaders' assignments come late, or as somebody has changed them."""

    late_ms = 0
    change: Callable[[SyncGroupRequest], SyncGroupRequest] | None = None

    def arrive(self, call: Call) -> None:
        """A request has come."""
        request = call.request
        if isinstance(request, SyncGroupRequest) and request.assignments:
            if self.late_ms:
                late_ms, self.late_ms = self.late_ms, 0
                self.events.after(late_ms, self.arrive, call)
                return
            if self.change is not None:
                call, self.change = attrs.evolve(call, request=self.change(request)), None
        super().arrive(call)


def runs_of(fleet: Fleet, name: str) -> frozenset[Resource]:
    """What a worker runs."""
    return next(host.runs for host in fleet.alive if host.name == name)


def until_the_leader_listens(fleet: Fleet) -> None:
    """Its heartbeat's answer is kept back: it hears at once that it is to compute."""
    leader = fleet.group.members[fleet.group.computed_by or ""]
    for _ in range(400):
        if leader.held is not None:
            return
        fleet.run(10)
    raise AssertionError("the leader's heartbeats are not kept back")


def only_its_own(request: SyncGroupRequest) -> SyncGroupRequest:
    """The leader has something to say to itself alone."""
    return attrs.evolve(
        request, assignments=[each for each in request.assignments if each.member_id == request.member_id]
    )


def settled(workers: int, connectors: int, tasks: int) -> Slow:
    """A fleet at rest."""
    fleet = Slow()
    fleet.configure(**{f"c{number}": tasks for number in range(connectors)})
    for number in range(workers):
        fleet.worker(f"w{number}")
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    fleet.mark()
    return fleet


@pytest.mark.parametrize(("workers", "connectors", "tasks"), [(3, 3, 4), (5, 1, 14), (4, 12, 2)])
def test_the_leader_joins_once_and_whoever_gives_twice(workers: int, connectors: int, tasks: int) -> None:
    fleet = settled(workers, connectors, tasks)
    before = {host.name: host.runs for host in fleet.hosts}
    newcomer = fleet.worker("new")
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    givers = {name for name, runs in before.items() if name != "new" and runs_of(fleet, name) != runs}
    leader = next(host.name for host in fleet.alive if host.worker.leads)
    # who gives stops, and comes to say so; a leader that gives does so in the round that follows
    assert fleet.new_joins() == {"new": 1, leader: 1, **dict.fromkeys(givers, 2)}
    sizes = [len(host.runs) for host in fleet.alive]
    assert max(sizes) - min(sizes) <= 2  # connectors and tasks each for themselves
    assert newcomer.runs


def test_what_the_leader_does_not_deal_out_stays_where_it_is() -> None:
    fleet = settled(3, 3, 4)
    before = {host.name: host.runs for host in fleet.hosts}
    until_the_leader_listens(fleet)
    fleet.change = only_its_own
    fleet.worker("new")
    fleet.run(200)
    assert vars(fleet)["change"] is None
    assert {name: runs_of(fleet, name) for name in before} == before
    assert not fleet.stops()
    fleet.run(SETTLED_MS)
    assert fleet.all_run_once()
    assert not fleet.doubles


def test_who_returns_while_the_leader_computes_keeps_what_it_got_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legacy rules 18, 21: the leader has not seen it; what it has been given back is configured all the same."""
    fleet = settled(4, 4, 3)
    had = fleet.hosts[2].runs
    leaver = fleet.hosts[2]
    hang_up = leaver.hang_up
    monkeypatch.setattr(leaver, "hang_up", lambda: fleet.events.after(20, hang_up))  # its LeaveGroup is answered before
    until_the_leader_listens(fleet)
    fleet.late_ms = 400
    leaver.do(leaver.worker.leave(fleet.events.now_ms))
    fleet.run(50)
    back = fleet.worker("w2")
    fleet.run(150)
    assert not fleet.late_ms
    assert back.runs == had
    fleet.run(250)
    assert back.runs == had
    fleet.run(SETTLED_MS)
    assert back.runs == had
    assert_well(fleet)
