"""ConsumerGroupInstallAssignment (32111): the chosen consumer brings its targets (KG-27; CG-18 to CG-20).

| the targets | answer | then |
| --- | --- | --- |
| repeat the installed ones | 0 | nothing |
| name another epoch than the frozen one | INVALID_ASSIGNMENT | nothing: they may come from before a load |
| break a rule | INVALID_ASSIGNMENT | the consumer is excluded for this input, and the next one is chosen |
| are an error that the consumer reports | 0 | the same |
| are valid | 0 | they are installed; if the group has moved on, the next computation begins |
"""

from __future__ import annotations

from kcoord.assign.consumer.target_validity import NotValid, check_targets
from kcoord.group.consumer.computed_targets import install
from kcoord.group.consumer.computing_choice import give_up_chosen
from kcoord.group.consumer.computing_member import check_computing, check_member
from kcoord.group.consumer.request_validation import wrong_in_install
from kcoord.group.consumer.settle import settle
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupInstallAssignmentRequest, ConsumerGroupInstallAssignmentResponse


def consumer_group_install_assignment(
    transition: Transition, request: ConsumerGroupInstallAssignmentRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConsumerGroupInstallAssignment."""
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
    group = transition.state.consumer.get(request.group_id)
    if group is not None:
        settle(transition, group)


def _answer(transition: Transition, token: Token, error: ErrorCode, message: str | None = None) -> None:
    given = message and bounded_text(message)
    transition.answer(token, ConsumerGroupInstallAssignmentResponse(error_code=error, error_message=given))


def _install(transition: Transition, request: ConsumerGroupInstallAssignmentRequest, context: RequestContext) -> None:
    group, member = check_member(transition, request, context)
    if group.computed_by == member.member_id and group.assignment_epoch == request.group_epoch:
        return  # a repeated install
    group, _, computation = check_computing(transition, request, context)
    frozen = computation.frozen
    if frozen is None or frozen.epoch != request.group_epoch:
        known = "nothing was prepared" if frozen is None else f"epoch {frozen.epoch} was prepared"
        raise Refused(ErrorCode.INVALID_ASSIGNMENT, f"the assignment is of epoch {request.group_epoch}: {known}")
    if request.error:
        give_up_chosen(transition, group)
        return
    try:
        targets = _targets(request)
        check_targets(frozen.input, targets)
    except NotValid as fault:
        give_up_chosen(transition, group)
        raise Refused(ErrorCode.INVALID_ASSIGNMENT, str(fault)) from None
    notes = {each.member_id: (each.version, each.metadata) for each in request.members}
    install(transition, group, frozen, targets, notes)


def _targets(request: ConsumerGroupInstallAssignmentRequest) -> dict[str, dict[bytes, frozenset[int]]]:
    """The targets by member. Raises NotValid for what is named twice."""
    targets: dict[str, dict[bytes, frozenset[int]]] = {}
    for each in request.members:
        if each.member_id in targets:
            raise NotValid(f"member {each.member_id} is named twice")
        target = targets[each.member_id] = {}
        for entry in each.topic_partitions:
            numbers = frozenset(entry.partitions)
            if entry.topic_id in target or len(numbers) < len(entry.partitions):
                raise NotValid(f"member {each.member_id} is given a topic or a partition twice")
            target[entry.topic_id] = numbers
    return targets
