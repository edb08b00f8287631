"""Does the coordinator cost more than an earlier commit of it? `python -m bench.against COMMIT [CASE …] [--pairs 15]`.

Both commits serve the same load, in fresh processes, one after the other, the next pair in the other order. What counts
is the CPU of kcoord a request. Each pair is kept as it is done (`build/against.jsonl`), so that a run that was stopped
goes on: pairs of the same two commits are never measured again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from zlib import crc32

import attrs
import typer
from rich.console import Console

from bench.__main__ import ORDER
from bench.joins import CROWD, joins_round
from bench.loader import Loader
from bench.pairs import ALLOWED, Interval, interval_of
from bench.perf_tools import CONSUMED, MB, PARTITIONS, PRODUCED, RECORD_BYTES, consume, produce
from bench.probe import allow_connections, machine_facts
from bench.results import Claim, Kept, Outcome, Table, load, show, store
from bench.rounds import beat_round
from bench.sides import FullJava, Kafka, Side, kafka, side_of
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.repository import ROOT

NAME = "against"
JOURNAL = ROOT / "build" / "against.jsonl"
GROUPS, SIZE = 10, 10
ROUND_S, WARM_UP_S = 3.0, 1.0
JOIN_S = 3.0
WORKERS, CONNECTORS, TASKS = 200, 20, 2_000
BEAT_MS, CLASSIC_SESSION_MS, FOUNDING_MS = 1_000, 30_000, 3_000
EVENTS, QUIET_S = 5, 3.0
"""How many workers join, one after the other, and how long is measured before what steady heartbeats take."""
US = 1_000_000


@attrs.frozen
class Release:
    """A commit, and the folder that has its package."""

    commit: str
    site: Path


Measure = Callable[[Path, Release, Kafka | None], float]


def heartbeats(depth: int) -> Measure:
    """CPU of a classic member's heartbeat, in µs."""

    def measure(folder: Path, release: Release, _broker: Kafka | None) -> float:
        with Loader() as loader, alone(folder, release) as side:
            loader.members("fleet", side.address, GROUPS, SIZE)
            return _beats(loader, side, depth)

    return measure


def connect_heartbeats(folder: Path, release: Release, _broker: Kafka | None) -> float:
    """CPU of a connect worker's heartbeat, in µs."""
    with Loader() as loader, alone(folder, release) as side:
        loader.connect_members("fleet", side.address, GROUPS, SIZE)
        return _beats(loader, side, 1)


def _beats(loader: Loader, side: Side, depth: int) -> float:
    beat_round(loader, side, "fleet", depth, WARM_UP_S)
    return US / beat_round(loader, side, "fleet", depth, ROUND_S).a_cpu_second


def joins(folder: Path, release: Release, _broker: Kafka | None) -> float:
    """CPU of a join to a new group, with the SyncGroup behind it, in µs."""
    with Loader() as loader, alone(folder, release, group_initial_rebalance_delay_ms=0) as side:
        loader.joins(side.address, CROWD, WARM_UP_S, sync=True)
        count, _, cpu_s = joins_round(loader, side, CROWD, True)
        return cpu_s / count * US


def connect_rebalance(folder: Path, release: Release, _broker: Kafka | None) -> float:
    """CPU of one more worker in a connect group, beyond what quiet takes, in µs."""
    intervals = dict.fromkeys(
        ("group_connect_heartbeat_interval_ms", "group_connect_min_heartbeat_interval_ms"), BEAT_MS
    )
    with Loader() as loader, alone(folder, release, **intervals) as side:
        loader.workers(side.address, WORKERS, CONNECTORS, TASKS, BEAT_MS / 1000, BEAT_MS)
        return _beyond_quiet(loader, side, loader.one_more_worker)


def classic_fleet(folder: Path, release: Release, _broker: Kafka | None) -> float:
    """CPU of one more of Connect's own workers, moved one by one, beyond what quiet takes, in µs."""
    # the former name of group.connect.classic.mode, which the earlier commit knows too
    settings = {"group_connect_legacy_mode": "individual", "group_initial_rebalance_delay_ms": FOUNDING_MS}
    with Loader() as loader, alone(folder, release, **settings) as side:
        loader.classic_workers(side.address, WORKERS, CONNECTORS, TASKS, BEAT_MS, CLASSIC_SESSION_MS, False)
        return _beyond_quiet(loader, side, lambda: loader.classic_event("join", 0))


