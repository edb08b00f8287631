"""What does one more worker cost a large connect group, and how soon does it work?

1,000 workers run 10,000 tasks; one joins, and a worker computes the assignment (`cooperative`). Once with answers that
are held back until there is something to say (`MaxWaitMs`), once with plain heartbeats. A plain worker learns
everything at its next heartbeat, so the time that counts is what convergence takes beyond whole intervals of the
newcomer's heartbeats.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import attrs

from bench.loader import Loader
from bench.results import Claim, Outcome, Table
from bench.sides import Side, kcoord

WORKERS, TASKS, CONNECTORS = 1_000, 10_000, 100
INTERVAL_MS = 2_000
ROUNDS = 3
RECORDS_EACH, HEARTBEATS_EACH = 2, 4
CONSTANT_RECORDS, CONSTANT_REQUESTS = 8, 8
CPU_MS = 150
HELD_MS, BEYOND_MS = 500, 200


@attrs.frozen
class Cost:
    """One worker's joining."""

    held: bool
    seconds: float
    steps: int
    changed: int
    extra: dict[str, int]
    records: int
    record_bytes: int
    cpu_ms: float

    @property
    def beyond_ms(self) -> float:
        """What convergence took beyond whole heartbeat intervals; held answers do not wait for any."""
        return self.seconds * 1000 % INTERVAL_MS if not self.held else self.seconds * 1000

    @property
    def requests(self) -> int:
        """Beside steady heartbeats."""
        return sum(self.extra.values())

    @property
    def records_allowed(self) -> int:
        return RECORDS_EACH * self.changed + self.steps + CONSTANT_RECORDS

    @property
    def requests_allowed(self) -> int:
        return HEARTBEATS_EACH * self.changed + self.steps + CONSTANT_REQUESTS


def run(folder: Path) -> Outcome:
    """Measure held and plain workers in turn."""
    costs: list[Cost] = []
    for held in (True, False):
        costs += measure(folder / ("held" if held else "plain"), held)
    return outcome(costs)


def measure(folder: Path, held: bool) -> list[Cost]:
    """Found the group once; then one worker more, a few times."""
    settings = {
        "group_connect_heartbeat_interval_ms": INTERVAL_MS,
        "group_connect_min_heartbeat_interval_ms": INTERVAL_MS,
    }
    with Loader() as loader, kcoord(folder, **settings) as side:
        loader.workers(side.address, WORKERS, CONNECTORS, TASKS, INTERVAL_MS / 1000, INTERVAL_MS if held else 0)
        return [one_more(folder, loader, side, held) for _ in range(ROUNDS)]


def one_more(folder: Path, loader: Loader, side: Side, held: bool) -> Cost:
    """One worker joins. Its CPU is what the coordinator took beyond what steady heartbeats took as long before."""
    steady_before = side.process.cpu_s()
    steady_s = loader.idle(5.0)
    steady_cpu_a_s = (side.process.cpu_s() - steady_before) / steady_s
    position, cpu_s = last_record(folder), side.process.cpu_s()
    joined = loader.one_more_worker()
    cpu_ms = (side.process.cpu_s() - cpu_s - steady_cpu_a_s * joined.pop("watched_s")) * 1000
    records, record_bytes = records_since(folder, position)
    return Cost(held=held, records=records, record_bytes=record_bytes, cpu_ms=cpu_ms, **joined)


def _log(folder: Path) -> sqlite3.Connection:
    (file,) = folder.rglob("kcoord.db")
    return sqlite3.connect(f"file:{file}?mode=ro", uri=True)


def last_record(folder: Path) -> int:
    """The position of the log's last record."""
    with _log(folder) as log:
        return int(log.execute("SELECT max(position) FROM record").fetchone()[0])


def records_since(folder: Path, position: int) -> tuple[int, int]:
    """How many records, of how many bytes, came after `position`."""
    with _log(folder) as log:
        count, size = log.execute(
            "SELECT count(*), coalesce(sum(length(key) + coalesce(length(value), 0)), 0) FROM record "
            "WHERE position > ?",
            (position,),
        ).fetchone()
    return int(count), int(size)


def outcome(costs: list[Cost]) -> Outcome:
    """The worst round of each kind counts."""
    figures = Table(
        ["answers", "converged after", "steps", "workers changed", "extra requests", "records", "bytes", "CPU"],
        [
            [
                "held" if each.held else "plain",
                f"{each.seconds * 1000:,.0f} ms",
                str(each.steps),
                str(each.changed),
                f"{each.requests} (allowed {each.requests_allowed})",
                f"{each.records} (allowed {each.records_allowed})",
                f"{each.record_bytes:,}",
                f"{each.cpu_ms:.0f} ms",
            ]
            for each in costs
        ],
    )
    held = max((each for each in costs if each.held), key=lambda each: each.beyond_ms)
    plain = max((each for each in costs if not each.held), key=lambda each: each.beyond_ms)
    what = f"{WORKERS:,} workers, {TASKS:,} tasks, one joins"
    most = max(costs, key=lambda each: each.cpu_ms)
    within = all(each.records <= each.records_allowed for each in costs)
    asked = all(each.requests <= each.requests_allowed for each in costs)
    claims = [
        Claim(
            f"{what}: records",
            f"≤ {RECORDS_EACH} a changed worker + 1 a step + {CONSTANT_RECORDS}",
            ", ".join(str(each.records) for each in costs),
            within,
        ),
        Claim(
            f"{what}: requests beside steady heartbeats",
            f"≤ {HEARTBEATS_EACH} a changed worker + 1 a step + {CONSTANT_REQUESTS}",
            ", ".join(str(each.requests) for each in costs),
            asked,
        ),
        Claim(f"{what}: CPU of the coordinator", f"< {CPU_MS} ms", f"{most.cpu_ms:.0f} ms", most.cpu_ms < CPU_MS),
        Claim(
            f"{what}: convergence, answers held",
            f"< {HELD_MS} ms",
            f"{held.beyond_ms:.0f} ms",
            held.beyond_ms < HELD_MS,
        ),
        Claim(
            f"{what}: convergence, answers not held",
            f"< {BEYOND_MS} ms beyond the intervals that it needs",
            f"{plain.beyond_ms:.0f} ms",
            plain.beyond_ms < BEYOND_MS,
        ),
    ]
    how = (
        f"{WORKERS:,} workers of the worker library on as many connections, {CONNECTORS} connectors with {TASKS:,} "
        f"tasks in all, heartbeat interval {INTERVAL_MS / 1000:.0f} s, embedded log; {ROUNDS} joins each, the worst "
        "counts. Records and bytes are those in the log. CPU is the coordinator's, Prepare and Install included, less "
        "what steady heartbeats took."
    )
    return Outcome("One more worker in a large connect group", how, claims, [figures])
