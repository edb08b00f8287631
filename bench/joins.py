"""How long does it take until a join is on the disk, and how many can be in a second?

Clients join new groups, each one its own, one after another, with the whole handshake of a real member (two
JoinGroups, KIP-394); kcoord's answer leaves when its record is synced. Kafka writes a group when it is synced by its
leader, so its join is compared with a SyncGroup behind, and with what kcoord does with one; it does not wait for the
disk at all.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median, quantiles

import attrs

from bench.loader import Loader
from bench.results import Claim, Outcome, Table
from bench.sides import Side, kafka, kcoord

ALONE, CROWD = 1, 500
ROUNDS = 3
ROUND_S = 3.0
WARM_UP_S = 5.0
MOST_MS, LEAST_A_SECOND = 2.0, 3000.0


@attrs.frozen
class Joined:
    """Rounds of joins: the median of their rates, and all latencies in ms."""

    a_second: float
    latencies_ms: list[float]
    cpu_ms: float
    """CPU of the server a join, ms."""

    @property
    def p50_ms(self) -> float:
        """Half are faster."""
        return median(self.latencies_ms)

    @property
    def p99_ms(self) -> float:
        """One in a hundred is slower."""
        return quantiles(self.latencies_ms, n=100)[98]


def run(folder: Path) -> Outcome:
    """Measure kcoord and Kafka in turn."""
    taken: dict[tuple[str, int, bool], list[tuple[int, list[float], float]]] = {}
    with Loader() as loader, kafka(folder) as broker, kcoord(folder, group_initial_rebalance_delay_ms=0) as own:
        cases = [(own, False), (own, True), (broker.side, True)]
        for side, sync in cases:
            loader.joins(side.address, CROWD, WARM_UP_S, sync)
        for _ in range(ROUNDS):
            for clients in (ALONE, CROWD):
                for side, sync in cases:
                    taken.setdefault((side.name, clients, sync), []).append(joins_round(loader, side, clients, sync))
    joined = {case: sum_up(rounds) for case, rounds in taken.items()}
    return outcome(joined)


def joins_round(loader: Loader, side: Side, clients: int, sync: bool) -> tuple[int, list[float], float]:
    """One round: joins, latencies, CPU seconds."""
    before = side.process.cpu_s()
    joins, latencies = loader.joins(side.address, clients, ROUND_S, sync)
    return joins, latencies, side.process.cpu_s() - before


def sum_up(rounds: list[tuple[int, list[float], float]]) -> Joined:
    """Several rounds of one case as one."""
    latencies = [each for _, round_latencies, _ in rounds for each in round_latencies]
    cpu_ms = sum(cpu_s for *_, cpu_s in rounds) / sum(joins for joins, *_ in rounds) * 1000
    return Joined(median(joins / ROUND_S for joins, *_ in rounds), latencies, cpu_ms)


def outcome(joined: dict[tuple[str, int, bool], Joined]) -> Outcome:
    """What was reached."""
    figures = Table(
        ["server", "clients", "calls", "joins a second", "p50", "p99", "CPU a join"],
        [
            [
                name,
                str(clients),
                "2 JoinGroup, SyncGroup" if sync else "2 JoinGroup",
                f"{each.a_second:,.0f}",
                f"{each.p50_ms:.2f} ms",
                f"{each.p99_ms:.2f} ms",
                f"{each.cpu_ms:.3f} ms",
            ]
            for (name, clients, sync), each in sorted(joined.items(), key=lambda item: item[0][1])
        ],
    )
    alone, crowd = joined["kcoord", ALONE, False], joined["kcoord", CROWD, False]
    claims = [
        Claim(
            "joins made durable, embedded log, alone",
            f"p50 < {MOST_MS:.0f} ms",
            f"{alone.p50_ms:.2f} ms",
            alone.p50_ms < MOST_MS,
        ),
        Claim(
            f"joins made durable, embedded log, {CROWD} clients",
            f"> {LEAST_A_SECOND:,.0f} a second",
            f"{crowd.a_second:,.0f} a second",
            crowd.a_second > LEAST_A_SECOND,
        ),
    ]
    how = (
        f"Each join makes a new group; {ROUNDS} rounds of {ROUND_S:.0f} s, sides in turn; the initial rebalance delay "
        "is 0. A join of kcoord is answered "
        "when it would survive power loss. Kafka writes a group when its leader has synced, so both are measured with "
        "the SyncGroup too; its "
        "write is in the page cache of one broker when it is answered."
    )
    return Outcome("Joins made durable", how, claims, [figures])
