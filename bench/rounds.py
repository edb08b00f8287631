"""How is a rate measured on a machine that does other things too?

By the CPU seconds of the measured process, not by the clock; in short rounds, sides in turn; the median counts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from statistics import median

import attrs

from bench.loader import Loader
from bench.results import Table
from bench.sides import Side

SETTLING_S = 0.4
"""Load runs this long before a round begins."""


@attrs.frozen
class Round:
    """What one round gave: answers, over so many seconds, at so much CPU of the server."""

    answers: int
    seconds: float
    cpu_s: float

    @property
    def a_cpu_second(self) -> float:
        """Answers a CPU second of the server."""
        return self.answers / self.cpu_s

    @property
    def a_second(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds

    @property
    def cores(self) -> float:
        """CPU that the server took, in cores."""
        return self.cpu_s / self.seconds


def measure(loader: Loader, side: Side, fleet: str, seconds: float) -> Round:
    """One round of `seconds` on a fleet that is under load already."""
    time.sleep(SETTLING_S)
    first, cpu_first = loader.count(fleet), side.process.cpu_s()
    time.sleep(seconds)
    last, cpu_last = loader.count(fleet), side.process.cpu_s()
    return Round(last.answers - first.answers, last.at_s - first.at_s, cpu_last - cpu_first)


def beat_round(loader: Loader, side: Side, fleet: str, in_flight: int, seconds: float) -> Round:
    """One round of heartbeats as fast as they are answered. Raises LoadFailed for a wrong answer."""
    loader.beat(fleet, in_flight)
    try:
        return measure(loader, side, fleet, seconds)
    finally:
        loader.rest(fleet)


def in_turn(
    loader: Loader,
    sides: Sequence[Side],
    depths: Sequence[int],
    warm_up_s: Mapping[str, float],
    rounds: int,
    seconds: float,
) -> dict[tuple[str, int], Round]:
    """Warm up all sides, then `rounds` rounds of heartbeats, sides in turn; the typical one by side and requests in
    flight. The fleet of a side has its name. `warm_up_s`: for all depths together.
    """
    for side in sides:
        for depth in reversed(depths):
            beat_round(loader, side, side.name, depth, warm_up_s[side.name] / len(depths))
    done: dict[tuple[str, int], list[Round]] = {}
    for _ in range(rounds):
        for depth in depths:
            for side in sides:
                done.setdefault((side.name, depth), []).append(beat_round(loader, side, side.name, depth, seconds))
    return {at: typical(each) for at, each in done.items()}


def typical(rounds: Sequence[Round]) -> Round:
    """The round whose answers a CPU second are the median (the lower of the two in the middle)."""
    ordered = sorted(rounds, key=lambda each: each.a_cpu_second)
    return ordered[(len(ordered) - 1) // 2]


def spread(values: Sequence[float]) -> str:
    """Least, median and greatest."""
    return f"{min(values):,.2f} / {median(values):,.2f} / {max(values):,.2f}"


def figures_of(typical_of: Mapping[tuple[str, int], Round]) -> Table:
    """Heartbeats of several servers beside each other, by server and requests in flight."""
    return Table(
        ["server", "in flight", "heartbeats a CPU second", "heartbeats a second", "cores used"],
        [
            [server, str(depth), f"{each.a_cpu_second:,.0f}", f"{each.a_second:,.0f}", f"{each.cores:.2f}"]
            for (server, depth), each in sorted(typical_of.items(), key=lambda item: item[0][1])
        ],
    )
