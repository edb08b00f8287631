"""The world of one run: a coordinator, workers, a network between them, and faults; and the course of the run.

1. For a while things go wrong, as the plan says. After each step the run looks for what must never be (`checks.py`).
2. Then nothing goes wrong any more. Within a bounded time all must be well, and stay so: everything that is configured
   runs once, every member has converged, and the group is stable.
"""

from __future__ import annotations

from random import Random
from traceback import format_exception
from typing import Any

import attrs

from kcoord.assign import CooperativeAssignor, Resource, UniformAssignor
from kcoord.group.state.connect_settings import PLACEMENT, ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.sim.assignors import Assignors, FlawedServerAssignor
from kcoord.sim.checks import Checks
from kcoord.sim.coordinator import Coordinator, Stage
from kcoord.sim.events import Events
from kcoord.sim.faults import Faults
from kcoord.sim.fingerprint import Fingerprint
from kcoord.sim.fleet import Fleet
from kcoord.sim.network import Network
from kcoord.sim.plan import Plan, draw, resources
from kcoord.sim.plan_file import RunPlan
from kcoord.sim.process import SimulatedProcess
from kcoord.sim.sightings import Sightings
from kcoord.sim.trace import Sink
from kcoord.sim.trace import names as tell
from kcoord.sim.violation import Violation

LOOK_MS = 1_000
"""How often the run checks whether all is well."""
STAYS_MS = 4_000
"""How long all must stay well."""
PATIENCE_MS = 600_000
"""How long it may take until all is well, after the last fault."""


@attrs.frozen
class Outcome:
    """The outcome of one seed."""

    seed: int
    steps: int
    """Calls of the shard: requests, timers, loads."""
    hot_answers: int
    loads: int
    virtual_ms: int
    healed_ms: int
    """How long it took from the last fault until all was well."""
    violation: Violation | None = None
    met: frozenset[str] = frozenset()
    """The sometimes-conditions that the run has met."""
    fingerprint: int = 0
    """The checksum of what the coordinator wrote and answered. 0 where a run has none: in adoption."""


