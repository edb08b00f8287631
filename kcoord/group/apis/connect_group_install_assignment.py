"""ConnectGroupInstallAssignment (32102): the chosen worker brings its assignment (CG-18 to CG-22).

| the assignment | answer | then |
| --- | --- | --- |
| repeats the installed one | 0 | nothing |
| names another epoch than the frozen one | INVALID_ASSIGNMENT | nothing: it may come from before a load |
| breaks a rule | INVALID_ASSIGNMENT | the worker is excluded for this input, and the next one is chosen |
| is an error that the worker reports | 0 | the same |
| is valid | 0 | it becomes the target; if the group has moved on, the next computation begins |
"""

from __future__ import annotations

from kcoord.assign.model import Assignment, MemberAssignment
from kcoord.group.connect.computing import give_up_chosen
from kcoord.group.connect.install import NotValid, check, install
from kcoord.group.connect.request_validation import check_computing, check_member, wrong_in_install
from kcoord.group.connect.settle import settle
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupInstallAssignmentRequest, ConnectGroupInstallAssignmentResponse
from kcoord.protocol.resources import unpack


def connect_group_install_assignment(
    transition: Transition, request: ConnectGroupInstallAssignmentRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConnectGroupInstallAssignment."""
    wrong = wrong_in_install(request)
    if wrong is not None:
        _answer(transition, token, ErrorCode.INVALID_REQUEST, wrong)
        return
    try:
        _install(transition, request, context)
    except Refused as refused:
        _answer(transition, token, refused.error, refused.message)
    else:
        _answer(transition, token, ErrorCode.NONE)
    group = transition.state.connect.get(request.group_id)
    if group is not None:
        settle(transition, group)


def _answer(transition: Transition, token: Token, error: ErrorCode, message: str | None = None) -> None:
    given = message and bounded_text(message)
    transition.answer(token, ConnectGroupInstallAssignmentResponse(error_code=error, error_message=given))


def _install(transition: Transition, request: ConnectGroupInstallAssignmentRequest, context: RequestContext) -> None:
    group, member = check_member(transition, request, context)
    if group.computed_by == member.member_id and group.assignment_epoch == request.group_epoch and not group.error:
        return  # a repeated install; after an assignment error the target belongs to an older epoch
    _, _, computation = check_computing(transition, request, context)
    frozen = computation.frozen
    if frozen is None or frozen.epoch != request.group_epoch:
        known = "nothing was prepared" if frozen is None else f"epoch {frozen.epoch} was prepared"
        raise Refused(ErrorCode.INVALID_ASSIGNMENT, f"the assignment is of epoch {request.group_epoch}: {known}")
    if request.error:
        give_up_chosen(transition, group)
        return
    try:
        assignment = _assignment(request)
        check(frozen.input, assignment)
    except NotValid as fault:
        transition.state.counters.rejected += 1
        give_up_chosen(transition, group)
        raise Refused(ErrorCode.INVALID_ASSIGNMENT, str(fault)) from None
    install(transition, group, frozen, assignment, member.member_id, computation.assignor)


def _assignment(request: ConnectGroupInstallAssignmentRequest) -> Assignment:
    members: list[MemberAssignment] = []
    for each in request.members:
        resources = unpack(each.connectors_and_tasks)
        listed = sum(len(entry.connectors) + len(entry.tasks) for entry in each.connectors_and_tasks)
        if listed != len(resources):
            raise NotValid(f"member {each.member_id} is given a connector or a task twice")
        members.append(MemberAssignment(each.member_id, resources, each.version, each.metadata))
    return Assignment(tuple(members), request.scheduled_delay_ms)
