"""The run of a scenario, for one kind of group and one policy. It is the same each time for the same seed.

| group | workers | who assigns |
| --- | --- | --- |
| `barrier` | Java's, in a classic group: all join each round | the worker that leads, by the policy; `eager` by the eager protocol |
| `individual` | the same workers, one by one | the coordinator, by the policy; their leader is Connect's own, and says what exists |
| `connect` | kcoord's, in a connect group | the coordinator, by the policy |

In `barrier`, `kip-415` is Connect's own assignor, with all that its leaders remember.

The seed decides what no scenario says: how long messages take, and when within a second workers start.
"""  # noqa: E501

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import partial
from itertools import count
from random import Random

import attrs

from kcoord.assign import EagerAssignor, Resource
from kcoord.assign.policies import DESIGN_1, DESIGN_2, DESIGN_3, IncrementalAssignor, Kip415Assignor, Policy, Weights
from kcoord.group.state.connect_settings import ClassicMode, ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.embedded import EAGER, SESSIONED
from kcoord.sim.basis.events import Events
from kcoord.sim.classic_worker import ClassicSetup
from kcoord.sim.classic_worker.configs import ConfigTopic
from kcoord.sim.scenario.description import LEADER, Connectors, Event, Scenario, What
from kcoord.sim.scenario.hub import Hub, Keep
from kcoord.sim.scenario.meter import Figures, Meter
from kcoord.sim.scenario.operator import LOOK_MS, Operator
from kcoord.sim.scenario.workers import READING_MS, JavaProcess, NewProcess, Process, Surroundings
from kcoord.worker.setup import Setup

GROUP = "connect-cluster"
SETTLING_MS = 600_000
"""How long before the scenario's second 0 the fleet begins."""
LONGEST_TURN_MS = 300_000
"""How long a drained worker may stay away after its stop before the next one is drained."""
MAX_WAIT_MS = 60_000
"""How long the coordinator may hold a response to one of kcoord's workers: the library's default."""


class Kind(StrEnum):
    """The kinds of groups."""

    BARRIER = "barrier"
    INDIVIDUAL = "individual"
    CONNECT = "connect"


POLICIES = (EagerAssignor.name, DESIGN_1.name, DESIGN_2.name, DESIGN_3.name, Kip415Assignor.name)


class NoFigures(Exception):
    """There is nothing to measure. The text says why."""


class DidNotSettle(NoFigures):
    """The fleet did not come to rest before the scenario began, so its times are impossible."""


