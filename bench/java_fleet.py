"""What does an event cost a fleet of six real Connect workers: behind kcoord one by one, and on Kafka's broker?

The events of tests/javafleet/events.py, by unmodified Java workers with connectors that note when they are started and
stopped; first on the broker itself, then with kcoord, which owns the fleet's group, in front of the same broker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from tests.javafleet import events
from tests.javafleet.events import Seen
from tests.javafleet.fleet import HEARTBEAT_MS, SESSION_MS, JavaFleet
from tests.javafleet.joins import joining_since
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java

DELAY_S = 60
MOST_OVER_RESTART_S = 1.0
MOST_JOINS = 4
HAND_OVER_S = 1.0
OURS, THEIRS = "kcoord, individual", "Kafka 4.3 broker"
EVENTS = events.ALL


def run(folder: Path) -> Outcome:
    """All events on both sides."""
    found: dict[str, list[Seen]] = {}
    restarts: dict[str, float] = {}
    with kafka(folder) as broker:
        for side in (THEIRS, OURS):
            with fleet_of(side, folder, broker.cluster) as fleet:
                events.begin(fleet)
                found[side] = []
                for event in EVENTS:
                    seen = events.let_happen(fleet, event)
                    found[side].append(seen)
                    if event is events.FOLLOWER_BACK:
                        restarts[side] = restart_s(fleet, seen)
                if side == OURS:
                    drained = events.let_happen(fleet, events.DRAINED)
    return outcome(found, restarts, drained)


@contextmanager
def fleet_of(side: str, folder: Path, cluster: KafkaCluster) -> Iterator[JavaFleet]:
    """A fleet without workers yet."""
    group = "fleet-kcoord" if side == OURS else "fleet-kafka"
    settings = {"scheduled.rebalance.max.delay.ms": DELAY_S * 1000}
    front = (
        kcoord_of(cluster, folder / "kcoord", [group], group_connect_classic_mode="individual")
        if side == OURS
        else None
    )
    bootstrap = front.bootstrap if front else cluster.bootstrap
    fleet = JavaFleet(Java.find(), folder / group, bootstrap, group, settings)
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


# -- the figures -------------------------------------------------------------------------------------------------------


def outcome(found: Mapping[str, Sequence[Seen]], restarts: Mapping[str, float], drained: Seen) -> Outcome:
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
    rows.append(_row(drained, OURS))
    totals = [_total(side, seen) for side, seen in found.items()]
    return Outcome(
        "Six real Connect workers",
        f"Unmodified workers of Connect 4.3 (`sessioned`), {events.CONNECTORS} connectors with {events.TASKS} tasks "
        f"each, session timeout {SESSION_MS // 1000} s, heartbeat every {HEARTBEAT_MS // 1000} s, "
        f"`scheduled.rebalance.max.delay.ms` {DELAY_S} s; all JVMs share the machine with the broker. A worker that is "
        f"killed is started again after {events.AWAY_S:.0f} s; in the rolling bounce the next is stopped when the last "
        'is healthy. JoinGroups are those that a worker has come out of, by its log ("Joined group at generation"); '
        "one that changed nothing left the worker with what it ran before. Stops are those of workers that do not end "
        "themselves; needless is one after which the task runs, in the end, where it ran before with the same "
        "configuration, and each but a task's first. Times are the tasks' own notes, in one file.",
        [*_claims(found, restarts), _of_drains(drained, found)],
        [Table(columns, rows), Table(["over all events", *columns[3:8]], totals)],
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


def _of_drains(drained: Seen, found: Mapping[str, Sequence[Seen]]) -> Claim:
    nowhere_s = drained.figures.nowhere_ms / 1000
    without = [
        f"{side}: {each.figures.nowhere_ms / 1000:.1f} s"
        for side in (OURS, THEIRS)
        for each in found[side]
        if each.event is events.ROLLING
    ]
    return Claim(
        "a rolling restart of six real workers by drains: the longest time that a task ran nowhere",
        f"≤ {HAND_OVER_S:.0f} s: its own stop and start",
        f"{nowhere_s:.1f} s (a bounce without drains, {', '.join(without)})",
        nowhere_s <= HAND_OVER_S,
    )


def _claims(found: Mapping[str, Sequence[Seen]], restarts: Mapping[str, float]) -> list[Claim]:
    ours = {each.event: each.figures for each in found[OURS]}
    theirs = {each.event: each.figures for each in found[THEIRS]}
    twice = sum(len(each.twice) for each in ours.values())
    needless = sum(len(each.needless) for each in ours.values())
    idle, their_idle = (sum(each.idle_joins for each in side.values()) for side in (ours, theirs))
    claims = [
        Claim("six real workers: what ran on two at one time", "0", str(twice), twice == 0),
        Claim("six real workers: tasks stopped needlessly", "0", str(needless), needless == 0),
        Claim("six real workers: joins that changed nothing", f"Kafka's {their_idle}", str(idle)),
    ]
    if events.ROLLING in ours:
        rolling, on_kafka = ours[events.ROLLING], theirs[events.ROLLING]
        joins = sum(rolling.joins.values()) / len(rolling.joins)
        claims += [
            Claim(
                "a rolling bounce of six real workers: tasks that run elsewhere in the end, or were stopped for others",
                "0",
                f"{len(rolling.moved)} and {len(rolling.stopped)} "
                f"(Kafka's broker: {len(on_kafka.moved)} and {len(on_kafka.stopped)})",
                not rolling.moved and not rolling.stopped,
            ),
            Claim(
                "the same: joins for each worker, leaders included",
                f"≤ {MOST_JOINS}",
                f"{joins:.1f} (Kafka's broker: {sum(on_kafka.joins.values()) / len(on_kafka.joins):.1f})",
                joins <= MOST_JOINS,
            ),
        ]
    if events.FOLLOWER_BACK in ours:
        nowhere_s, restart = ours[events.FOLLOWER_BACK].nowhere_ms / 1000, restarts[OURS]
        claims.append(
            Claim(
                f"a real follower killed and back within a delay of {DELAY_S} s: its tasks ran nowhere",
                f"≤ its restart ({restart:.1f} s) + {MOST_OVER_RESTART_S:.0f} s",
                f"{nowhere_s:.1f} s (Kafka's broker: {theirs[events.FOLLOWER_BACK].nowhere_ms / 1000:.1f} s)",
                nowhere_s <= restart + MOST_OVER_RESTART_S,
            )
        )
    return claims
