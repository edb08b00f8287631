"""What does one event cost a large fleet of unmodified Connect workers, and how soon does all run again?

1,000 of them, as the simulator's scripted worker acts, with Connect's own assignor in the one that leads: one joins,
one leaves, one bounces. On Kafka's broker, on kcoord with the barrier that Kafka has, and on kcoord that manages each
worker by itself (`group.connect.classic.mode=individual`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import attrs

from bench.classic_fleet import Spent
from bench.loader import CLASSIC_GROUP, Loader
from bench.results import Claim, Outcome, Table
from bench.sides import Side, kafka, kcoord
from tests.cli.run_cli import kcoord as command

WORKERS, CONNECTORS, TASKS = 1_000, 1_000, 10_000
INTERVAL_MS, SESSION_MS = 3_000, 30_000
FOUNDING_MS = 3_000
"""`group.initial.rebalance.delay.ms`, as Kafka has it by itself."""
EVENTS = ("join", "leave", "bounce")
CALL = "call"
"""What the coordinator shows the leader when a minute has passed without a change."""
LONG_MS = 300_000
"""Connect's own `scheduled.rebalance.max.delay.ms`."""
IDLE_S = 4.0
BROKER, BARRIER, INDIVIDUAL = "Kafka", "kcoord, barrier", "kcoord, individual"
ROUNDS = {BROKER: 3, BARRIER: 1, INDIVIDUAL: 3}
WARM_UPS = {BROKER: 1, BARRIER: 0, INDIVIDUAL: 1}
"""Rounds before that do not count."""
SPREAD = "join, tasks spread"
SPREAD_CALL = "call, tasks spread"
PHASES = 3
"""Rounds begin at so many different points of the heartbeat interval: after a round on Kafka all beat at one time."""
CALLS_EACH, CALLS_CONSTANT = 4, 6
MOST_BYTES = 20_000
RUN_S = 0.3


HOW = (
    f"{WORKERS:,} scripted workers, a connection each, that act as Connect 4.3's `WorkerCoordinator` does "
    "(`kcoord/sim/classic_worker`), `sessioned`, heartbeat interval "
    f"{INTERVAL_MS / 1000:.0f} s, session timeout {SESSION_MS / 1000:.0f} s; {CONNECTORS:,} connectors with {TASKS:,} "
    "tasks in all, which start and stop in no time; the leader's assignor is Connect's "
    "(`kcoord/assign/incremental`, Python). Events one after the other, each from quiet to quiet; after each it is "
    "checked that all that is configured runs once, and that nothing ever ran twice. "
    "Workers interrupted are those that joined or were told to; needlessly, whose assignment is then as before. "
    "Who leaves is not counted. CPU is the coordinator's process, from the event to "
    "quiet, less what it takes in quiet before and after. The three coordinators run one after the other, each with a "
    "fleet of its own; all workers are one process, which shares the cores with the coordinator: what it takes stands "
    "in the last column, what the leader takes of the time in the one before it."
)
NOTES = (
    "*Join*: a process more. *Leave*: the youngest worker stops all and sends LeaveGroup, with the reason that the "
    "consumer is being closed. In both `scheduled.rebalance.max.delay.ms` is 0 on all sides: on Kafka's the work of "
    "who left would wait for it.",
    "*Call*: in individual mode the leader is asked nothing while work moves. When nothing has changed for a minute it "
    "is shown who runs what, since it forwards REST requests by that: one join of it, whose answer lists every "
    "connector and task. How long that is depends on who runs what. Here connectors began with one task, and all got "
    "one more nine times; in the rows *tasks spread* each task of a worker is another connector's.",
    "*Bounce*: a worker that does not lead leaves in the same way, and as soon as it was answered and its connection "
    "is closed a new process joins with the same url, without a member id. On Kafka and with the barrier the delay is "
    "0: the one round that follows gives the new one what the old one had. With the default delay of five minutes "
    "that work would run nowhere for as long. kcoord's individual mode has that default and gives the work back at "
    "once ([CM-18](rules/classic-members.md)). There the delay is the group's own setting, else it would be learned "
    "from the leader.",
    "How long all takes depends on where in its interval each worker's heartbeat is: a round on Kafka begins for a "
    "worker with its next heartbeat, and a round brings all heartbeats together; so the three rounds begin at "
    "different points of the interval. In individual mode heartbeats are held until the next one comes.",
)


