"""How does a scenario run? For one kind of group and one policy, the same each time for the same seed.

| group | workers | who assigns |
| --- | --- | --- |
| `barrier` | Java's, in a generic group: all join each round | the worker that leads, by the policy; `eager` by the eager protocol |
| `individual` | the same workers, one by one | the coordinator, by the policy; their leader is Connect's own, and says what exists |
| `connect` | ours, in a connect group | the coordinator, by the policy |

`kip-415` is Connect's own assignor in the first one, with all that its leaders remember.

The seed moves what no scenario says: how long messages take, and when within a second workers start.
"""  # noqa: E501

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import count
from random import Random

import attrs

from kcoord.assign import EagerAssignor, Resource
from kcoord.assign.policies import DESIGN_1, DESIGN_2, DESIGN_3, IncrementalAssignor, Kip415Assignor, Policy, Weights
from kcoord.group.connect.settings import ConnectSettings, LegacyMode
from kcoord.group.settings import GroupSettings
from kcoord.protocol.embedded import EAGER, SESSIONED
from kcoord.sim.events import Events
from kcoord.sim.legacy import LegacySetup
from kcoord.sim.legacy.configs import ConfigTopic
from kcoord.sim.scenario.description import LEADER, Connectors, Event, Scenario, What
from kcoord.sim.scenario.hub import Hub, Keep
from kcoord.sim.scenario.meter import Figures, Meter
from kcoord.sim.scenario.workers import READING_MS, JavaProcess, NewProcess, Process, Surroundings
from kcoord.worker.setup import Setup

GROUP = "connect-cluster"
SETTLING_MS = 600_000
"""The fleet begins so long before the scenario's second 0."""
MAX_WAIT_MS = 60_000
"""So long the coordinator may hold an answer to a worker of ours: the library's default."""


class Kind(StrEnum):
    """Of group."""

    BARRIER = "barrier"
    INDIVIDUAL = "individual"
    CONNECT = "connect"


POLICIES = (EagerAssignor.name, DESIGN_1.name, DESIGN_2.name, DESIGN_3.name, Kip415Assignor.name)


class DidNotSettle(Exception):
    """The fleet did not come to rest before the scenario began: its times cannot be."""


@attrs.frozen
class Run:
    """One run, and what came of it."""

    kind: Kind
    policy: str
    seed: int
    figures: Figures
    doubles: tuple[str, ...]
    """Where two workers had the same: there must be none."""


def run(scenario: Scenario, kind: Kind, policy: str, seed: int = 0, keep: Keep | None = None) -> Run:
    """One run. `keep` is given what each of the coordinator's steps writes. Raises DidNotSettle."""
    return _Fleet(scenario, kind, policy, seed, keep).run()


def assignor_of(scenario: Scenario, policy: str) -> EagerAssignor | IncrementalAssignor | Kip415Assignor:
    """The policy with the scenario's weights and rounds."""
    settings = scenario.settings
    weights = Weights(
        {pattern: kind.weight for name, kind in scenario.connectors.items() for pattern in kind.names(name)}
    )
    designs: dict[str, Policy] = {
        DESIGN_1.name: DESIGN_1,
        DESIGN_2.name: DESIGN_2,
        DESIGN_3.name: attrs.evolve(DESIGN_3, at_most=settings.at_most, interval_ms=_ms(settings.interval)),
    }
    if policy in designs:
        return IncrementalAssignor(designs[policy], weights)
    return EagerAssignor() if policy == EagerAssignor.name else Kip415Assignor()


