"""The checks of a classic group: what must never be, and what must be so at the end.

| invariant | |
| --- | --- |
| one owner | no two workers run a resource, except those that the coordinator removed without their knowing |
| storm | none of kcoord's workers joins endlessly, once nothing goes wrong any more |
| liveness | once nothing goes wrong any more: everything is shared, no worker wants a round, and it stays so |

It also checks what `kcoord.sim.mixed.checks` checks in Java's workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcoord.group.state.groups.classic_states import State
from kcoord.group.state.step import Step
from kcoord.protocol.messages import JoinGroupRequest
from kcoord.sim.classic.process import GenericProcess
from kcoord.sim.coordinator import UP
from kcoord.sim.process import Living
from kcoord.sim.mixed.checks import MixedChecks
from kcoord.sim.mixed.process import LegacyProcess
from kcoord.sim.mixed.convergence import of_another_protocol, wrong_in_classic_workers
from kcoord.sim.network import Frame
from kcoord.sim.trace import names

if TYPE_CHECKING:
    from kcoord.sim.classic.world import ClassicWorld


class ClassicChecks(MixedChecks):
    """The judge of a run."""

    def __init__(self, world: ClassicWorld) -> None:
        super().__init__(world)
        self._classic = world

    def judge(self, process: Living) -> None:
        """At most one owner of each resource."""
        for each in self._processes:
            if isinstance(each, GenericProcess):
                self._see_eviction(each)
        super().judge(process)

    def settled(self, process: LegacyProcess) -> bool:
        """Whether a Java worker that left without having stopped is a member again, and the leader has separated its
        work from that of the workers that got it meanwhile.
        """
        others = [each for each in self._processes if each is not process]
        return super().settled(process) and all(process.running.isdisjoint(each.running) for each in others)

    def heard(self, process: Living) -> None:
        """A response was processed."""
        if isinstance(process, GenericProcess):
            self._see_eviction(process)
        else:
            super().heard(process)

    def before(self, frame: Frame) -> None:
        """A request is about to be handled. A JoinGroup that comes late on a connection that its worker has given up
        moves a round on without the worker, on Kafka's coordinator too.
        """
        super().before(frame)
        if isinstance(frame.request, JoinGroupRequest) and not frame.link.client_open:
            for process in self._classic.fleet.processes():
                if isinstance(process, GenericProcess) and process.member_id == frame.request.member_id:
                    process.evicted = True

    def after(self, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        super().after(step, frame)
        if step.records:
            for process in self._processes:
                if isinstance(process, GenericProcess):
                    self._see_eviction(process)

    def _see_eviction(self, process: GenericProcess) -> None:
        """Note whether the coordinator counts the worker as a member."""
        if self._world.coordinator.stage is not UP:
            return
        generic = self.generic()
        is_member = generic is not None and process.member_id in generic.members
        knows = generic is not None and process.generic.epoch == generic.record.generation
        if is_member and process.evicted and process.generic.is_member and knows:
            process.evicted = False
        elif not is_member and process.running and not process.evicted:
            process.evicted = True
            self._world.note(process.name, f"is no member, and runs {names(process.running)}")

    # -- at the end ---------------------------------------------------------------------------------------------------

    def epoch(self) -> int:
        """The generation."""
        generic = self.generic()
        return -1 if generic is None else generic.record.generation

    def wrong(self) -> str | None:
        """What is not well yet. None: all is well."""
        world, generic = self._classic, self.generic()
        if world.coordinator.stage is not UP:
            return "the coordinator is not there"
        if any(place.wanted and place.process is None for place in world.fleet.places):
            return "a worker is to start yet"
        if world.is_to_delete:
            return "a connector is to be deleted yet"
        if generic is None or generic.state is not State.STABLE:
            return f"the group is {'not there' if generic is None else generic.state.label}"
        ids = sorted(process.member_id for process in self._processes)
        if sorted(generic.members) != ids:
            return f"members are {sorted(generic.members)}, workers are {ids}"
        for process in self._processes:
            if isinstance(process, GenericProcess) and not process.is_settled:
                return f"{process.name} is {process.generic.phase.name}, runs {names(process.running)}"
        # a leader that has lost its memory lets deleted work run on, as in Kafka
        running = sorted(each for process in self._processes for each in process.running if each in world.configured)
        if running != sorted(world.configured):
            return f"{names(world.configured)} are configured, {names(running)} run"
        legacy = [each for each in self._processes if isinstance(each, LegacyProcess)]
        return of_another_protocol(legacy) or wrong_in_classic_workers(legacy)
