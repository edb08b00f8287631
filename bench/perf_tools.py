"""What does the gateway cost those who only pass through it? Kafka's own performance tools, direct and through it.

Each pair runs one after the other, the next pair in the other order; the ratio of a pair is what counts, and the CPU
of kcoord for each MB (10^6 bytes of records) stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from statistics import median

import attrs

from bench.results import Claim, Outcome, Table
from bench.sides import FullJava, Kafka, Side, kafka, side_of
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord

RECORD_BYTES = 1024
PRODUCED, CONSUMED = 400_000, 2_000_000
PAIRS = 5
PARTITIONS = 4
LEAST_RATIO = 0.8
MB = 1_000_000
RATE = re.compile(r"([\d.]+) records/sec")

NOTES = (
    "What probably holds the consumer back, not profiled: read directly, the broker hands its files to the socket "
    "inside the kernel, and consumer and broker can fill two cores by themselves; kcoord is a third process that reads "
    "and writes every byte. On a busier machine, where direct reading reached 278 MB/s, the ratio was 0.89.",
)


@attrs.frozen
class Run:
    """One run of a tool: MB a second, and kcoord's CPU seconds a MB (0 when direct)."""

    mb_a_second: float
    cpu_s_a_mb: float


def run(folder: Path) -> Outcome:
    """Measure the producer and the consumer tool."""
    found = Java.find()
    java = FullJava(found.command, found.libs)
    with kafka(folder) as broker:
        gateway = Kcoord(folder / "gateway", upstream=broker.cluster.bootstrap, groups=["kcoord-owns-nothing-here"])
        try:
            gateway.start()
            broker.cluster.create_topic("perf", PARTITIONS, {"retention.bytes": str(-1)})
            side = side_of(gateway)
            produced = pairs(lambda to: produce(java, to), broker, side, PRODUCED)
            consumed = pairs(lambda to: consume(java, to), broker, side, CONSUMED)
        finally:
            gateway.remove()
    return outcome({"kafka-producer-perf-test": produced, "kafka-consumer-perf-test": consumed})


def pairs(tool: Callable[[str], float], broker: Kafka, gateway: Side, records: int) -> list[tuple[Run, Run]]:
    """(direct, through the gateway) of each pair; the first pair warms up and is left out."""

    def one(side: Side | None) -> Run:
        if side is None:
            return Run(tool(broker.cluster.bootstrap), 0.0)
        before = side.process.cpu_s()
        rate = tool(f"{side.address[0]}:{side.address[1]}")
        return Run(rate, (side.process.cpu_s() - before) / (records * RECORD_BYTES / MB))

    done = []
    for number in range(PAIRS + 1):
        if number % 2:
            through, direct = one(gateway), one(None)
        else:
            direct, through = one(None), one(gateway)
        done.append((direct, through))
    return done[1:]


def produce(java: Java, bootstrap: str) -> float:
    """kafka-producer-perf-test: MB a second."""
    said = java.tool(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", "perf", "--num-records", str(PRODUCED), "--record-size", str(RECORD_BYTES), "--throughput", "-1"),
        *("--bootstrap-server", bootstrap),
    )
    rates = RATE.findall(said)  # the last one is of the whole run
    return float(rates[-1]) * RECORD_BYTES / MB


def consume(java: Java, bootstrap: str) -> float:
    """kafka-consumer-perf-test: MB a second while fetching, without the time that joining takes."""
    said = java.tool(
        "org.apache.kafka.tools.ConsumerPerformance",
        *("--topic", "perf", "--num-records", str(CONSUMED), "--bootstrap-server", bootstrap),
    )
    lines = said.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("start.time"))
    names, values = (line.split(", ") for line in lines[at : at + 2])
    figures = dict(zip((name.strip() for name in names), values, strict=True))
    if int(figures["data.consumed.in.nMsg"]) < CONSUMED:
        raise AssertionError(f"the consumer found fewer than {CONSUMED:,} records:\n{said}")
    return float(figures["fetch.nMsg.sec"]) * RECORD_BYTES / MB


def outcome(measured: dict[str, list[tuple[Run, Run]]]) -> Outcome:
    """The median of the pairs."""
    rows, claims = [], []
    for tool, done in measured.items():
        ratios = [through.mb_a_second / direct.mb_a_second for direct, through in done]
        ratio, cpu = median(ratios), median(through.cpu_s_a_mb for _, through in done)
        direct_rate, through_rate = (median(each.mb_a_second for each in side) for side in zip(*done, strict=True))
        rows.append(
            [
                tool,
                f"{direct_rate:,.0f} MB/s",
                f"{through_rate:,.0f} MB/s",
                f"{ratio:.2f}",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                f"{cpu * 1000:.2f} ms",
            ]
        )
        what = f"{tool}, 1 KiB records, through the gateway"
        claims.append(
            Claim(
                what, f"≥ {LEAST_RATIO} of direct", f"{ratio:.2f}; {cpu * 1000:.2f} ms CPU a MB", ratio >= LEAST_RATIO
            )
        )
    figures = Table(["tool", "direct", "through kcoord", "ratio", "ratios of all pairs", "kcoord's CPU a MB"], rows)
    how = (
        f"{PRODUCED:,} records produced and {CONSUMED:,} consumed in each run, a topic of {PARTITIONS} partitions, "
        "the tools' own settings; "
        f"{PAIRS} pairs, the order within a pair changes. Tool, broker and kcoord share the cores, so what kcoord "
        "takes, "
        "the other two lack."
    )
    return Outcome("Through the gateway", how, claims, [figures], NOTES)
