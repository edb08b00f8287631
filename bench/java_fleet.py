"""What does an event cost a fleet of real Connect workers: behind kcoord one by one, and on Kafka's broker?

The events of tests/javafleet/events.py, by unmodified Java workers with connectors that note when they are started and
stopped; first on the broker itself, then with kcoord, which owns the fleet's group, in front of the same broker. Six
workers go through most of the events, one after the other; another fleet, of seven, is restarted as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from tests.javafleet import events
from tests.javafleet.events import Seen
from tests.javafleet.figures import Restart, restarts
from tests.javafleet.fleet import DEADLINE_S, HEARTBEAT_MS, SESSION_MS, JavaFleet
from tests.javafleet.joins import joining_since
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java

DELAY_S = 60
MOST_OVER_RESTART_S = 1.0
SEVEN, LONG_DELAY_S = 7, 300
"""The fleet that is restarted as a whole, and its `scheduled.rebalance.max.delay.ms`: Connect's own default."""
MOST_OVER_BOUNCE_S = 0.5
MOST_JOINS = 4
HAND_OVER_S = 1.0
OURS, THEIRS = "kcoord, individual", "Kafka 4.3 broker"


@attrs.frozen
class Bounced:
    """A rolling bounce of all workers of a fleet."""

    seen: Seen
    restarts: Sequence[Restart]
    before: Mapping[str, str]
    """Who ran each connector and task before."""
    after: Mapping[str, str]

    @property
    def kept(self) -> int:
        """How many connectors and tasks run, in the end, where they ran before."""
        return sum(self.after[resource] == worker for resource, worker in self.before.items())

    @property
    def joins(self) -> float:
        """JoinGroups of all workers, for each worker."""
        return sum(self.seen.figures.joins.values()) / len(self.restarts)

    @property
    def over_restart_s(self) -> float:
        """How much longer than its worker was away a task ran nowhere, the worst."""
        return max(each.nowhere_ms - each.away_ms for each in self.restarts) / 1000

    @property
    def late_s(self) -> float:
        """How long after its worker had asked to be a member a task was started again, the worst."""
        return max(each.late_ms for each in self.restarts) / 1000


def run(folder: Path) -> Outcome:
    """All events on both sides."""
    found: dict[str, list[Seen]] = {}
    killed: dict[str, float] = {}
    bounced: dict[str, Bounced] = {}
    with kafka(folder) as broker:
        for side in (THEIRS, OURS):
            with fleet_of(side, folder, broker.cluster, "fleet", DELAY_S) as fleet:
                events.begin(fleet)
                found[side] = []
                for event in events.IN_TURN:
                    seen = events.let_happen(fleet, event)
                    found[side].append(seen)
                    if event is events.FOLLOWER_BACK:
                        killed[side] = restart_s(fleet, seen)
        for side in (THEIRS, OURS):
            with fleet_of(side, folder, broker.cluster, "seven", LONG_DELAY_S) as fleet:
                events.begin(fleet, SEVEN, SEVEN)
                bounced[side] = bounce(fleet)
                if side == OURS:
                    drained = events.let_happen(fleet, events.DRAINED)
    return outcome(found, killed, bounced, drained)


@contextmanager
def fleet_of(side: str, folder: Path, cluster: KafkaCluster, name: str, delay_s: int) -> Iterator[JavaFleet]:
    """A fleet without workers yet."""
    group = f"{name}-kcoord" if side == OURS else f"{name}-kafka"
    settings = {"scheduled.rebalance.max.delay.ms": delay_s * 1000}
    front = (
        kcoord_of(cluster, folder / f"{name}-front", [group], group_connect_classic_mode="individual")
        if side == OURS
        else None
    )
    bootstrap = front.bootstrap if front else cluster.bootstrap
    patience_s = delay_s + DEADLINE_S
    fleet = JavaFleet(Java.find(), folder / group, bootstrap, group, settings, patience_s=patience_s)
    try:
        yield fleet
    finally:
        fleet.remove()
        if front:
            front.remove()


def restart_s(fleet: JavaFleet, seen: Seen) -> float:
    """From the kill of the event's worker until it, started again, asked to be a member."""
    worker = fleet.workers[seen.concerned]
    return (joining_since(worker.log, seen.figures.began_ms) - seen.figures.began_ms) / 1000


