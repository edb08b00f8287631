"""What does a change in a consumer group (KIP-848) cost: kcoord beside Kafka 4.3?

100 consumers share 1,000 partitions: one joins, one leaves, one is killed. Then 20 consumers of another group are
restarted one after the other, static and dynamic. Both servers have their defaults, but for the session of the consumer
that is killed; the same consumers are in front of each, in turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import attrs
import uvloop

from bench.consumer_fleet import Consumer, Fleet
from bench.results import Claim, Outcome, Table
from bench.sides import Side, kafka, kcoord

TOPIC, PARTITIONS, CONSUMERS = "bench", 1_000, 100
BOUNCED, AWAY_S = 20, 0.5
INTERVAL_S, SESSION_S = 5.0, 10.0
ROUNDS = 3
JOIN_S, LEAVE_S, KILLED_S = 0.6, 0.3, 0.5
THEIRS, OURS = "Kafka 4.3", "kcoord"
EVENTS = ("joins", "leaves", "is killed")
NOTES = (
    "From an answer to the next heartbeat nobody can tell a consumer anything. These consumers are kcoord's own, which "
    "do not give a heartbeat up after one interval, as Java's and franz-go: for them that is 0.2 s of each interval. "
    "For librdkafka's it is 0.5 s.",
    "A static consumer that is away keeps its partitions on both sides: nobody has them until it is back.",
)


@attrs.frozen
class Change:
    """One change, in s from its beginning. Who is killed is missed when its session ends."""

    first_s: float
    """Until the newcomer has something; of the others, until somebody has got something."""
    every_s: float
    """Until the last partition was taken."""
    longest_s: float
    """The longest time in which nobody had a partition."""
    requests: int
    """Beside steady heartbeats."""
    disturbed: int
    """Consumers that got or lost something."""
    fewest: int
    """As many must: a newcomer, and whoever has more than the new share; who is gone, and whoever takes its share."""


@attrs.frozen
class Bounce:
    """A rolling restart of all, one after the other."""

    gap_s: float
    """Partition-seconds in which nobody had a partition."""
    longest_s: float
    disturbed: int
    """How often somebody else than the one that was restarted got or lost something."""


def run(folder: Path) -> Outcome:
    """Measure both sides in turn."""
    changes: dict[tuple[str, str], list[Change]] = {}
    bounces: dict[tuple[str, bool], Bounce] = {}
    with _both(folder) as sides:
        for side, name in zip(sides, (THEIRS, OURS), strict=True):
            for what, change in uvloop.run(_changes(side)):
                changes.setdefault((name, what), []).append(change)
            for static in (True, False):
                bounces[name, static] = uvloop.run(_bounce(side, static=static))
    return outcome(changes, bounces)


@contextmanager
def _both(folder: Path) -> Iterator[tuple[Side, Side]]:
    session_ms = int(SESSION_S * 1000)
    session = {f"group_consumer_{name}session_timeout_ms": session_ms for name in ("", "min_")}
    with kafka(folder, **session) as broker, kcoord(folder, topics=f"{TOPIC}:{PARTITIONS}", **session) as own:
        broker.cluster.create_topic(TOPIC, PARTITIONS)
        yield broker.side, own


async def _changes(side: Side) -> list[tuple[str, Change]]:
    fleet = Fleet(side.address, "changes", TOPIC, PARTITIONS, INTERVAL_S)
    await fleet.found(CONSUMERS)
    found = []
    for _ in range(ROUNDS):
        found.append((EVENTS[0], await _joins(fleet)))
        found.append((EVENTS[1], await _goes(fleet, fleet.living[-1], is_killed=False)))
        await fleet.add(0)
        await fleet.rest()
        found.append((EVENTS[2], await _goes(fleet, fleet.living[-1], is_killed=True)))
    fleet.close()
    return found


async def _joins(fleet: Fleet) -> Change:
    began_s = _begin(fleet)
    newcomer = await fleet.add(0)
    await fleet.until(lambda: bool(newcomer.membership.owned), "given anything")
    first_s = time.monotonic() - began_s
    await fleet.rest()
    share = PARTITIONS // len(fleet.living)
    return _change(fleet, began_s, first_s, 1 + share)


async def _goes(fleet: Fleet, who: Consumer, *, is_killed: bool) -> Change:
    """One consumer goes; its partitions are free, or missed, from then on."""
    share = len(who.membership.owned)
    began_s = _begin(fleet)
    if is_killed:
        who.kill()
    else:
        who.leave()
    await fleet.until(lambda: len(fleet.book.owners) > PARTITIONS - share, "taken by anybody")
    first_s = time.monotonic() - began_s
    await fleet.rest()
    return _change(fleet, began_s, first_s, 1 + share)


def _begin(fleet: Fleet) -> float:
    fleet.book.begin()
    fleet.sent.clear()
    return fleet.book.changed_s


def _change(fleet: Fleet, began_s: float, first_s: float, fewest: int) -> Change:
    book = fleet.book
    every_s = book.changed_s - began_s
    return Change(first_s, every_s, book.longest_s, fleet.sent["extra"], len(book.disturbed), fewest)


async def _bounce(side: Side, *, static: bool) -> Bounce:
    """Restart all, one after the other; the next one when the last has been given something."""
    fleet = Fleet(side.address, f"bounce-{'static' if static else 'dynamic'}", TOPIC, PARTITIONS, INTERVAL_S, static)
    await fleet.found(BOUNCED)
    fleet.book.begin()
    others = 0
    for place, each in enumerate(fleet.living):
        fleet.book.disturbed.clear()
        back = await _restart(fleet, place, each)
        others += len(fleet.book.disturbed - {each.name, back.name})
    gap_s, longest_s = fleet.book.gap_s, fleet.book.longest_s
    fleet.close()
    return Bounce(gap_s, longest_s, others)


async def _restart(fleet: Fleet, place: int, consumer: Consumer) -> Consumer:
    """The consumer leaves, and another one comes to its place; until all partitions are taken."""
    consumer.leave()
    await fleet.until(lambda: consumer.is_gone, "gone")
    consumer.close()
    await asyncio.sleep(AWAY_S)
    back = await fleet.add(place)
    await fleet.until(lambda: bool(back.membership.owned), "given anything")
    await fleet.until(lambda: len(fleet.book.owners) == PARTITIONS, "all taken")
    return back


def outcome(changes: dict[tuple[str, str], list[Change]], bounces: dict[tuple[str, bool], Bounce]) -> Outcome:
    """The medians of all rounds."""
    figures = Table(
        [
            f"one of {CONSUMERS} consumers", "coordinator", "the first is given something", "all partitions are taken",
            "a partition is nobody's, at most", "requests beside steady ones", "consumers whose share changes",
        ],
        [
            [
                what,
                name,
                f"{_median(found, 'first_s'):.2f} s",
                f"{_median(found, 'every_s'):.2f} s",
                f"{_median(found, 'longest_s'):.2f} s",
                f"{_median(found, 'requests'):.0f}",
                f"{_median(found, 'disturbed'):.0f} (at least {_median(found, 'fewest'):.0f})",
            ]
            for what in EVENTS
            for name, found in ((each, changes[each, what]) for each in (OURS, THEIRS))
        ],
    )  # fmt: skip
    restarts = Table(
        ["rolling restart of 20", "coordinator", "partition-seconds nobody had", "the longest", "others disturbed"],
        [
            [
                "static" if static else "dynamic",
                name,
                f"{bounces[name, static].gap_s:,.0f}",
                f"{bounces[name, static].longest_s:.2f} s",
                str(bounces[name, static].disturbed),
            ]
            for static in (True, False)
            for name in (OURS, THEIRS)
        ],
    )
    how = (
        f"{CONSUMERS} consumers (the consumer library's memberships, which take and let go in no time) share "
        f"{PARTITIONS:,} partitions of one topic; heartbeat interval {INTERVAL_S:.0f} s, session {SESSION_S:.0f} s on "
        f"both sides, all else as it is by default. The median of {ROUNDS} rounds. The session of a consumer that is "
        f"killed counts from its last heartbeat. In a rolling restart each of {BOUNCED} consumers leaves, is away for "
        f"{AWAY_S} s, and comes back; the next one follows when all partitions are taken."
    )
    return Outcome("Changes in a consumer group", how, _claims(changes, bounces), [figures, restarts], NOTES)


def _median(found: list[Change], what: str) -> float:
    return float(median(getattr(each, what) for each in found))


def _claims(changes: dict[tuple[str, str], list[Change]], bounces: dict[tuple[str, bool], Bounce]) -> list[Claim]:
    claims = []
    for what, most_s, measured in (
        ("joins", JOIN_S, "first_s"),
        ("leaves", LEAVE_S, "every_s"),
        ("is killed", SESSION_S + KILLED_S, "every_s"),
    ):
        ours, theirs = (_median(changes[name, what], measured) for name in (OURS, THEIRS))
        until = "until it has partitions" if measured == "first_s" else "until all partitions are taken"
        claims.append(
            Claim(
                f"consumer groups: one of {CONSUMERS} consumers {what}, {until}",
                f"≤ {most_s:g} s",
                f"{ours:.2f} s (Kafka {theirs:.2f} s)",
                ours <= most_s,
            )
        )
    worst = max(
        (each for what in EVENTS for each in changes[OURS, what]), key=lambda each: each.disturbed - each.fewest
    )
    claims.append(
        Claim(
            f"consumer groups: one of {CONSUMERS} consumers joins, leaves, is killed: consumers disturbed",
            "only those whose share must change",
            f"{worst.disturbed} where {worst.fewest} must, in the worst round",
            worst.disturbed <= worst.fewest,
        )
    )
    restarts_s = AWAY_S * PARTITIONS
    for static in (True, False):
        ours, theirs = bounces[OURS, static].gap_s, bounces[THEIRS, static].gap_s
        of_itself = f"; {restarts_s:,.0f} of these are the restarts themselves" if static else ""
        claims.append(
            Claim(
                f"consumer groups: rolling restart of {BOUNCED} {'static' if static else 'dynamic'} consumers: "
                "partition-seconds not consumed",
                "≤ half of Kafka's",
                f"{ours:,.0f} (Kafka {theirs:,.0f}{of_itself})",
                ours <= theirs / 2,
            )
        )
    return claims