class World:
    """One run."""

    def __init__(self, seed: int, sink: Sink | None = None, run_plan: RunPlan | None = None) -> None:
        self.seed = seed
        self.random = Random(seed) if run_plan is None else run_plan.random()
        self.planned_faults = None if run_plan is None else run_plan.faults
        """The faults that strike. None: those that the plan draws."""
        self.plan = self.draw() if run_plan is None else self.take(run_plan)
        self._sink = sink
        self.tracing = sink is not None
        self.events = Events()
        self.steps = 0
        self.hot_answers = 0
        self.faulty = True
        self.placement = ""
        """The placement rules that the group is to have. Empty: none."""
        self.sightings = Sightings()
        self.fingerprint = Fingerprint()
        self.network = Network(self.events, self.random, self.plan)
        self.configured = resources(self.plan.connectors, dict.fromkeys(range(self.plan.connectors), self.plan.tasks))
        self.config_offset = 1
        self.checks, self.fleet, self.faults = self.build_components()

    def draw(self) -> Plan:
        """The plan that the seed draws."""
        return draw(self.random)

    def take(self, run_plan: RunPlan) -> Plan:
        """The plan in a plan file."""
        return run_plan.plan

    def build_components(self) -> tuple[Checks, Fleet, Faults]:
        """Make the checks, the workers and the faults."""
        checks = Checks(self)
        self.found_group()
        return checks, Fleet(self), Faults(self)

    def found_group(self) -> None:
        """Make what workers need."""
        self.coordinator = Coordinator(self, self._settings())
        self.assignors = Assignors(self)

    def _settings(self) -> GroupSettings:
        plan = self.plan
        flawed = [
            FlawedServerAssignor(each, self.random, self._flawed) for each in (UniformAssignor(), CooperativeAssignor())
        ]
        return GroupSettings(
            connect=ConnectSettings(
                session_timeout_ms=plan.session_ms,
                min_session_timeout_ms=3_000,
                max_session_timeout_ms=60_000,
                heartbeat_interval_ms=plan.interval_ms,
                min_heartbeat_interval_ms=100,
                rebalance_delay_ms=plan.rebalance_delay_ms,
                assignors=tuple(flawed),
            )
        )

    def _flawed(self) -> float:
        return self.plan.flawed if self.faulty else 0.0

    # -- for others ---------------------------------------------------------------------------------------------------

    def note(self, who: str, what: str) -> None:
        """Write a line of the trace."""
        if self._sink is not None:
            self._sink(f"{self.events.now_ms / 1000:9.3f}  {who:<11} {what}")

    def reachable(self) -> bool:
        """Whether a connection to the coordinator can be made now."""
        return self.coordinator.stage is not Stage.DOWN and not (self.faulty and self.random.random() < 0.02)

    def start_ms(self) -> int:
        """How long `on_assigned` takes."""
        return int(self.random.random() * 20)

    def stop_ms(self) -> int | None:
        """How long `on_revoked` takes. None: it hangs until it is cut short."""
        chance = self.random.random
        if not self.faulty or chance() >= self.plan.slow:
            return int(chance() * 100)
        return None if chance() < 0.2 else int(chance() * 15_000)

    def configuration(self) -> dict[str, Any]:
        """What a worker knows of the configuration when it starts."""
        if not self.plan.tells:
            return {}
        return {"configured": self.configured, "config_offset": self.config_offset}

    def placement_configuration(self) -> dict[str, str]:
        """The group's own setting of placement rules, as it is to be."""
        return {PLACEMENT: self.placement} if self.placement else {}

    def configure(self, configured: frozenset[Resource]) -> None:
        """From now on other resources exist. Workers hear of it one after the other."""
        self.configured = configured
        self.config_offset += 1
        if self.tracing:
            self.note("admin", f"configuration {self.config_offset}: {tell(configured)}")
        for place in self.fleet.places:
            if place.process is not None:
                self.events.after(int(self.random.random() * 2_000), self.tell, place.process)

    def tell(self, process: SimulatedProcess) -> None:
        """A worker hears what is configured now."""
        process.hear_configuration()

    # -- the run ------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run from the first worker's start until all is well."""
        violation: Violation | None = None
        healed_ms = 0
        try:
            self._begin()
            self.events.run(self.plan.faulty_ms)
            self._heal()
            healed_ms = self._be_well()
            self.checks.at_end()
        except Violation as found:
            violation = found
        except Exception as fault:  # any exception that ends a step is a finding
            if self.tracing:
                self.note("FAULT", "".join(format_exception(fault)))
            violation = Violation("fault", f"{type(fault).__name__}: {fault}")
        if violation is not None:
            self.note("VIOLATION", str(violation))
        self.sightings.counted(self.coordinator.shard.state.counters)
        return Outcome(
            self.seed,
            self.steps,
            self.hot_answers,
            self.checks.loads,
            self.events.now_ms,
            healed_ms,
            violation,
            self.sightings.names(),
            self.fingerprint.value,
        )

    def _begin(self) -> None:
        if self.tracing:
            self.note("plan", str(self.plan))
        self.coordinator.start()
        for place in self.fleet.places:
            self.events.after(int(self.random.random() * 3_000), self.fleet.start, place)
        self.faults.start()

    def _heal(self) -> None:
        """End all faults."""
        self.note("faults", "end here")
        self.faulty = False
        self.network.heal()
        self.coordinator.heal()
        for place in self.fleet.places:
            if place.process is not None:
                place.process.isolated_until_ms = 0
                place.process.thaw()
            elif self.random.random() < 0.5:
                place.wanted = True
                self.fleet.start(place)
        if not any(place.wanted for place in self.fleet.places):
            self.fleet.places[0].wanted = True
            self.fleet.start(self.fleet.places[0])

    def _be_well(self) -> int:
        """Wait until all is well and stays so. Returns how long that took, in ms."""
        checks, events = self.checks, self.events
        healed_at_ms = well_ms = events.now_ms
        epoch = checks.epoch()
        while True:
            wrong = checks.wrong()
            if wrong is not None or checks.epoch() != epoch:
                well_ms, epoch = events.now_ms + LOOK_MS, checks.epoch()
                if events.now_ms >= healed_at_ms + PATIENCE_MS:
                    raise Violation("liveness", f"{PATIENCE_MS} ms after the last fault: {wrong or 'no rest'}")
            elif events.now_ms >= well_ms + STAYS_MS:
                return well_ms - healed_at_ms
            events.run(events.now_ms + LOOK_MS)
