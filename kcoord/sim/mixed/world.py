"""The world of a run with classic workers: as in any run, plus a config topic that all workers read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from kcoord.group.state.connect_settings import CLASSIC_MODE, CLASSIC_WAIT, MIGRATION_POLICY, MigrationPolicy
from kcoord.group.state.settings import GroupSettings
from kcoord.sim.checks import Checks
from kcoord.sim.classic_worker import ConfigTopic
from kcoord.sim.coordinator import UP
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import GROUP, Fleet
from kcoord.sim.mixed.checks import MixedChecks
from kcoord.sim.mixed.faults import MixedFaults
from kcoord.sim.mixed.fleet import MixedFleet
from kcoord.sim.mixed.plan import Mix, draw
from kcoord.sim.mixed.process import TOO_LONG_MS
from kcoord.sim.plan import Plan
from kcoord.sim.plan_file import RunPlan
from kcoord.sim.world import World

if TYPE_CHECKING:
    from kcoord.assign import Resource


class MixedWorld(World):
    """One run."""

    mix: Mix
    topic: ConfigTopic
    places: MixedFleet
    watch: MixedChecks

    def draw(self) -> Plan:
        """The plan that the seed draws."""
        plan, self.mix = draw(self.random)
        return plan

    def take(self, run_plan: RunPlan) -> Plan:
        """The plan in a plan file."""
        assert run_plan.mix is not None
        self.mix = run_plan.mix
        return run_plan.plan

    def build_components(self) -> tuple[Checks, Fleet, Faults]:
        """Make the checks, the workers and the faults."""
        self.mode, self.policy = self.mix.mode, MigrationPolicy.BIDIRECTIONAL
        self.topic = ConfigTopic()
        for name, task in sorted(self.configured):
            if task < 0:
                self.topic.put_connector(name)
                self.topic.put_tasks(name, self.plan.tasks)
        self._written = self.topic.newest.revisions
        self.written: dict[tuple[str, int], tuple[int, int]] = {}
        """By connector and revision of its task configurations: when they were written, and up to which offset."""
        self._take_over()
        self.watch = self._checks()
        self.found_group()
        self.places = self._fleet()
        return self.watch, self.places, MixedFaults(self)

    def _checks(self) -> MixedChecks:
        return MixedChecks(self)

    def _fleet(self) -> MixedFleet:
        return MixedFleet(self)

    def _settings(self) -> GroupSettings:
        settings = super()._settings()
        mix = self.mix
        connect = attrs.evolve(settings.connect, classic_mode=mix.mode, classic_wait_ms=mix.wait_ms)
        return attrs.evolve(settings, connect=connect, initial_rebalance_delay_ms=mix.gather_ms)

    def group_configuration(self) -> dict[str, str]:
        """The group's own settings of migration and placement, as they are to be."""
        return {
            CLASSIC_MODE: self.mode.value,
            MIGRATION_POLICY: self.policy.value,
            CLASSIC_WAIT: str(self.mix.wait_ms),
            **self.placement_configuration(),
        }

    # -- configuration ------------------------------------------------------------------------------------------------

    def _take_over(self) -> None:
        newest = self.topic.newest
        self.configured: frozenset[Resource] = newest.resources()
        self.config_offset = newest.offset

    def announce(self) -> None:
        """The config topic has grown. Workers read it one after the other."""
        written = self.topic.newest.revisions
        for name in written.keys() - {each for each in written if self._written.get(each) == written[each]}:
            self.written[name, written[name]] = (self.events.now_ms, self.topic.newest.offset)
        self._written = written
        self._take_over()
        if self.tracing:
            newest = self.topic.newest
            self.note("admin", f"configuration {newest.offset}: {dict(newest.task_counts)}")
        for place in self.fleet.places:
            if place.process is not None:
                self.events.after(
                    int(self.random.random() * self.random.choice((50, 500, 2_000))), self.tell, place.process
                )

    def configuration(self) -> dict[str, Any]:
        """What a new-protocol worker knows when it starts."""
        return {"configured": self.configured, "config_offset": self.config_offset}

    def reading_ms(self) -> int:
        """How long it takes to read the config topic to its end."""
        chance = self.random.random
        if self.faulty and chance() < self.mix.unread:
            return TOO_LONG_MS
        return 1 + int(chance() * 200)

    # -- the run ------------------------------------------------------------------------------------------------------

    def _heal(self) -> None:
        self.policy = MigrationPolicy.BIDIRECTIONAL
        super()._heal()
        self.events.after(1_000, self._allow_all)

    def _allow_all(self) -> None:
        """The administrator repeats the request until it is committed: an append that began before may still fail."""
        self.coordinator.alter_config(GROUP, self.group_configuration())
        if self.coordinator.stage is not UP or self.coordinator.pending:
            self.events.after(1_000, self._allow_all)
