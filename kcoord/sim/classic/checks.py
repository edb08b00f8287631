"""The checks of a classic group: what must never be, and what must be so at the end.

| invariant | |
| --- | --- |
| one owner | no two workers run a resource, except those that the coordinator removed without their knowing |
| storm | none of kcoord's workers joins endlessly, once nothing goes wrong any more |
| liveness | once nothing goes wrong any more: everything is shared, no worker wants a round, and it stays so |

It also checks what `kcoord.sim.mixed.checks` checks in Java's workers.
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.step import Step
from kcoord.protocol.messages import JoinGroupRequest
from kcoord.sim.basis.trace import names
from kcoord.sim.classic.context import ClassicContext
from kcoord.sim.classic.process import LibraryProcess
from kcoord.sim.coordinator import UP
from kcoord.sim.mixed.checks import MixedChecks
from kcoord.sim.mixed.convergence import of_another_protocol, wrong_in_classic_workers
from kcoord.sim.mixed.process import ClassicProcess
from kcoord.sim.network import Frame
from kcoord.sim.process import SimulatedProcess


class ClassicChecks(MixedChecks):
    """The judge of a run."""

    _context: ClassicContext

    def judge(self, process: SimulatedProcess) -> None:
        """At most one owner of each resource."""
        for each in self._processes:
            if isinstance(each, LibraryProcess):
                self._see_eviction(each)
        super().judge(process)

    def settled(self, process: ClassicProcess) -> bool:
        """Whether a Java worker that left without having stopped is a member again, and the leader has separated its
        work from that of the workers that got it meanwhile.
        """
        others = [each for each in self._processes if each is not process]
        return super().settled(process) and all(process.running.isdisjoint(each.running) for each in others)

    def heard(self, process: SimulatedProcess) -> None:
        """A response was processed."""
        if isinstance(process, LibraryProcess):
            self._see_eviction(process)
        else:
            super().heard(process)

    def before(self, frame: Frame) -> None:
        """A request is about to be handled. A JoinGroup that comes late on a connection that its worker has given up
        moves a round on without the worker, on Kafka's coordinator too.
        """
        super().before(frame)
        if isinstance(frame.request, JoinGroupRequest) and not frame.link.client_open:
            for process in self._fleet.processes():
                if isinstance(process, LibraryProcess) and process.member_id == frame.request.member_id:
                    process.evicted = True

    def after(self, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        super().after(step, frame)
        if step.records:
            for process in self._processes:
                if isinstance(process, LibraryProcess):
                    self._see_eviction(process)

    def _see_eviction(self, process: LibraryProcess) -> None:
        """Note whether the coordinator counts the worker as a member."""
        if self._coordinator.stage is not UP:
            return
        classic = self.classic()
        is_member = classic is not None and process.member_id in classic.members
        knows = classic is not None and process.classic.epoch == classic.record.generation
        if is_member and process.evicted and process.classic.is_member and knows:
            process.evicted = False
        elif not is_member and process.running and not process.evicted:
            process.evicted = True
            self._context.note(process.name, f"is no member, and runs {names(process.running)}")

    # -- at the end ---------------------------------------------------------------------------------------------------

    def epoch(self) -> int:
        """The generation."""
        classic = self.classic()
        return -1 if classic is None else classic.record.generation

    def wrong(self) -> str | None:
        """What is not well yet. None: all is well."""
        context, classic = self._context, self.classic()
        if self._coordinator.stage is not UP:
            return "the coordinator is not there"
        if self._fleet.is_starting():
            return "a worker is to start yet"
        if context.is_to_delete:
            return "a connector is to be deleted yet"
        if classic is None or classic.state is not ClassicState.STABLE:
            return f"the group is {'not there' if classic is None else classic.state.label}"
        ids = sorted(process.member_id for process in self._processes)
        if sorted(classic.members) != ids:
            return f"members are {sorted(classic.members)}, workers are {ids}"
        for process in self._processes:
            if isinstance(process, LibraryProcess) and not process.is_settled:
                return f"{process.name} is {process.classic.phase.name}, runs {names(process.running)}"
        # a leader that has lost its memory lets deleted work run on, as in Kafka
        running = sorted(each for process in self._processes for each in process.running if each in context.configured)
        if running != sorted(context.configured):
            return f"{names(context.configured)} are configured, {names(running)} run"
        workers = [each for each in self._processes if isinstance(each, ClassicProcess)]
        return of_another_protocol(workers) or wrong_in_classic_workers(workers)
