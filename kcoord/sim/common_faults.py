"""The faults that any kind of run has: one small function for each. The plan says how often each of them strikes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import accumulate
from random import Random
from typing import Generic, Protocol

from kcoord.sim.append import Fate
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.network import Link
from kcoord.sim.places import P, Places
from kcoord.sim.plans.plan import Fault, schedule

AIM_MS = 2_000
"""How long a fault waits for the phase that it is aimed at."""


class PhaseJudge(Protocol):
    """The judge that knows what is going on with the groups."""

    def phases(self) -> list[str]: ...


class CommonFaults(ABC, Generic[P]):
    """Draws and runs faults until the run has to be quiet."""

    def __init__(
        self,
        context: RunContext,
        coordinator: Coordinator,
        fleet: Places[P],
        checks: PhaseJudge,
        planned: tuple[Fault, ...] | None = None,
    ) -> None:
        self._context = context
        self._coordinator = coordinator
        self._fleet = fleet
        self._checks = checks
        self._planned = planned
        """The faults that strike. None: those that the plan draws."""
        coordinator.faults = self
        self.struck: list[Fault] = []
        """The faults that have struck so far."""
        self.waiting: list[Fault] = []
        """Faults whose time has come, but not their phase."""
        self._random = context.random
        self._kinds = self._weighted()
        self._names = list(self._kinds)
        self._summed = list(accumulate(self._kinds.values()))
        """The running sums of their weights."""

    @abstractmethod
    def _weighted(self) -> dict[str, int]:
        """The weights of the faults in this run, in an order that is always the same."""

    @abstractmethod
    def _call(self, kind: str) -> None:
        """Let a fault of this kind strike."""

    def start(self) -> None:
        """From now on things go wrong."""
        if self._planned is None and self._context.plan.fault_seed is not None:
            self._planned = schedule(self._context.plan, self._kinds)
        if self._planned is not None:
            self._random = Random(0)  # each fault has a seed of its own, so that one can be left out
            for fault in self._planned:
                self._context.events.at(fault.at_ms, self._strike_planned, fault)
        elif self._kinds:
            self._next()

    def _next(self) -> None:
        gap_ms = int(self._random.expovariate(1 / self._context.plan.gap_ms))
        self._context.events.after(1 + gap_ms, self._strike)

    def _strike(self) -> None:
        if self._context.faulty:
            (kind,) = self._random.choices(self._names, cum_weights=self._summed)
            self.struck.append(Fault(self._context.events.now_ms, kind, len(self.struck)))
            self._context.sightings.struck(kind, self._checks.phases())
            self._call(kind)
            self._next()

    def _strike_planned(self, fault: Fault) -> None:
        phases, aim = self._checks.phases(), self._context.plan.aim
        if aim and aim not in phases:
            self.waiting.append(fault)
            self._context.events.after(AIM_MS, self._waited, fault)
        else:
            self._strike_now(fault)

    def look(self) -> None:
        """Called after each event while faults wait for a phase: if the phase has begun, one of them strikes."""
        if self._context.plan.aim in self._checks.phases():
            self._context.events.after(0, self._strike_now, self.waiting.pop(0))

    def _waited(self, fault: Fault) -> None:
        if fault in self.waiting:
            self.waiting.remove(fault)
            self._strike_now(fault)

    def _strike_now(self, fault: Fault) -> None:
        context = self._context
        if context.faulty:
            self.struck.append(fault)
            context.sightings.struck(fault.kind, self._checks.phases())
            self._random.seed(fault.seed)
            self._call(fault.kind)

    # -- victims ------------------------------------------------------------------------------------------------------

    def _running(self) -> P | None:
        places = [place for place in self._fleet.places if place.process is not None]
        return self._random.choice(places) if places else None

    def _ms(self, *most: int) -> int:
        """A random time up to one of these."""
        return int(self._random.random() * self._random.choice(most))

    # -- the network --------------------------------------------------------------------------------------------------

    def _cut(self) -> None:
        place = self._running()
        if place is not None and place.process is not None and place.process.link is not None:
            self._context.note("network", f"cuts #{place.process.link.serial} of {place.name}")
            self._context.network.cut(place.process.link)

    def _stall(self) -> None:
        place = self._running()
        if place is not None and place.process is not None and place.process.link is not None:
            self._stall_link(place, place.process.link, self._ms(300, 3_000, 20_000))

    def _stall_link(self, place: P, link: Link, ms: int) -> None:
        requests, answers, what = self._random.choice(
            ((True, True, "all"), (True, False, "requests"), (False, True, "answers"))
        )
        self._context.note("network", f"stalls {what} on #{link.serial} of {place.name} for {ms} ms")
        self._context.network.stall(link, ms, requests=requests, answers=answers)

    def _isolate(self) -> None:
        place = self._running()
        if place is not None and place.process is not None:
            ms = self._ms(3_000, 10_000, 30_000)
            self._context.note("network", f"isolates {place.name} for {ms} ms")
            place.process.isolated_until_ms = self._context.events.now_ms + ms
            if place.process.link is not None:
                self._stall_link(place, place.process.link, ms)

    # -- the coordinator ----------------------------------------------------------------------------------------------

    def _crash(self) -> None:
        jump_ms = self._random.choice((0, 0, 5_000, -5_000))
        self._coordinator.crash(self._ms(100, 2_000, 15_000), jump_ms)

    def _fail_append(self) -> None:
        self._coordinator.disturb_next_append(Fate.IN_DOUBT)

    def _roll_back_append(self) -> None:
        self._coordinator.disturb_next_append(Fate.ROLLED_BACK)

    def _fence(self) -> None:
        self._coordinator.disturb_next_append(Fate.FENCED, self._ms(100, 3_000, 15_000))

    def _delay_append(self) -> None:
        self._coordinator.disturb_next_append(Fate.LATE, self._ms(500, 5_000, 20_000))

    def _lose_append(self) -> None:
        self._coordinator.disturb_next_append(Fate.LOST, self._ms(500, 5_000, 20_000))

    def _tear_append(self) -> None:
        self._coordinator.disturb_next_append(Fate.TORN, self._ms(100, 2_000))

    def _break_step(self) -> None:
        self._coordinator.break_next_step()

    def _freeze_coordinator(self) -> None:
        ms = self._ms(1_000, 15_000)
        self._context.note("coordinator", f"stands still for {ms} ms")
        self._coordinator.freeze(ms)

    # -- workers ------------------------------------------------------------------------------------------------------

    def _freeze(self) -> None:
        place = self._running()
        if place is None or place.process is None or place.process.frozen:
            return
        ms = self._ms(500, 5_000, 60_000)
        self._context.note(place.name, f"is frozen for {ms} ms")
        place.process.freeze()
        self._context.events.after(ms, place.process.thaw)

    def _kill(self) -> None:
        place = self._running()
        if place is not None:
            self._fleet.kill(place, self._back_ms())

    def _back_ms(self) -> int | None:
        return self._random.choice((None, 1 + self._ms(300), self._ms(3_000), self._ms(30_000)))

    def _leave(self) -> None:
        place = self._running()
        if place is not None and place.process is not None:
            permanent = self._random.random() < 0.3
            self._context.note(place.name, "wants to leave" + (" for good" if permanent else ""))
            place.process.leave(permanent)

    def _start(self) -> None:
        places = [place for place in self._fleet.places if place.process is None]
        if places:
            place = self._random.choice(places)
            place.wanted = True
            self._fleet.start(place)