def bounce(fleet: JavaFleet) -> Bounced:
    """Stop each worker in order and start it again, one after the other."""
    before = fleet.owners()
    seen = events.let_happen(fleet, events.ROLLING)
    return Bounced(seen, restarts(fleet, seen.figures.began_ms), before, fleet.owners())


# -- the figures -------------------------------------------------------------------------------------------------------


def outcome(
    found: Mapping[str, Sequence[Seen]], killed: Mapping[str, float], bounced: Mapping[str, Bounced], drained: Seen
) -> Outcome:
    """What was reached."""
    columns = [
        "event",
        "coordinator",
        "JoinGroups by worker",
        "in all",
        "changed nothing",
        "tasks stopped",
        "needlessly",
        "moved in the end",
        "longest nowhere",
        "until all run",
    ]
    rows = [
        _row(each, side) for pair in zip(*found.values(), strict=True) for side, each in zip(found, pair, strict=True)
    ]
    of_seven = [*(_row(each.seen, side) for side, each in bounced.items()), _row(drained, OURS)]
    totals = [_total(side, seen) for side, seen in found.items()]
    return Outcome(
        "Six real Connect workers, and seven that are restarted",
        f"Unmodified workers of Connect 4.3 (`sessioned`), session timeout {SESSION_MS // 1000} s, heartbeat every "
        f"{HEARTBEAT_MS // 1000} s; all JVMs share the machine with the broker. Six workers have {events.CONNECTORS} "
        f"connectors with {events.TASKS} tasks each and a `scheduled.rebalance.max.delay.ms` of {DELAY_S} s. The "
        f"rolling bounce and the restart by drains are of another fleet, on both sides: {SEVEN} workers, {SEVEN} "
        f"connectors with {events.TASKS} tasks each, {LONG_DELAY_S} s. A worker that is killed is started again after "
        f"{events.AWAY_S:.0f} s; in the rolling bounce the next is stopped when the last is healthy. A restart is from "
        "the worker's SIGTERM until its next process asks to be a member, by its log. JoinGroups are those that a "
        'worker has come out of, by its log ("Joined group at generation"); one that changed nothing left the worker '
        "with what it ran before. Stops are those of workers that do not end themselves; needless is one after which "
        "the task runs, in the end, where it ran before with the same configuration, and each but a task's first. "
        "Times are the tasks' own notes, in one file.",
        [
            _of_two_at_once([*found[OURS], bounced[OURS].seen, drained]),
            *_claims(found, killed),
            *_of_bounces(bounced),
            _of_drains(drained, bounced),
        ],
        [
            Table(columns, rows),
            Table(["over all these events", *columns[3:8]], totals),
            Table(["of seven workers", *columns[1:]], of_seven),
            _restarts(bounced),
        ],
    )


def _row(seen: Seen, side: str) -> list[str]:
    figures = seen.figures
    return [
        seen.event.name,
        side,
        joins_text(seen),
        str(sum(figures.joins.values())),
        str(figures.idle_joins),
        str(len(figures.stopped)),
        str(len(figures.needless)),
        str(len(figures.moved)),
        f"{figures.nowhere_ms / 1000:.1f} s",
        f"{figures.until_ms / 1000:.1f} s",
    ]


def joins_text(seen: Seen) -> str:
    """Such as "leader 2, new 1, others 0 0 0 0"."""
    left = dict(seen.figures.joins)
    parts = []
    if seen.concerned != seen.leader:
        parts.append(f"leader {left.pop(seen.leader, 0)}")
    if seen.concerned:
        role = f"{seen.event.role} leader" if seen.concerned == seen.leader else seen.event.role
        parts.append(f"{role} {left.pop(seen.concerned, 0)}")
    return ", ".join([*parts, f"others {' '.join(map(str, sorted(left.values(), reverse=True)))}"])


def _total(side: str, seen: Sequence[Seen]) -> list[str]:
    figures = [each.figures for each in seen]
    return [
        side,
        str(sum(sum(each.joins.values()) for each in figures)),
        str(sum(each.idle_joins for each in figures)),
        str(sum(len(each.stopped) for each in figures)),
        str(sum(len(each.needless) for each in figures)),
        str(sum(len(each.moved) for each in figures)),
    ]


