"""Computing an assignment: how a chosen worker gets the group, and how its assignment gets back to the coordinator.

The coordinator freezes what was prepared (CG-18): the install names the group epoch of that input.
"""

from __future__ import annotations

from enum import Enum

import attrs

from kcoord.assign import Assignment, ConnectAssignor, Departed, Group, Member
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.generated.connect_group_install_assignment_request import ConnectGroupInstallAssignmentRequest
from kcoord.protocol.generated.connect_group_prepare_assignment_request import ConnectGroupPrepareAssignmentRequest
from kcoord.protocol.generated.connect_group_prepare_assignment_response import ConnectGroupPrepareAssignmentResponse
from kcoord.protocol.resources import pack, unpack
from kcoord.worker.setup import Setup

ASSIGNOR_FAILED = 1
"""The error in an install whose assignor gave no assignment: another worker is asked (CG-20)."""


class Step(Enum):
    """The steps of a computation."""

    IDLE = "nothing to compute"
    PREPARING = "the group is asked for"
    ASSIGNING = "the assignor runs"
    INSTALLING = "the assignment is under way"
    WAITING = "the assignment is to be sent again with the epoch of the next answer"


IDLE = Step.IDLE


@attrs.define
class Computing:
    """The computation that this worker was chosen for. Repeats of the choice change nothing while it runs (CG-17)."""

    step: Step = Step.IDLE
    number: int = -1
    """The number of the request under way, or of the Assign action."""
    group_epoch: int = -1
    assignment: Assignment | None = None
    assignor: str | None = None
    """The assignor that the coordinator named last."""

    def stop(self) -> None:
        """Give up the computation; the coordinator asks again if it still wants it."""
        self.step, self.number, self.group_epoch, self.assignment = Step.IDLE, -1, -1, None


def prepare_request(setup: Setup, epoch: int) -> ConnectGroupPrepareAssignmentRequest:
    """The request for the group."""
    return ConnectGroupPrepareAssignmentRequest(group_id=setup.group_id, member_id=setup.member_id, member_epoch=epoch)


def group_of(response: ConnectGroupPrepareAssignmentResponse) -> Group:
    """The group as the assignor sees it."""
    configured = response.configured_connectors_and_tasks
    return Group(
        members=tuple(
            Member(
                member_id=each.member_id,
                instance_id=each.instance_id,
                url=each.url,
                target=unpack(each.connectors_and_tasks),
                version=each.assignor.version,
                reason=each.assignor.reason,
                metadata=each.assignor.metadata,
                epoch=each.member_epoch,
            )
            for each in response.members
        ),
        configured=None if configured is None else unpack(configured),
        config_offset=response.config_offset,
        departed=tuple(
            Departed(each.member_id, each.instance_id, each.url, unpack(each.connectors_and_tasks))
            for each in response.departed
        ),
        remaining_delay_ms=response.remaining_delay_ms,
        rebalance_delay_ms=response.rebalance_delay_ms,
    )


def assignment_of(assignor: ConnectAssignor, group: Group) -> Assignment:
    """What the assignor returns. Raises what it raises, and some exception if that cannot be sent."""
    assignment = assignor.assign(group)
    if not isinstance(assignment, Assignment):
        raise TypeError(f"it returned {assignment!r}, which is no Assignment")
    ConnectGroupInstallAssignmentRequest(
        error=assignment.error, scheduled_delay_ms=assignment.scheduled_delay_ms, members=_packed(assignment)
    ).encode(0)
    return assignment


def install_request(
    setup: Setup, epoch: int, group_epoch: int, assignment: Assignment | None
) -> ConnectGroupInstallAssignmentRequest:
    """The request that installs `assignment`; None means that there is none."""
    request = ConnectGroupInstallAssignmentRequest(
        group_id=setup.group_id, member_id=setup.member_id, member_epoch=epoch, group_epoch=group_epoch
    )
    if assignment is None:
        request.error = ASSIGNOR_FAILED
        return request
    request.error = assignment.error
    request.scheduled_delay_ms = assignment.scheduled_delay_ms
    request.members = _packed(assignment)
    return request


def _packed(assignment: Assignment) -> list[install.Member]:
    return [
        install.Member(
            member_id=each.member_id,
            connectors_and_tasks=pack(each.resources, install.ConnectorsAndTasks, install.ConnectorTaskId),
            version=each.version,
            metadata=each.metadata,
        )
        for each in assignment.members
    ]
