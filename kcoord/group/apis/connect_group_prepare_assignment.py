"""ConnectGroupPrepareAssignment (32101): the chosen worker fetches the input of its assignor. This freezes the input
(CG-18, CG-19).
"""

from __future__ import annotations

from functools import lru_cache

from kcoord.assign.model import Departed as GoneInput
from kcoord.assign.model import Member as MemberInput
from kcoord.group.connect.computing import freeze
from kcoord.group.connect.request_validation import check_computing
from kcoord.group.connect.settle import settle
from kcoord.group.modern.client_assignors import wrong_in_ids
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.connect_group import ConnectGroup, Frozen, Resources
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_prepare_assignment_response import (
    Assignor,
    ConnectorsAndTasks,
    ConnectorTaskId,
    Departed,
    Member,
)
from kcoord.protocol.messages import ConnectGroupPrepareAssignmentRequest, ConnectGroupPrepareAssignmentResponse
from kcoord.protocol.resources import pack


def connect_group_prepare_assignment(
    transition: Transition, request: ConnectGroupPrepareAssignmentRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConnectGroupPrepareAssignment. A second one freezes the input again."""
    wrong = wrong_in_ids(request)
    if wrong is not None:
        transition.answer(token, _refused(ErrorCode.INVALID_REQUEST, wrong))
        return
    try:
        group, computation = _as_of_now(transition, request, context)
    except Refused as refused:
        transition.answer(token, _refused(refused.error, refused.message))
        return
    limits = transition.state.effective(group.group_id)
    computation.frozen = freeze(transition, group, computation.assignor, limits)
    given = computation.frozen.input
    transition.answer(
        token,
        ConnectGroupPrepareAssignmentResponse(
            group_epoch=computation.frozen.epoch,
            assignor_name=computation.assignor,
            members=[_member(each) for each in given.members],
            config_offset=given.config_offset,
            configured_connectors_and_tasks=(None if given.configured is None else _packed(given.configured)),
            departed=[_departed(each) for each in given.departed],
            remaining_delay_ms=given.remaining_delay_ms,
            rebalance_delay_ms=given.rebalance_delay_ms,
        ),
    )


def _as_of_now(
    transition: Transition, request: ConnectGroupPrepareAssignmentRequest, context: RequestContext
) -> tuple[ConnectGroup, Computation[Frozen]]:
    """The computation of this worker. If the group has moved on since it was chosen, the coordinator first chooses
    again who computes. Raises Refused if this worker is not chosen.
    """
    group, _, computation = check_computing(transition, request, context)
    if computation.epoch != group.epoch:
        computation.frozen = None
        settle(transition, group)
        group, _, computation = check_computing(transition, request, context)
    return group, computation


def _refused(error: ErrorCode, message: str) -> ConnectGroupPrepareAssignmentResponse:
    return ConnectGroupPrepareAssignmentResponse(error_code=error, error_message=bounded_text(message))


@lru_cache(maxsize=8)
def _packed(configured: Resources) -> list[ConnectorsAndTasks]:
    """The configured set for the wire. Cached: it is large, and nearly every computation of a group has the same."""
    return pack(configured, ConnectorsAndTasks, ConnectorTaskId)


def _member(each: MemberInput) -> Member:
    return Member(
        each.member_id,
        each.epoch,
        each.instance_id,
        Assignor(each.version, each.reason, each.metadata),
        pack(each.target, ConnectorsAndTasks, ConnectorTaskId),
        each.url,
    )


def _departed(each: GoneInput) -> Departed:
    return Departed(each.member_id, each.instance_id, each.url, pack(each.target, ConnectorsAndTasks, ConnectorTaskId))