@attrs.frozen
class Cost(Spent):
    """What one event took, with the coordinator's CPU."""

    cpu_s: float

    @property
    def calls(self) -> int:
        """JoinGroups and SyncGroups."""
        return self.joins + self.syncs

    @property
    def allowed(self) -> int:
        """So many they may be."""
        return CALLS_EACH * self.changed + CALLS_CONSTANT


Costs = Mapping[tuple[str, str], list[Cost]]
"""By side and event, each round's."""


def run(folder: Path) -> Outcome:
    """Measure the three sides in turn, each with a fleet of its own; then joins where tasks are spread."""
    costs: dict[tuple[str, str], list[Cost]] = {}
    for name in ROUNDS:
        with _fleet(folder / "grown", name, grown=True) as (loader, side):
            for number in range(-WARM_UPS[name], ROUNDS[name]):
                for event in EVENTS:
                    loader.idle(INTERVAL_MS / 1000 * (number % PHASES) / PHASES)
                    delay = delay_ms(name, event)
                    if name == INDIVIDUAL:
                        _set_delay(side, delay)
                    cost = measure(loader, side, event, delay)
                    if number >= 0:
                        costs.setdefault((name, event), []).append(cost)
            if name == INDIVIDUAL:
                costs[name, CALL] = [measure(loader, side, CALL, 0)]
    for name in (BROKER, INDIVIDUAL):
        with _fleet(folder / "spread", name, grown=False) as (loader, side):
            if name == INDIVIDUAL:
                _set_delay(side, 0)
            costs[name, SPREAD] = [measure(loader, side, "join", delay_ms(name, "join"))]
            if name == INDIVIDUAL:
                costs[name, SPREAD_CALL] = [measure(loader, side, CALL, 0)]
    return outcome(costs)


@contextmanager
def _fleet(folder: Path, name: str, *, grown: bool) -> Iterator[tuple[Loader, Side]]:
    with Loader() as loader, _started(folder, name) as side:
        loader.classic_workers(side.address, WORKERS, CONNECTORS, TASKS, INTERVAL_MS, SESSION_MS, grown)
        yield loader, side


@contextmanager
def _started(folder: Path, name: str) -> Iterator[Side]:
    if name == BROKER:
        with kafka(folder, group_initial_rebalance_delay_ms=FOUNDING_MS) as broker:
            yield broker.side
        return
    mode = "individual" if name == INDIVIDUAL else "barrier"
    settings = {"group_connect_classic_mode": mode, "group_initial_rebalance_delay_ms": FOUNDING_MS}
    with kcoord(folder / mode, **settings) as side:
        yield side


def delay_ms(name: str, event: str) -> int:
    """`scheduled.rebalance.max.delay.ms` of the workers in this event."""
    return LONG_MS if name == INDIVIDUAL and event == "bounce" else 0


def _set_delay(side: Side, delay: int) -> None:
    """The group's own delay: the workers' is learned once, and here it changes from event to event."""
    host, port = side.address
    setting = f"connect.rebalance.delay.ms={delay}"
    done = command("config", "set", CLASSIC_GROUP, setting, "--bootstrap-server", f"{host}:{port}")
    assert done.code == 0, done.err


def measure(loader: Loader, side: Side, event: str, delay: int) -> Cost:
    """One event. The coordinator's CPU is what it took beyond what it takes in quiet before and after."""
    before = _idle_rate(loader, side)
    cpu_s = side.process.cpu_s()
    spent = loader.classic_event(event, delay)
    cpu_s = side.process.cpu_s() - cpu_s
    rate = (before + _idle_rate(loader, side)) / 2
    return Cost(cpu_s=cpu_s - rate * spent["watched_s"], **spent)


def _idle_rate(loader: Loader, side: Side) -> float:
    """CPU seconds a second."""
    before = side.process.cpu_s()
    seconds = loader.idle(IDLE_S)
    return (side.process.cpu_s() - before) / seconds