class _Fleet:
    """The workers of one run, and what happens to them."""

    def __init__(self, scenario: Scenario, kind: Kind, policy: str, seed: int, keep: Keep | None) -> None:
        self._scenario, self._kind, self._policy, self._seed = scenario, kind, policy, seed
        self._events, self._random, self._topic = Events(), Random(seed), ConfigTopic()
        self._assignor = assignor_of(scenario, policy)
        self._kinds = {each: kind for name, kind in scenario.connectors.items() for each in kind.names(name)}
        self._hub = Hub(self._events, self._random, self._settings(), keep)
        self._meter = Meter(lambda: self._events.now_ms, lambda resource: self._kinds[resource[0]].weight)
        self._around = Surroundings(
            self._events, self._hub, self._meter, self._random, self._topic, self._start_ms, self._stop_ms
        )
        self._processes: dict[str, Process] = {}
        self._lives = count(1)

    def run(self) -> Run:
        """From the beginning to the end."""
        scenario, events = self._scenario, self._events
        for name, kind in scenario.connectors.items():
            if kind.from_the_start:
                self._create(name, kind)
        for at in range(scenario.workers):
            later_ms = 1_000 if scenario.leads not in ("", f"w{at}") else 0
            events.at(later_ms + self._random.randrange(1_000), self._start, f"w{at}")
        begins_ms = SETTLING_MS + _ms(scenario.begins())
        events.run(begins_ms - 1)
        if self._meter.starting():
            raise DidNotSettle(
                f"{self._kind} by {self._policy}: not all ran {begins_ms / 1000:g} s after the fleet's start, when the "
                "scenario's first event was due: let tasks start faster, or fewer of them"
            )
        self._meter.begin()
        before, requests = self._generation(), self._hub.requests
        for event in scenario.events:
            self._plan(event)
        events.run(SETTLING_MS + _ms(scenario.lasts))
        figures = self._meter.figures(
            self._generation() - before,
            self._hub.requests - requests,
            SETTLING_MS + _ms(scenario.settles_from()),
        )
        return Run(self._kind, self._policy, self._seed, figures, tuple(self._meter.doubles))

    # The fleet

    def _settings(self) -> GroupSettings:
        settings = self._scenario.settings
        session_ms, heartbeat_ms, delay_ms = map(_ms, (settings.session, settings.heartbeat, settings.delay))
        return GroupSettings(
            min_session_timeout_ms=session_ms,
            connect=ConnectSettings(
                session_timeout_ms=session_ms,
                min_session_timeout_ms=session_ms,
                max_session_timeout_ms=session_ms,
                heartbeat_interval_ms=heartbeat_ms,
                min_heartbeat_interval_ms=heartbeat_ms,
                max_heartbeat_interval_ms=heartbeat_ms,
                rebalance_delay_ms=delay_ms,
                max_rebalance_delay_ms=max(delay_ms, _ms(settings.interval)),
                assignors=(self._assignor,),
                legacy_mode=LegacyMode.INDIVIDUAL if self._kind is Kind.INDIVIDUAL else LegacyMode.BARRIER,
            ),
        )

    def _start(self, name: str) -> None:
        settings = self._scenario.settings
        process: Process
        if self._kind is Kind.CONNECT:
            newest = self._topic.newest
            process = NewProcess(
                self._around,
                name,
                Setup(
                    GROUP,
                    f"{name}-{next(self._lives)}",
                    url=f"http://{name}",
                    configured=newest.resources(),
                    config_offset=newest.offset,
                    max_wait_ms=MAX_WAIT_MS,
                    rebalance_timeout_ms=_ms(settings.rebalance),
                ),
            )
        else:
            is_connects = self._kind is Kind.INDIVIDUAL or isinstance(self._assignor, Kip415Assignor)
            eagerly = self._kind is Kind.BARRIER and self._policy == EagerAssignor.name
            process = JavaProcess(
                self._around,
                name,
                LegacySetup(
                    GROUP,
                    f"http://{name}",
                    protocol=EAGER if eagerly else SESSIONED,
                    session_timeout_ms=_ms(settings.session),
                    rebalance_timeout_ms=_ms(settings.rebalance),
                    heartbeat_interval_ms=_ms(settings.heartbeat),
                    max_delay_ms=_ms(settings.delay),
                    assignor=None if is_connects else self._assignor,
                ),
            )
        self._processes[name] = process
        process.start()

    def _generation(self) -> int:
        return self._hub.shard.generation(GROUP) or 0

    def _slowed(self, worker: str, seconds: float) -> int:
        factors = [factor for pattern, factor in self._scenario.slow.items() if fnmatchcase(worker, pattern)]
        return _ms(seconds * (factors[0] if factors else 1))

    def _start_ms(self, worker: str, resource: Resource) -> int:
        return self._slowed(worker, self._kinds[resource[0]].start)

    def _stop_ms(self, worker: str, resource: Resource) -> int:
        return self._slowed(worker, self._kinds[resource[0]].stop)

    # What happens

    def _plan(self, event: Event) -> None:
        at_ms = SETTLING_MS + _ms(event.at)
        if event.connectors:
            self._events.at(at_ms, self._configure, event)
        for place, name in enumerate(event.workers):
            later_ms = self._random.randrange(_ms(event.within) + 1) if event.within else 0
            self._events.at(at_ms + _ms(event.apart) * place + later_ms, self._happens, event, name)

    def _happens(self, event: Event, name: str) -> None:
        if event.do is What.START:
            if name in self._processes:
                self._processes[name].kill()
            self._start(name)
            return
        if name == LEADER:
            name = next((each for each, process in self._processes.items() if process.alive and process.leads), "w0")
        process = self._processes[name]
        if event.do is What.KILL:
            process.kill()
        else:
            process.leave()
        if event.back is not None:
            back = f"{name}+{next(self._lives)}" if event.renamed else name
            self._events.after(_ms(event.back), self._returns, name, back)

    def _returns(self, name: str, back: str) -> None:
        self._processes[name].kill()  # one that is still stopping is told to end by whoever starts it anew
        self._start(back)

    def _configure(self, event: Event) -> None:
        kind = self._scenario.connectors[event.connectors]
        if event.do is What.CREATE:
            self._create(event.connectors, kind)
        elif event.tasks is not None:
            for name in kind.names(event.connectors):
                self._topic.put_tasks(name, event.tasks)
            self._tell()
        else:
            for name in kind.names(event.connectors):
                self._topic.remove(name)
            self._tell()

    def _create(self, name: str, kind: Connectors) -> None:
        for each in kind.names(name):
            self._topic.put_connector(each)
            self._topic.put_tasks(each, kind.tasks)
        self._tell()

    def _tell(self) -> None:
        newest = self._topic.newest
        self._meter.configured(newest.resources())
        for process in self._processes.values():
            self._events.after(READING_MS + self._random.randrange(READING_MS), process.hear, newest)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
