"""How many joins in a second does kcoord make durable in a topic, on one partition and on sixteen?

The same clients as in `joins`: each joins new groups of its own, one after another, with the whole handshake. The log
is a topic of the broker beside it, so that broker, kcoord and the load share the cores; the same broker is then asked
for the same joins itself.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from bench.joins import ALONE, CROWD, ROUND_S, ROUNDS, Joined, joins_round, sum_up
from bench.loader import Loader
from bench.results import Claim, Outcome, Table
from bench.sides import Side, kafka, kcoord

LEAST_A_SECOND = {1: 1500.0, 16: 3000.0}
"""By partitions of the topic."""
WARM_UP_S = 10.0
"""For each case: the broker's compilers take longer over transactions than over groups."""
THEIRS = "Kafka"

Case = tuple[str, int, bool]
"""Server, clients, with SyncGroup."""


def own_name(partitions: int) -> str:
    """What kcoord on a topic of so many partitions is called in the table."""
    return f"kcoord, {partitions} partition{'s' if partitions > 1 else ''}"


def run(folder: Path) -> Outcome:
    """Measure kcoord on both topics, and Kafka, in turn."""
    taken: dict[Case, list[tuple[int, list[float], float]]] = {}
    broker_cpu_s: dict[Case, float] = {}
    with ExitStack() as stack:
        loader, broker = stack.enter_context(Loader()), stack.enter_context(kafka(folder))
        cases: list[tuple[str, Side, bool]] = []
        for partitions in LEAST_A_SECOND:
            side = stack.enter_context(on_topic(folder, broker.cluster.bootstrap, partitions))
            cases += [(own_name(partitions), side, sync) for sync in (False, True)]
        cases.append((THEIRS, broker.side, True))
        for _, side, sync in cases:
            loader.joins(side.address, CROWD, WARM_UP_S, sync)
        for _ in range(ROUNDS):
            for clients in (ALONE, CROWD):
                for name, side, sync in cases:
                    before = broker.side.process.cpu_s()
                    taken.setdefault((name, clients, sync), []).append(joins_round(loader, side, clients, sync))
                    spent = broker.side.process.cpu_s() - before
                    broker_cpu_s[name, clients, sync] = broker_cpu_s.get((name, clients, sync), 0.0) + spent
    joins = {case: sum(count for count, *_ in rounds) for case, rounds in taken.items()}
    return outcome(
        {case: sum_up(rounds) for case, rounds in taken.items()},
        {case: cpu_s / joins[case] * 1000 for case, cpu_s in broker_cpu_s.items()},
    )


def on_topic(folder: Path, bootstrap: str, partitions: int) -> AbstractContextManager[Side]:
    """kcoord with its log in a topic of so many partitions."""
    return kcoord(
        folder / str(partitions),
        log="kafka",
        log_bootstrap=bootstrap,
        log_topic=f"joins-{partitions}",
        offsets_topic_num_partitions=partitions,
        instances_group=f"joins-{partitions}",
        group_initial_rebalance_delay_ms=0,
    )


def outcome(joined: dict[Case, Joined], broker_ms: dict[Case, float]) -> Outcome:
    """What was reached; `broker_ms`: the broker's CPU a join."""
    figures = Table(
        ["server", "clients", "calls", "joins a second", "p50", "p99", "its CPU a join", "the broker's"],
        [
            [
                name,
                str(clients),
                "2 JoinGroup, SyncGroup" if sync else "2 JoinGroup",
                f"{each.a_second:,.0f}",
                f"{each.p50_ms:.2f} ms",
                f"{each.p99_ms:.2f} ms",
                f"{each.cpu_ms:.3f} ms",
                "" if name == THEIRS else f"{broker_ms[name, clients, sync]:.3f} ms",
            ]
            for (name, clients, sync), each in sorted(joined.items(), key=lambda item: item[0][1])
        ],
    )
    claims = []
    for partitions, least in LEAST_A_SECOND.items():
        reached = joined[own_name(partitions), CROWD, False].a_second
        claims.append(
            Claim(
                f"joins made durable in Kafka, {CROWD} clients, {own_name(partitions).removeprefix('kcoord, ')}",
                f"≥ {least:,.0f} a second",
                f"{reached:,.0f} a second",
                reached >= least,
            )
        )
    how = (
        f"Each join makes a new group; {ROUNDS} rounds of {ROUND_S:.0f} s, sides in turn; the initial rebalance delay "
        "is 0. kcoord answers when the transaction is committed that has the group's record. Kafka's own group is in "
        "the page cache of the same broker when it is answered."
    )
    return Outcome("Joins made durable in Kafka", how, claims, [figures])
