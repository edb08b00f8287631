"""The checks of runs with two releases: while this release coordinates, the checks of any run.

While the other release coordinates, its books are its own. Then the checks are those that can be made from outside: no
two workers run the same resource, no response leaves before everything is committed that it could have seen, and at the
end all is well, as the coordinator of either release describes the group. At the end the log says the same to both.
"""

from __future__ import annotations

from typing import Any

from kcoord.group.state.step import Step
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import ConnectGroupDescribeRequest, ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import unpack
from kcoord.sim.basis.phases import DOWN_PHASE, LOADING_PHASE
from kcoord.sim.basis.trace import names
from kcoord.sim.basis.violation import Violation
from kcoord.sim.coordinator import DOWN, UP
from kcoord.sim.fleet import GROUP
from kcoord.sim.judging.checks import Checks
from kcoord.sim.network import Frame
from kcoord.sim.process import SimulatedProcess
from kcoord.sim.release.coordinator import ReleaseCoordinator


class ReleaseChecks(Checks):
    """The judge of such a run."""

    _coordinator: ReleaseCoordinator

    @property
    def _is_ours(self) -> bool:
        return self._coordinator.is_ours

    def loaded(self) -> None:
        """The log has been replayed."""
        if self._is_ours:
            super().loaded()
        else:
            self.loads += 1

    def before(self, frame: Frame) -> None:
        """A request is about to be handled."""
        if self._is_ours:
            super().before(frame)

    def after(self, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        if self._is_ours:
            super().after(step, frame)

    def heard(self, process: SimulatedProcess) -> None:
        """A response was processed."""
        if self._is_ours:
            super().heard(process)

    def hot(self, frame: Frame, response: Response) -> None:
        """The hot path has responded."""
        if self._is_ours and isinstance(response, ConnectGroupHeartbeatResponse):
            super().hot(frame, response)

    def phases(self) -> list[str]:
        """What is going on with the group."""
        stage = self._coordinator.stage
        if stage is UP:
            return super().phases() if self._is_ours else []
        return [DOWN_PHASE if stage is DOWN else LOADING_PHASE]

    def _replay(self) -> None:
        if self._is_ours:
            super()._replay()

    def _rest(self) -> None:
        if self._is_ours:
            super()._rest()

    # -- at the end ---------------------------------------------------------------------------------------------------

    def _described(self) -> Any:
        [group] = self._coordinator.describe(ConnectGroupDescribeRequest(group_ids=[GROUP])).groups
        return group

    def epoch(self) -> int:
        """The group epoch."""
        return int(self._described().group_epoch) if self._coordinator.stage is UP else -1

    def wrong(self) -> str | None:
        """What is not well yet, seen from outside. None: all is well."""
        if self._coordinator.stage is not UP:
            return "the coordinator is not there"
        if self._fleet.is_starting():
            return "a worker is to start yet"
        group = self._described()
        if group.group_state != "Stable" or group.assignment_error:
            return f"the group is {group.group_state}, assignment error {group.assignment_error}"
        owned = {member.member_id: unpack(member.owned) for member in group.members}
        if owned.keys() != {process.member_id for process in self._processes}:
            return f"members are {sorted(owned)}"
        for process in self._processes:
            if process.running != owned[process.member_id]:
                return f"{process.name} runs {names(process.running)}, may run {names(owned[process.member_id])}"
        configured = self._context.configured
        running = sorted(resource for process in self._processes for resource in process.running)
        return None if running == sorted(configured) else f"{names(configured)} are configured"

    def at_end(self) -> None:
        """The checks at the end of the run."""
        super().at_end()
        coordinator = self._coordinator
        for compacted in (False, True):
            found = [
                _durable(coordinator.replayed_by(side, compacted=compacted, everything=True))
                for side in coordinator.sides
            ]
            if found[0] != found[1]:
                raise Violation("releases", f"one log says {found[0]} to one release, {found[1]} to the other")


def _durable(shard: Any) -> object:
    """What both releases must read from a log in the same way."""
    group = shard.state.connect[GROUP]
    members = {at: (*_identity(member), member.current) for at, member in group.members.items()}
    targets = {at: target.resources for at, target in group.targets.items()}
    return group.epoch, group.assignment_epoch, members, targets, group.configured and group.configured.resources


def _identity(member: Any) -> tuple[str | None, str | None]:
    """The instance id and the url of a member, which 0.1.0 keeps under another name."""
    reported = member.metadata if hasattr(member, "metadata") else member.said
    return reported.instance_id, reported.url