class RulesCannotHold(NoFigures):
    """The scenario has placement rules, and a group of this kind does not follow any."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(
            f"{kind}: placement rules and drains do not work in a group whose workers all join together: try "
            f"{Kind.INDIVIDUAL} or {Kind.CONNECT}"
        )


@attrs.frozen
class Run:
    """One run, and its figures."""

    kind: Kind
    policy: str
    seed: int
    figures: Figures
    doubles: tuple[str, ...]
    """A text for each time that two workers had the same resource. There must be none."""


def run(
    scenario: Scenario,
    kind: Kind,
    policy: str,
    seed: int = 0,
    keep: Keep | None = None,
    only_with_workers: bool = False,
) -> Run:
    """One run. `keep` gets what each of the coordinator's steps writes. `only_with_workers`: tasks that stand still
    while no worker is there do not count. Raises NoFigures.
    """
    if scenario.has_rules() and not follows_rules(kind):
        raise RulesCannotHold(kind)
    fleet = _Fleet(scenario, kind, policy, seed, keep)
    fleet.meter.only_with_workers = only_with_workers
    return fleet.run()


def follows_rules(kind: Kind) -> bool:
    """Whether placement rules hold in such a group, because the coordinator decides who runs what."""
    return kind is not Kind.BARRIER


def assignor_of(scenario: Scenario, policy: str) -> EagerAssignor | IncrementalAssignor | Kip415Assignor:
    """The policy with the scenario's weights and rounds."""
    settings = scenario.settings
    weights = Weights(
        {pattern: kind.weight for name, kind in scenario.connectors.items() for pattern in kind.called(name)}
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
        self._kinds = {each: kind for name, kind in scenario.connectors.items() for each in kind.called(name)}
        self._hub = Hub(self._events, self._random, self._settings(), keep)
        self.meter = Meter(lambda: self._events.now_ms, lambda resource: self._kinds[resource.connector].weight)
        self._around = Surroundings(
            self._events, self._hub, self.meter, self._random, self._topic, self._start_ms, self._stop_ms
        )
        self._operator = Operator(GROUP, self._events, self._hub, self.meter)
        self._processes: dict[str, Process] = {}
        self._lives = count(1)
        self._in_line: deque[tuple[Event, str]] = deque()
        """Workers that are drained and stopped in turns. It is the first one's turn."""
        self._unfinished = 0
        """How many of those workers have not gone yet, or are not back."""
        self._settles_from_ms = SETTLING_MS + _ms(scenario.settles_from())

    def run(self) -> Run:
        """Run from the beginning to the end."""
        scenario, events = self._scenario, self._events
        if scenario.rules:
            self._operator.apply(scenario.rules)
        for name, kind in scenario.connectors.items():
            if kind.from_the_start:
                self._create(name, kind)
        for at in range(scenario.workers):
            later_ms = 1_000 if scenario.leads not in ("", f"w{at}") else 0
            events.at(later_ms + self._random.randrange(1_000), self._start, f"w{at}")
        begins_ms = SETTLING_MS + _ms(scenario.begins())
        events.run(begins_ms - 1)
        if self.meter.starting():
            raise DidNotSettle(
                f"{self._kind} by {self._policy}: not all ran {begins_ms / 1000:g} s after the fleet's start, when the "
                "scenario's first event was due: let tasks start faster, or fewer of them"
                + (", or let placement rules leave a place for all" if scenario.rules else "")
            )
        self.meter.begin()
        before, requests = self._generation(), self._hub.requests
        for event in scenario.events:
            self._plan(event)
        self._run_to_the_end()
        figures = self.meter.figures(self._generation() - before, self._hub.requests - requests, self._settles_from_ms)
        return Run(self._kind, self._policy, self._seed, figures, tuple(self.meter.doubles))

    def _run_to_the_end(self) -> None:
        """Run until all drains are over. The scenario lasts longer by the time that draining took."""
        planned_ms, lasts_ms = self._settles_from_ms, SETTLING_MS + _ms(self._scenario.lasts)
        self._events.run(lasts_ms)
        while self._unfinished:
            self._events.run(self._events.now_ms + LOOK_MS)
        self._events.run(max(lasts_ms, lasts_ms + self._settles_from_ms - planned_ms))

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
                classic_mode=ClassicMode.INDIVIDUAL if self._kind is Kind.INDIVIDUAL else ClassicMode.BARRIER,
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
                    url=self._scenario.url_of(name),
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
                ClassicSetup(
                    GROUP,
                    self._scenario.url_of(name),
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
        return self._hub.shard.facts(GROUP).generation or 0

    def _slowed(self, worker: str, seconds: float) -> int:
        factors = [factor for pattern, factor in self._scenario.slow.items() if fnmatchcase(worker, pattern)]
        return _ms(seconds * (factors[0] if factors else 1))

    def _start_ms(self, worker: str, resource: Resource) -> int:
        return self._slowed(worker, self._kinds[resource.connector].start)

    def _stop_ms(self, worker: str, resource: Resource) -> int:
        return self._slowed(worker, self._kinds[resource.connector].stop)

    # What happens

    def _plan(self, event: Event) -> None:
        at_ms = SETTLING_MS + _ms(event.at)
        if event.rules is not None:
            self._events.at(at_ms, self._operator.apply, event.rules)
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
        elif event.drain:
            self._unfinished += 1
            self._in_line.append((event, name))
            if len(self._in_line) == 1:
                self._take_turn()
        elif event.do in (What.DRAIN, What.CORDON):
            self._operator.cordon(self._scenario.url_of(self._meant(name)), drains=event.do is What.DRAIN)
        elif event.do is What.UNCORDON:
            self._operator.uncordon(self._scenario.url_of(self._meant(name)))
        else:
            self._goes(event, self._meant(name), self._returns)

    def _meant(self, name: str) -> str:
        """The worker of that name, or the worker that leads now."""
        if name != LEADER:
            return name
        return next((each for each, process in self._processes.items() if process.alive and process.leads), "w0")

    def _goes(self, event: Event, name: str, returns: Callable[[str, str], None]) -> None:
        """The worker is stopped or killed. `returns` is called when it is to be back."""
        process = self._processes[name]
        if event.do is What.KILL:
            process.kill()
        else:
            process.leave()
        if event.back is not None:
            back = f"{name}+{next(self._lives)}" if event.renamed else name
            self._events.after(_ms(event.back), returns, name, back)

    def _returns(self, name: str, back: str) -> None:
        self._processes[name].kill()  # it may still be stopping when it is started again
        self._start(back)

    # Drained to be stopped

    def _take_turn(self) -> None:
        event, name = self._in_line[0]
        name = self._meant(name)
        self._operator.drain(name, self._scenario.url_of(name), partial(self._drained, event, name))

    def _end_turn(self) -> None:
        self._in_line.popleft()
        if self._in_line:
            self._take_turn()

    def _drained(self, event: Event, name: str) -> None:
        self._goes(event, name, self._returns_drained)
        if event.back is None:
            self._await_end(name, self._processes[name])
        else:
            self._events.after(min(_ms(event.back), LONGEST_TURN_MS), self._end_turn)

    def _await_end(self, name: str, process: Process) -> None:
        if process.alive:
            self._events.after(LOOK_MS, self._await_end, name, process)
        else:
            self._used_again(name)
            self._end_turn()

    def _returns_drained(self, name: str, back: str) -> None:
        self._returns(name, back)
        self._used_again(name)

    def _used_again(self, name: str) -> None:
        self._operator.uncordon(self._scenario.url_of(name))
        self._unfinished -= 1
        self._settles_from_ms = max(self._settles_from_ms, self._events.now_ms)

    def _configure(self, event: Event) -> None:
        kind = self._scenario.connectors[event.connectors]
        if event.do is What.CREATE:
            self._create(event.connectors, kind)
        elif event.tasks is not None:
            for name in kind.called(event.connectors):
                self._topic.put_tasks(name, event.tasks)
            self._tell()
        else:
            for name in kind.called(event.connectors):
                self._topic.remove(name)
            self._tell()

    def _create(self, name: str, kind: Connectors) -> None:
        for each in kind.called(name):
            self._topic.put_connector(each)
            self._topic.put_tasks(each, kind.tasks)
        self._tell()

    def _tell(self) -> None:
        newest = self._topic.newest
        self.meter.configured(newest.resources())
        for process in self._processes.values():
            self._events.after(READING_MS + self._random.randrange(READING_MS), process.hear, newest)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
