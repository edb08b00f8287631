"""The context of a run with classic workers: as in any run, plus the config topic that all workers read, and how the
group is to be migrated.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kcoord.group.state.connect_settings import CLASSIC_MODE, CLASSIC_WAIT, MIGRATION_POLICY, MigrationPolicy
from kcoord.sim.basis.trace import Sink
from kcoord.sim.classic_worker import ConfigTopic
from kcoord.sim.context import RunContext
from kcoord.sim.plans.mixed import Mix
from kcoord.sim.plans.plan import Plan

TOO_LONG_MS = 12_000
"""How long reading the config topic takes when a worker does not wait for it."""


class MixedContext(RunContext):
    """What the parts of a mixed run share."""

    def __init__(self, seed: int, random: Random, plan: Plan, mix: Mix, sink: Sink | None = None) -> None:
        super().__init__(seed, random, plan, sink)
        self.mix = mix
        self.mode, self.policy = mix.mode, MigrationPolicy.BIDIRECTIONAL
        self.topic = ConfigTopic()
        for name, task in sorted(self.configured):
            if task < 0:
                self.topic.put_connector(name)
                self.topic.put_tasks(name, plan.tasks)
        self._revisions = self.topic.newest.revisions
        self.written: dict[tuple[str, int], tuple[int, int]] = {}
        """By connector and revision of its task configurations: when they were written, and up to which offset."""
        self._take_over()

    def _take_over(self) -> None:
        newest = self.topic.newest
        self.configured = newest.resources()
        self.config_offset = newest.offset

    def read_topic(self) -> None:
        """The config topic has grown: what is in it now is what exists."""
        written, known = self.topic.newest.revisions, self._revisions
        for name in written.keys() - {each for each in written if known.get(each) == written[each]}:
            self.written[name, written[name]] = (self.events.now_ms, self.topic.newest.offset)
        self._revisions = written
        self._take_over()

    def group_configuration(self) -> dict[str, str]:
        """The group's own settings of migration and placement, as they are to be."""
        return {
            CLASSIC_MODE: self.mode.value,
            MIGRATION_POLICY: self.policy.value,
            CLASSIC_WAIT: str(self.mix.wait_ms),
            **self.placement_configuration(),
        }

    def configuration(self) -> dict[str, Any]:
        """What a new-protocol worker knows when it starts."""
        return {"configured": self.configured, "config_offset": self.config_offset}

    def reading_ms(self) -> int:
        """How long it takes to read the config topic to its end."""
        chance = self.random.random
        if self.faulty and chance() < self.mix.unread:
            return TOO_LONG_MS
        return 1 + int(chance() * 200)
