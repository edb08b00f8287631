"""What happens to a fleet of real workers? The events that the tests and the benchmark let it go through.

Mostly five of them, the sixth is added, and 6 connectors of 5 tasks at the beginning; each event ends where the next
begins.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tests.cli.run_cli import kcoord
from tests.javafleet.figures import Figures, Watch
from tests.javafleet.fleet import JavaFleet
from tests.kafka.wait import let_pass

WORKERS, CONNECTORS, TASKS = 6, 6, 5
AWAY_S = 3.0
"""How long a worker is away that was killed, before it is started again."""


@attrs.frozen
class Event:
    """One event: `happens` does it and says which worker it is about, "" for none."""

    name: str
    happens: Callable[[JavaFleet], str]
    role: str = ""
    """What that worker is in it."""


@attrs.frozen
class Seen:
    """An event that a fleet went through."""

    event: Event
    leader: str
    """The leader at the event's beginning."""
    concerned: str
    figures: Figures


def begin(fleet: JavaFleet, workers: int = WORKERS - 1, connectors: int = CONNECTORS, tasks: int = TASKS) -> None:
    """So many workers run so many connectors with their tasks, each created by another worker."""
    names = [f"w{number}" for number in range(1, workers + 1)]
    fleet.start(*names)
    for number in range(connectors):
        fleet.create(f"c{number}", tasks, by=names[number % workers])
    fleet.wait_until_quiet()


def let_happen(fleet: JavaFleet, event: Event) -> Seen:
    """One event, until nobody joins any more."""
    leader, watch = fleet.leader(), Watch(fleet)
    concerned = event.happens(fleet)
    fleet.wait_until_quiet()
    return Seen(event, leader, concerned, watch.figures())


def _added(fleet: JavaFleet) -> str:
    """One that is not there: started again, or new."""
    ended = (worker.name for worker in fleet.workers.values() if not worker.running)
    name = next(ended, f"w{len(fleet.workers) + 1}")
    fleet.start(name)
    return name


def _created(fleet: JavaFleet) -> str:
    fleet.create("more", TASKS, by=fleet.follower())
    return ""


def _reconfigured(fleet: JavaFleet) -> str:
    fleet.reconfigure("c1", by=fleet.follower())
    return ""


def _fewer(fleet: JavaFleet) -> str:
    fleet.reconfigure("more", TASKS - 2, by=fleet.follower())
    return ""


def _deleted(fleet: JavaFleet) -> str:
    fleet.delete("more", by=fleet.follower())
    return ""


def _back(fleet: JavaFleet, name: str) -> str:
    fleet.kill(name)
    let_pass(AWAY_S)
    fleet.start(name)
    return name


def _rolling(fleet: JavaFleet) -> str:
    for worker in fleet.alive:
        fleet.stop(worker.name)
        fleet.start(worker.name)
    return ""


def _drained(fleet: JavaFleet) -> str:
    """As docs/restart-a-fleet.md says."""
    for worker in fleet.alive:
        group = ("--bootstrap-server", fleet.bootstrap, fleet.group)
        done = kcoord("workers", "drain", *group, worker.url, "--until-restart", "--wait")
        assert done.code == 0, done.err
        fleet.stop(worker.name)
        fleet.start(worker.name)
    return ""


def _killed(fleet: JavaFleet) -> str:
    follower = fleet.follower()
    fleet.kill(follower)
    return follower


ADDED = Event("a worker is added", _added, "new")
CREATED = Event("a connector of 5 tasks is created", _created)
RECONFIGURED = Event("a connector is reconfigured", _reconfigured)
FEWER = Event("a connector has 3 tasks, not 5", _fewer)
DELETED = Event("a connector is deleted", _deleted)
FOLLOWER_BACK = Event("a follower is killed, and back", lambda fleet: _back(fleet, fleet.follower()), "killed")
LEADER_BACK = Event("the leader is killed, and back", lambda fleet: _back(fleet, fleet.leader()), "killed")
ROLLING = Event("rolling bounce of all", _rolling)
DRAINED = Event("rolling restart of all by drains", _drained)
"""For a fleet behind kcoord only."""
KILLED = Event("a follower is killed, and not back", _killed, "killed")
ADDED_AGAIN = Event("it is started again, late", _added, "new")

IN_TURN = (ADDED, CREATED, RECONFIGURED, FEWER, DELETED, FOLLOWER_BACK, LEADER_BACK, KILLED, ADDED_AGAIN)
"""What the benchmark lets one fleet go through."""
