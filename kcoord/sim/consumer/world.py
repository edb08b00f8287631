"""The world of a run with consumer groups: its coordinator, its consumers, the checks and the faults."""

from __future__ import annotations

from random import Random

from kcoord.assign.consumer import ConsumerAssignor
from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from kcoord.group.state.connect_settings import ClassicMode, MigrationPolicy
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.sim.basis.trace import Sink
from kcoord.sim.consumer.checks import ConsumerChecks
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.coordinator import ConsumerCoordinator
from kcoord.sim.consumer.faults import ConsumerFaults
from kcoord.sim.consumer.flawed_assignor import FlawedConsumerAssignor
from kcoord.sim.consumer.fleet import ConsumerFleet
from kcoord.sim.coordinator import UP
from kcoord.sim.course import Course
from kcoord.sim.plans.consumer import CHANGE_MODE, draw
from kcoord.sim.plans.plan_file import RunPlan


class ConsumerWorld(Course):
    """One run."""

    context: ConsumerContext
    coordinator: ConsumerCoordinator
    fleet: ConsumerFleet
    checks: ConsumerChecks
    faults: ConsumerFaults

    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> ConsumerContext:
        if run_plan is None:
            plan, consumers = draw(random)
        else:
            assert run_plan.consumers is not None
            plan, consumers = run_plan.plan, run_plan.consumers
        return ConsumerContext(self.seed, random, plan, consumers, sink)

    def _build_components(self) -> tuple[ConsumerCoordinator, ConsumerFleet, ConsumerChecks, ConsumerFaults]:
        """Make the coordinator, the consumers, the checks and the faults, in this order: some of them draw."""
        context = self.context
        coordinator = ConsumerCoordinator(context, self._settings())
        fleet = ConsumerFleet(context)
        checks = ConsumerChecks(context, coordinator, fleet)
        return coordinator, fleet, checks, ConsumerFaults(context, coordinator, fleet, checks, self._planned_faults)

    def _assignors(self) -> tuple[ConsumerAssignor, ...]:
        """Those that come with kcoord, and in some runs one before them that goes wrong."""
        context, built_in = self.context, tuple(make() for make in CONSUMER_ASSIGNORS.values())
        if not context.plan.flawed:
            return built_in
        random = Random((context.plan.fault_seed or 0) + 6)
        return FlawedConsumerAssignor(random, context.flawed), *built_in

    def _settings(self) -> GroupSettings:
        plan, consumers = self.context.plan, self.context.consumers
        return GroupSettings(
            consumer=ConsumerSettings(
                session_timeout_ms=plan.session_ms,
                heartbeat_interval_ms=plan.interval_ms,
                heartbeat_wait_ms=consumers.wait_ms,
                heartbeats_per_s=consumers.heartbeats_per_s,
                assignment_interval_ms=consumers.assignment_interval_ms,
                max_size=consumers.max_size,
                client_assignors=consumers.computes > 0,
                assignors=self._assignors(),
                migration_policy=MigrationPolicy.BIDIRECTIONAL if consumers.downgrades else MigrationPolicy.UPGRADE,
                classic_mode=ClassicMode.INDIVIDUAL if consumers.individual else ClassicMode.BARRIER,
            )
        )

    def _heal(self) -> None:
        """End all faults. Of places that share an instance id one goes on: the others would never get in."""
        self.coordinator.look_for_topics()
        super()._heal()
        if CHANGE_MODE in self.context.plan.weights:
            self.context.events.after(1_000, self._set_modes_back)
        taken = set[tuple[str, str]]()
        for place in self.fleet.places:
            if place.instance_id is not None and place.wanted:
                name = (place.group_id, place.instance_id)
                if name in taken:
                    self.fleet.kill(place, None)
                    place.wanted = False
                taken.add(name)

    def _set_modes_back(self) -> None:
        """The administrator repeats the request until it is committed: an append that began before may still fail."""
        for at in range(self.context.consumers.groups):
            self.coordinator.alter_config(self.context.group_of(at), {})
        if self.coordinator.stage is not UP or self.coordinator.pending:
            self.context.events.after(1_000, self._set_modes_back)