def _beyond_quiet(loader: Loader, side: Side, event: Callable[[], Mapping[str, float]]) -> float:
    before = side.process.cpu_s()
    quiet_s = loader.idle(QUIET_S)
    at_rest = side.process.cpu_s()
    watched_s = sum(event()["watched_s"] for _ in range(EVENTS))
    spent_s = side.process.cpu_s() - at_rest - (at_rest - before) / quiet_s * watched_s
    return spent_s / EVENTS * US


def data_path(tool: Callable[[FullJava, str], float], records: int) -> Measure:
    """CPU of the gateway for a MB of records that pass through it, in µs."""

    def measure(folder: Path, release: Release, broker: Kafka | None) -> float:
        assert broker is not None, "the data path needs a broker"
        found = Java.find()
        gateway = Kcoord(folder / "gateway", broker.cluster.bootstrap, ["kcoord-owns-nothing-here"], site=release.site)
        try:
            side = side_of(gateway.start())
            before = side.process.cpu_s()
            tool(FullJava(found.command, found.libs), f"{side.address[0]}:{side.address[1]}")
            return (side.process.cpu_s() - before) / (records * RECORD_BYTES / MB) * US
        finally:
            gateway.remove()

    return measure


@attrs.frozen
class Case:
    """One thing that is compared."""

    what: str
    unit: str
    measure: Measure
    needs_broker: bool = False


CASES: dict[str, Case] = {
    "heartbeats": Case("heartbeat of a classic member, 1 in flight", "a request", heartbeats(1)),
    "pipelined": Case("heartbeat of a classic member, 8 in flight", "a request", heartbeats(8)),
    "connect": Case("heartbeat of a connect worker, 1 in flight", "a request", connect_heartbeats),
    "joins": Case(f"JoinGroup and SyncGroup of {CROWD} clients, new groups", "a join", joins),
    "rebalance": Case(f"a worker joins a connect group of {WORKERS} with {TASKS:,} tasks", "a join", connect_rebalance),
    "classic": Case(f"a Connect worker joins {WORKERS} others with {TASKS:,} tasks", "a join", classic_fleet),
    "produce": Case("produced through the gateway, 1 KiB records", "a MB", data_path(produce, PRODUCED), True),
    "consume": Case("consumed through the gateway, 1 KiB records", "a MB", data_path(consume, CONSUMED), True),
}


# -- two commits -------------------------------------------------------------------------------------------------------


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def this_release() -> Release:
    """The one that is checked out; what is not committed has a name of its own."""
    commit = _git("rev-parse", "--short=10", "HEAD")
    changed = _git("diff", "HEAD", "--", "kcoord")
    return Release(f"{commit}+{crc32(changed.encode()):08x}" if changed else commit, ROOT)