def outcome(costs: Costs) -> Outcome:
    """Calls, interruptions and times of the worst round count; bytes and CPU are medians on both sides."""
    claims = []
    for event in EVENTS:
        ours, theirs = costs[INDIVIDUAL, event], costs[BROKER, event]
        what = f"{WORKERS:,} Connect workers, {TASKS:,} tasks, one {event}s"
        claims += [
            Claim(
                f"{what}: JoinGroup + SyncGroup calls",
                f"≤ {CALLS_EACH} a worker whose assignment changes + {CALLS_CONSTANT}",
                f"{_each(ours, 'calls')} ({_each(ours, 'changed')} change); Kafka {_each(theirs, 'calls')}",
                all(each.calls <= each.allowed for each in ours),
            ),
            Claim(
                f"{what}: workers interrupted needlessly",
                "0",
                f"{_each(ours, 'needlessly')}; Kafka {_each(theirs, 'needlessly')}",
                not any(each.needlessly for each in ours),
            ),
            Claim(
                f"{what}: until all run again",
                f"≤ {RUN_S} s",
                f"{_worst(ours, 'all_run_s'):.2f} s; Kafka {_worst(theirs, 'all_run_s'):.2f} s",
                _worst(ours, "all_run_s") <= RUN_S,
            ),
            _of_bytes(what, ours, theirs),
        ]
        if event == "join":
            claims.append(_of_cpu(what, ours, theirs))
    return Outcome("A fleet of unmodified Connect workers", HOW, claims, [_figures(costs)], NOTES)


def _of_bytes(what: str, ours: list[Cost], theirs: list[Cost]) -> Claim:
    own_bytes, their_bytes = _median(ours, "round_bytes"), _median(theirs, "round_bytes")
    return Claim(
        f"{what}: bytes answered to them",
        f"≤ {MOST_BYTES // 1000} kB",
        f"{own_bytes / 1000:,.1f} kB; Kafka {their_bytes / 1000:,.0f} kB",
        own_bytes <= MOST_BYTES,
    )


def _of_cpu(what: str, ours: list[Cost], theirs: list[Cost]) -> Claim:
    own_cpu, their_cpu = _median(ours, "cpu_s"), _median(theirs, "cpu_s")
    return Claim(
        f"{what}: CPU of the coordinator",
        "≤ Kafka's",
        f"{own_cpu:.2f} s; Kafka {their_cpu:.2f} s",
        own_cpu <= their_cpu,
    )


def _figures(costs: Costs) -> Table:
    columns: dict[str, Callable[[list[Cost]], str]] = {
        "assignments change": lambda each: _each(each, "changed"),
        "JoinGroup + SyncGroup": lambda each: _each(each, "calls"),
        "interrupted": lambda each: _each(each, "interrupted"),
        "needlessly": lambda each: _each(each, "needlessly"),
        "answered to these": lambda each: f"{_median(each, 'round_bytes') / 1000:,.0f} kB",
        "in all": lambda each: f"{_median(each, 'bytes') / 1000:,.0f} kB",
        "coordinator's CPU": lambda each: " / ".join(f"{one.cpu_s:.2f}" for one in each) + " s",
        "all run again after": lambda each: " / ".join(f"{one.all_run_s:.2f}" for one in each) + " s",
        "the leader's part": lambda each: f"{_median(each, 'leading_s'):.2f} s",
        "workers' CPU": lambda each: f"{_median(each, 'client_cpu_s'):.2f} s",
    }
    rows = [
        [event, name, *(write(costs[name, event]) for write in columns.values())]
        for event in (*EVENTS, CALL, SPREAD, SPREAD_CALL)
        for name in ROUNDS
        if (name, event) in costs
    ]
    return Table(["event", "coordinator", *columns], rows)


def _median(costs: list[Cost], field: str) -> float:
    return float(median(getattr(each, field) for each in costs))


def _worst(costs: list[Cost], field: str) -> float:
    return float(max(getattr(each, field) for each in costs))


def _each(costs: list[Cost], field: str) -> str:
    values = [f"{getattr(each, field):,}" for each in costs]
    return values[0] if len(set(values)) == 1 else " / ".join(values)
