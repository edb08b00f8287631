"""Does a fleet come through any history? Workers of both protocols come, go, hang, lose their connections; the
configuration changes, the coordinator dies; each seed is one history, always the same.

While it lasts nothing may run twice; when it is over all that is configured runs once, and nobody joins any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import pytest

from tests.light import fewer
from tests.sim.classic_worker.house import Host
from tests.translation.mixed_fleet import Fleet, Worker

DELAYS_MS = (0, 3_000, 20_000)
PAUSES_MS = (0, 10, 100, 500, 1_000, 3_000, 8_000, 20_000)
AT_REST_MS = 200_000
SEEDS = range(fewer(12, 2))


class History:
    """One history."""

    def __init__(self, seed: int, protocols: tuple[int, ...], with_new: bool) -> None:
        self.random = Random(seed)
        self.protocols = protocols
        self.fleet = Fleet()
        self.serial = 0
        self.fleet.configure(a=self.random.randint(1, 4), b=self.random.randint(1, 5))
        for _ in range(self.random.randint(1, 4)):
            self.start()
        if with_new:
            self.new()
        self.fleet.run(15_000)
        self.events = {**OF_CLASSIC, **(OF_NEW if with_new else {})}

    def name(self) -> str:
        self.serial += 1
        return f"w{self.serial}"

    def start(self, name: str | None = None) -> None:
        """A classic worker starts."""
        self.fleet.worker(
            name or self.name(),
            max_delay_ms=self.random.choice(DELAYS_MS),
            protocol=self.random.choice(self.protocols),
            rebalance_timeout_ms=self.random.choice((60_000, 12_000)),
        )

    def new(self) -> None:
        """A worker of the new protocol starts."""
        self.fleet.new(self.name(), reads_all=self.random.random() < 0.6)

    def classic(self) -> list[Host]:
        new = {worker.name for worker in self.fleet.news}
        return [host for host in self.fleet.alive if host.name not in new]

    def news(self) -> list[Worker]:
        return [worker for worker in self.fleet.news if isinstance(worker, Worker) and worker.closed is None]

    def happen(self) -> None:
        """Something does."""
        self.events[self.random.choice(sorted(self.events))](self)
        self.fleet.run(self.random.choice(PAUSES_MS))

    def end(self) -> None:
        """Nothing more happens."""
        for worker in self.news():
            worker.nonsense = False
        for host in self.classic():
            host.slow_to_stop_ms = 0
        if not self.fleet.alive:
            self.start()
        self.fleet.run(AT_REST_MS)


def _one(history: History, act: Callable[[Host], None]) -> None:
    hosts = history.classic()
    if hosts:
        act(history.random.choice(hosts))


def _one_new(history: History, act: Callable[[Worker], None]) -> None:
    workers = history.news()
    if workers:
        act(history.random.choice(workers))


def _leave(host: Host) -> None:
    host.do(host.worker.leave(host.house.events.now_ms))


def _bounce(history: History) -> None:
    def end(host: Host) -> None:
        (Host.kill if history.random.random() < 0.5 else _leave)(host)
        history.fleet.events.after(history.random.choice((300, 2_000, 6_000)), history.start, host.name)

    _one(history, end)


def _slow(history: History) -> None:
    takes_ms = history.random.choice((0, 500, 4_000))
    _one(history, lambda host: setattr(host, "slow_to_stop_ms", takes_ms))


def _reconfigure(history: History) -> None:
    history.fleet.configure(**{history.random.choice("abcd"): history.random.randint(1, 5)})


def _remove(history: History) -> None:
    names = sorted(history.fleet.topic.newest.task_counts)
    if names:
        history.fleet.topic.remove(history.random.choice(names))
        history.fleet.tell()


OF_CLASSIC: Mapping[str, Callable[[History], None]] = {
    "a classic worker joins": History.start,
    "one is killed": lambda history: _one(history, Host.kill),
    "one leaves": lambda history: _one(history, _leave),
    "one bounces": _bounce,
    "one loses its connection": lambda history: _one(history, Host.lose),
    "one stops slowly": _slow,
    "the coordinator dies": lambda history: history.fleet.reload(),
    "tasks change": _reconfigure,
    "a connector is deleted": _remove,
}
OF_NEW: Mapping[str, Callable[[History], None]] = {
    "a new worker joins": History.new,
    "a new one is killed": lambda history: _one_new(history, Worker.kill),
    "a new one leaves": lambda history: _one_new(history, Worker.leave),
    "a new one loses its connection": lambda history: _one_new(history, Worker.lose),
    "a new one computes nonsense": lambda history: _one_new(
        history, lambda worker: setattr(worker, "nonsense", not worker.nonsense)
    ),
}


@pytest.mark.parametrize(
    ("protocols", "with_new"),
    [((2,), False), ((2, 1), False), ((2,), True), ((2, 1), True), ((0,), True), ((2, 1, 0), True)],
    ids=["sessioned", "and compatible", "beside new ones", "all incremental", "default and new", "all there are"],
)
def test_any_history_ends_well(protocols: tuple[int, ...], with_new: bool) -> None:
    for seed in SEEDS:
        history = History(seed, protocols, with_new)
        for _ in range(history.random.randint(1, 8)):
            history.happen()
        history.end()
        fleet, at = history.fleet, f"seed {seed}"
        assert not fleet.doubles, at
        assert fleet.all_run_once(), at
        assert all(host.worker.stable for host in history.classic()), at
        assert all(host.closed in (None, "", "killed", "left") for host in fleet.hosts), at
        if fleet.is_connect():
            assert fleet.group.epoch == fleet.group.assignment_epoch, at
            assert not fleet.group.error, at
        joins = fleet.joins()
        fleet.run(30_000)
        assert fleet.joins() == joins, f"{at}: somebody joins without end"