@contextmanager
def earlier_release(commit: str) -> Iterator[Release]:
    """The package of that commit in a folder of its own."""
    resolved = _git("rev-parse", "--short=10", f"{commit}^{{commit}}")
    with tempfile.TemporaryDirectory(prefix="kcoord-against-") as folder:
        packed = subprocess.run(
            ["git", "-C", str(ROOT), "archive", resolved, "kcoord", "schemas"], capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        yield Release(resolved, Path(folder))


@contextmanager
def alone(folder: Path, release: Release, **settings: object) -> Iterator[Side]:
    """kcoord of that release with the embedded log."""
    named = {name.replace("_", "."): value for name, value in settings.items()}
    process = Kcoord(folder / "kcoord", settings=named, site=release.site)
    try:
        yield side_of(process.start())
    finally:
        process.remove()


# -- pairs -------------------------------------------------------------------------------------------------------------


@attrs.define
class Journal:
    """The pairs that were measured so far, one a line."""

    path: Path

    def pairs(self, case: str, old: str, new: str) -> list[tuple[float, float]]:
        """Those of two commits."""
        if not self.path.exists():
            return []
        kept = [json.loads(line) for line in self.path.read_text().splitlines()]
        return [
            (each["old_us"], each["new_us"])
            for each in kept
            if (each["case"], each["old"], each["new"]) == (case, old, new)
        ]

    def add(self, case: str, old: str, new: str, pair: tuple[float, float]) -> None:
        """One more."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = {"case": case, "old": old, "new": new, "old_us": pair[0], "new_us": pair[1]}
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def measure_pair(case: Case, old: Release, new: Release, broker: Kafka | None, old_first: bool) -> tuple[float, float]:
    """CPU a request of both, in µs."""
    taken: dict[str, float] = {}
    for release in (old, new) if old_first else (new, old):
        with tempfile.TemporaryDirectory(prefix="kcoord-bench-against-") as folder:
            taken[release.commit] = case.measure(Path(folder), release, broker)
    return taken[old.commit], taken[new.commit]


@contextmanager
def broker_for(cases: Sequence[str]) -> Iterator[Kafka | None]:
    """A broker with the tools' topic, if one of the cases needs it."""
    if not any(CASES[name].needs_broker for name in cases):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="kcoord-bench-broker-") as folder, kafka(Path(folder)) as broker:
        broker.cluster.create_topic("perf", PARTITIONS, {"retention.bytes": str(1 << 30)})
        found = Java.find()
        for _ in range(CONSUMED // PRODUCED + 1):  # what is consumed must be there, and the broker be warm
            produce(FullJava(found.command, found.libs), broker.cluster.bootstrap)
        yield broker


def outcome(old: str, new: str, measured: Mapping[str, Sequence[tuple[float, float]]]) -> Outcome:
    """The ratios, and whether the new commit is worse."""
    rows, claims = [], []
    for name, pairs in measured.items():
        case, interval = CASES[name], interval_of(pairs)
        first, second = (sorted(each)[len(pairs) // 2] for each in zip(*pairs, strict=True))
        rows.append([case.what, str(len(pairs)), f"{first:,.1f} µs", f"{second:,.1f} µs", str(interval)])
        claims.append(_claim(case, interval))
    figures = Table(["what", "pairs", f"CPU, {old}", f"CPU, {new}", "change, 95 % interval"], rows)
    how = (
        f"Commit {new} beside {old}: fresh processes with the same load one after the other, the next pair in the "
        "other order; CPU of kcoord a request (user and system), medians of both sides, and the mean ratio of the "
        "pairs with its 95 % confidence interval."
    )
    return Outcome("Beside an earlier commit", how, claims, [figures])


def _claim(case: Case, interval: Interval) -> Claim:
    target = f"not worse: the interval does not lie beyond {ALLOWED:+.0%} whole"
    return Claim(f"CPU {case.unit}: {case.what}", target, str(interval), not interval.is_worse)


def main(
    commit: Annotated[str, typer.Argument(help="The earlier commit.")],
    cases: Annotated[list[str] | None, typer.Argument(help=f"Which: {', '.join(CASES)}. All if none.")] = None,
    pairs: Annotated[int, typer.Option(help="Pairs of each case, those that are there already included.")] = 15,
    journal: Annotated[Path, typer.Option(help="Where pairs are kept.")] = JOURNAL,
    write: Annotated[bool, typer.Option("--write", help="Keep the result and write docs/benchmarks.md.")] = False,
) -> None:
    """Compare what is checked out with an earlier commit."""
    chosen = cases or list(CASES)
    unknown = [name for name in chosen if name not in CASES]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: there are {', '.join(CASES)}")
    allow_connections()
    kept, new = Journal(journal), this_release()
    with earlier_release(commit) as old:
        missing = [name for name in chosen if len(kept.pairs(name, old.commit, new.commit)) < pairs]
        with broker_for(missing) as broker:
            _measure(kept, missing, old, new, broker, pairs)
        done = outcome(old.commit, new.commit, {name: kept.pairs(name, old.commit, new.commit) for name in chosen})
    show(done, Console())
    if write:
        results = load()
        results[NAME] = Kept(datetime.now(UTC).date().isoformat(), machine_facts(), done)
        store(results, ORDER)
    if any(claim.met is False for claim in done.claims):
        sys.exit(1)


def _measure(kept: Journal, cases: Sequence[str], old: Release, new: Release, broker: Kafka | None, pairs: int) -> None:
    """Round after round of all cases, so that a run that is stopped has as many pairs of each."""
    while True:
        counts = {name: len(kept.pairs(name, old.commit, new.commit)) for name in cases}
        due = [name for name, count in counts.items() if count < pairs]
        if not due:
            return
        name = min(due, key=lambda each: counts[each])
        pair = measure_pair(CASES[name], old, new, broker, old_first=counts[name] % 2 == 0)
        kept.add(name, old.commit, new.commit, pair)
        print(f"{name}, pair {counts[name] + 1} of {pairs}: {pair[0]:.1f} and {pair[1]:.1f} µs", file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