def _restarts(bounced: Mapping[str, Bounced]) -> Table:
    columns = [
        "bounced worker",
        "coordinator",
        "its restart",
        "its tasks ran nowhere, the longest",
        "from its asking until the last ran",
    ]
    rows = [
        [
            f"{each.worker}, leads" if each.worker == one.seen.leader else each.worker,
            side,
            f"{each.away_ms / 1000:.2f} s",
            f"{each.nowhere_ms / 1000:.2f} s",
            f"{each.late_ms / 1000:.2f} s",
        ]
        for side, one in bounced.items()
        for each in one.restarts
    ]
    return Table(columns, rows)


def _of_bounces(bounced: Mapping[str, Bounced]) -> list[Claim]:
    ours, theirs = bounced[OURS], bounced[THEIRS]
    rolling, on_kafka = ours.seen.figures, theirs.seen.figures
    away_s = [each.away_ms / 1000 for each in ours.restarts]
    return [
        Claim(
            f"a rolling bounce of seven real workers, delay {LONG_DELAY_S} s: tasks that run elsewhere in the "
            "end, or were stopped for others",
            "0",
            f"{len(rolling.moved)} and {len(rolling.stopped)} "
            f"(Kafka's broker: {len(on_kafka.moved)} and {len(on_kafka.stopped)})",
            not rolling.moved and not rolling.stopped,
        ),
        Claim(
            "the same: connectors and tasks that run, in the end, where they ran before",
            "all",
            f"{ours.kept} of {len(ours.before)} (Kafka's broker: {theirs.kept} of {len(theirs.before)})",
            ours.before == ours.after,
        ),
        Claim(
            "the same: joins for each worker, leaders included",
            f"≤ {MOST_JOINS}",
            f"{ours.joins:.1f} (Kafka's broker: {theirs.joins:.1f})",
            ours.joins <= MOST_JOINS,
        ),
        Claim(
            "the same: how much longer than its worker's restart a task ran nowhere, the worst, leaders included",
            f"≤ {MOST_OVER_BOUNCE_S} s",
            f"{ours.over_restart_s:.2f} s (restarts of {min(away_s):.1f} to {max(away_s):.1f} s; the last task ran "
            f"{ours.late_s:.2f} s after its worker had asked to join at most; Kafka's broker: "
            f"{theirs.over_restart_s:.1f} s)",
            ours.over_restart_s <= MOST_OVER_BOUNCE_S,
        ),
    ]


def _of_drains(drained: Seen, bounced: Mapping[str, Bounced]) -> Claim:
    nowhere_s = drained.figures.nowhere_ms / 1000
    without = [f"{side}: {bounced[side].seen.figures.nowhere_ms / 1000:.1f} s" for side in (OURS, THEIRS)]
    return Claim(
        "a rolling restart of seven real workers by drains: the longest time that a task ran nowhere",
        f"≤ {HAND_OVER_S:.0f} s: its own stop and start",
        f"{nowhere_s:.1f} s (a bounce without drains, {', '.join(without)})",
        nowhere_s <= HAND_OVER_S,
    )


def _of_two_at_once(seen: Sequence[Seen]) -> Claim:
    twice = sum(len(each.figures.twice) for each in seen)
    return Claim("real workers: what ran on two at one time, in all events", "0", str(twice), twice == 0)


def _claims(found: Mapping[str, Sequence[Seen]], killed: Mapping[str, float]) -> list[Claim]:
    ours = {each.event: each.figures for each in found[OURS]}
    theirs = {each.event: each.figures for each in found[THEIRS]}
    needless = sum(len(each.needless) for each in ours.values())
    idle, their_idle = (sum(each.idle_joins for each in side.values()) for side in (ours, theirs))
    nowhere_s, restart = ours[events.FOLLOWER_BACK].nowhere_ms / 1000, killed[OURS]
    return [
        Claim("six real workers: tasks stopped needlessly", "0", str(needless), needless == 0),
        Claim("six real workers: joins that changed nothing", f"Kafka's {their_idle}", str(idle)),
        Claim(
            f"a real follower killed and back within a delay of {DELAY_S} s: its tasks ran nowhere",
            f"≤ its restart ({restart:.1f} s) + {MOST_OVER_RESTART_S:.0f} s",
            f"{nowhere_s:.1f} s (Kafka's broker: {theirs[events.FOLLOWER_BACK].nowhere_ms / 1000:.1f} s)",
            nowhere_s <= restart + MOST_OVER_RESTART_S,
        ),
    ]
