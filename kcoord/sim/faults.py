"""The faults of runs with connect groups: those of any run, and what happens to a group and its workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from kcoord.group.state.connect_settings import ASSIGNORS, HEARTBEAT_INTERVAL, REBALANCE_DELAY, SESSION_TIMEOUT
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from kcoord.sim.common_faults import CommonFaults
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.fleet import GROUP, Fleet, Place
from kcoord.sim.judging.checks import Checks
from kcoord.sim.plans.plan import PLACEMENT, Fault, resources
from kcoord.sim.worker import Process


class Faults(CommonFaults[Place]):
    """Draws and runs faults until the run has to be quiet."""

    _fleet: Fleet

    def __init__(
        self,
        context: RunContext,
        coordinator: Coordinator,
        fleet: Fleet,
        checks: Checks,
        planned: tuple[Fault, ...] | None = None,
    ) -> None:
        self._own_settings: Mapping[str, str] = {}
        """What the group itself has set last, except its placement rules."""
        super().__init__(context, coordinator, fleet, checks, planned)

    def _weighted(self) -> dict[str, int]:
        weights = self._context.plan.weights
        return {kind: weights[kind] for kind in FAULTS if weights.get(kind)}

    def _call(self, kind: str) -> None:
        FAULTS[kind](self)

    # -- the group ----------------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        self._coordinator.ask(
            self._random.choice(
                (
                    ConnectGroupDescribeRequest(group_ids=[GROUP]),
                    DescribeGroupsRequest(groups=[GROUP]),
                    ListGroupsRequest(),
                )
            )
        )

    def _delete(self) -> None:
        self._coordinator.ask(DeleteGroupsRequest(groups_names=[GROUP]))

    def _settings(self) -> None:
        choice = self._random.choice
        values = {}
        if choice((True, True, False)):
            values[SESSION_TIMEOUT] = str(choice((3_000, 6_000, 10_000, 25_000)))
        if choice((True, False)):
            values[HEARTBEAT_INTERVAL] = str(choice((400, 1_000, 2_000)))
        if choice((True, False)):
            values[REBALANCE_DELAY] = str(choice((0, 3_000, 20_000)))
        if choice((True, False, False)):
            values[ASSIGNORS] = choice(("uniform,cooperative", "cooperative,uniform"))
        self._own_settings = values
        self._alter(values)
        if choice((True, False)):
            self._context.events.after(self._ms(1_000), self._isolate)

    def _alter(self, values: Mapping[str, str]) -> None:
        """Give the group these settings of its own. Its placement rules stay."""
        self._coordinator.alter_config(GROUP, {**values, **self._context.placement_configuration()})

    def _placement(self) -> None:
        """Give the group other placement rules, or none."""
        if self._context.plan.placements:
            self._context.placement = self._random.choice(self._context.plan.placements)
            self._alter(self._own_settings)

    # -- workers ------------------------------------------------------------------------------------------------------

    def _configure(self) -> None:
        if self._context.plan.tells:
            plan, random = self._context.plan, self._random
            connectors = random.randint(0, plan.connectors)
            tasks = {at: random.randint(0, plan.tasks) for at in range(connectors)}
            self._fleet.configure(resources(connectors, tasks))

    def _metadata(self) -> None:
        place = self._running()
        if place is not None:
            self._change(place)

    def _burst(self) -> None:
        """One worker has much to report while its requests are on their way, and work moves meanwhile."""
        place = self._running()
        if place is None:
            return
        for _ in range(3):
            self._context.events.after(self._ms(30, 300, 1_000), self._change, place)
        if self._random.random() < 0.7:
            self._configure()
            if place.process is not None:
                place.process.hear_configuration()

    def _change(self, place: Place) -> None:
        """The worker reports something new about itself."""
        if not isinstance(place.process, Process):
            return
        choice = self._random.choice
        if place.offers and self._random.random() < 0.5:
            first, *others = place.offers
            first = attrs.evolve(first, reason=choice((0, 1, 2)), metadata=choice((b"", b"x", b"y")))
            place.offers = (first, *others)
            changes: dict[str, Any] = {"offers": place.offers}
        else:
            changes = {"rebalance_timeout_ms": choice((1_000, 3_000, 10_000))}
        place.changes.update(changes)
        place.process.update(**changes)


FAULTS: Mapping[str, Callable[[Faults], None]] = {
    "cut": Faults._cut,
    "stall": Faults._stall,
    "isolate": Faults._isolate,
    "crash": Faults._crash,
    "fail_append": Faults._fail_append,
    "roll_back_append": Faults._roll_back_append,
    "lose_append": Faults._lose_append,
    "delay_append": Faults._delay_append,
    "tear_append": Faults._tear_append,
    "fence": Faults._fence,
    "break_step": Faults._break_step,
    "freeze_coordinator": Faults._freeze_coordinator,
    "freeze": Faults._freeze,
    "kill": Faults._kill,
    "leave": Faults._leave,
    "start": Faults._start,
    "configure": Faults._configure,
    "settings": Faults._settings,
    "metadata": Faults._metadata,
    "burst": Faults._burst,
    "ask": Faults._ask,
    "delete": Faults._delete,
    PLACEMENT: Faults._placement,
}
