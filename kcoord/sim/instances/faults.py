"""The faults of instances: they stand still, die, or give the shard away; a clock is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.instances.context import InstancesContext
from kcoord.sim.instances.coordinator import SharedCoordinator
from kcoord.sim.instances.instance import Instance
from kcoord.sim.judging.checks import Checks
from kcoord.sim.plans.plan import Fault

WEIGHTS: Mapping[str, int] = {"stop_instance": 12, "kill_instance": 2, "move_shard": 4, "set_clock": 3, "move_on": 6}
HOUR_MS = 3_600_000


class InstancesFaults(Faults):
    """The faults of any run, and those of instances, which are drawn separately."""

    _coordinator: SharedCoordinator

    def __init__(
        self,
        context: InstancesContext,
        coordinator: SharedCoordinator,
        fleet: Fleet,
        checks: Checks,
        planned: tuple[Fault, ...] | None,
        planned_weights: Mapping[str, int] | None,
    ) -> None:
        self._choices = context.choices
        self._planned_weights = planned_weights
        self.weights: Mapping[str, int]
        """The weights of the faults of instances in this run. 0: never."""
        super().__init__(context, coordinator, fleet, checks, planned)

    def _weighted(self) -> dict[str, int]:
        drawn = {kind: self._choices.choice((0, weight, 4 * weight)) for kind, weight in WEIGHTS.items()}
        self.weights = drawn if self._planned_weights is None else self._planned_weights
        return {**super()._weighted(), **{kind: weight for kind, weight in self.weights.items() if weight}}

    def _call(self, kind: str) -> None:
        if kind in INSTANCE_FAULTS:
            INSTANCE_FAULTS[kind](self)
        else:
            super()._call(kind)

    def _some_ms(self, *most: int) -> int:
        return int(self._choices.random() * self._choices.choice(most))

    def _instance(self) -> Instance:
        return self._choices.choice(self._coordinator.instances)

    def _stop_instance(self) -> None:
        self._coordinator.stop(self._instance(), self._some_ms(500, 3_000, 15_000, 40_000))

    def _kill_instance(self) -> None:
        if sum(each.up for each in self._coordinator.instances) > 1:
            self._coordinator.kill(self._instance(), 100 + self._some_ms(1_000, 20_000))

    def _move_shard(self) -> None:
        self._coordinator.move(self._some_ms(10, 500))

    def _set_clock(self) -> None:
        step_ms = self._choices.choice((-2 * HOUR_MS, 2 * HOUR_MS, -24 * HOUR_MS, 24 * HOUR_MS, 30_000, -30_000))
        instance = self._instance()
        self._context.note(instance.name, f"its wall clock is set by {step_ms} ms")
        instance.wall_ms += step_ms

    def _move_on(self) -> None:
        """A worker's connection breaks at once, so that the worker connects to another instance while its request waits
        here.
        """
        place = self._running()
        if place is not None and place.process is not None and place.process.link is not None:
            self._context.network.cut(place.process.link)


INSTANCE_FAULTS: Mapping[str, Callable[[InstancesFaults], None]] = {
    "stop_instance": InstancesFaults._stop_instance,
    "kill_instance": InstancesFaults._kill_instance,
    "move_shard": InstancesFaults._move_shard,
    "set_clock": InstancesFaults._set_clock,
    "move_on": InstancesFaults._move_on,
}
