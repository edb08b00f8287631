"""The world of a run with a connect group: its coordinator, its workers, the checks and the faults.

What must never be is in `judging/checks.py`. At the end everything that is configured must run once, every member must
have converged, and the group must be stable.
"""

from __future__ import annotations

from random import Random

from kcoord.assign import CooperativeAssignor, UniformAssignor
from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.sim.assignors import Assignors, FlawedServerAssignor
from kcoord.sim.basis.trace import Sink
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.course import Course
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.judging.checks import Checks
from kcoord.sim.plans.plan import draw
from kcoord.sim.plans.plan_file import RunPlan


class World(Course):
    """One run."""

    fleet: Fleet
    checks: Checks
    faults: Faults

    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> RunContext:
        """Make the context, with the plan that the seed draws or that of a plan file."""
        return RunContext(self.seed, random, draw(random) if run_plan is None else run_plan.plan, sink)

    def _build_components(self) -> tuple[Coordinator, Fleet, Checks, Faults]:
        """Make the coordinator, the workers, the checks and the faults, in this order: some of them draw."""
        context = self.context
        coordinator = Coordinator(context, self._settings())
        fleet = Fleet(context, Assignors(context))
        checks = Checks(context, coordinator, fleet)
        return coordinator, fleet, checks, Faults(context, coordinator, fleet, checks, self._planned_faults)

    def _settings(self) -> GroupSettings:
        context, plan = self.context, self.context.plan
        flawed = [
            FlawedServerAssignor(each, context.random, context.flawed)
            for each in (UniformAssignor(), CooperativeAssignor())
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
