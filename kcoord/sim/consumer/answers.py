"""The judge of answers to heartbeats: whether each is right, says what it must, and comes when it must.

| invariant | rules |
| --- | --- |
| refused: a refusal changes nothing, and there is a reason for it | KG-1, KG-2, KG-3, KG-4, KG-21 |
| accepted: what must be refused is refused | KG-1, KG-3, KG-4 |
| farewell, succession: who leaves is gone; a place that was left for a while is kept, and taken over | KG-4, KG-5 |
| told: an answer says what the member is assigned; without an assignment that is as the member knows it | KG-9 |
| disturbed: who keeps its share is told no assignment, and is not called | KG-9, KG-22 |
| held: no answer waits that has something to say, before a confirmation, or for too long | KG-10, KG-11, KG-12 |
| fuse: answers without news leave some time apart | KG-13 |
| asked: who is to compute is told so in each answer, and nobody else is | KG-27 |
| soon: no interval is longer than the number of consumers demands | KG-25 |
"""

from __future__ import annotations

import attrs

from kcoord.group.consumer.answer_delay import LEAST_APART_MS
from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerGroup, ConsumerMember, Partitions, Stage
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH, LEAVING_EPOCH
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatResponse,
)
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer import classic_heartbeats
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.invariants import held_contradictions
from kcoord.sim.consumer.membership import flat
from kcoord.sim.consumer.process import ConsumerProcess
from kcoord.sim.coordinator import CATCH_UP_MS, Coordinator
from kcoord.sim.network import Frame

SPARE_MS, PATIENT_SPARE_MS = 500, 200
"""How much of its interval a consumer must have left when its answer has waited. The second: one that does not give a
heartbeat up after an interval.
"""
LEAST_NEEDED_MS = 1_000
"""No consumer has to be told a shorter interval than that, however few there are."""


@attrs.frozen
class Before:
    """The group and the member as they were before a heartbeat."""

    epoch: int
    assignment_epoch: int
    members: frozenset[str]
    member: ConsumerMember | None
    member_epoch: int
    previous_epoch: int
    known: tuple[int, ...]
    """The epoch that it last said, and those that it was told since: it may have missed the last ones."""
    unsure_from: int | None
    """The lowest epoch that it may have been told before the load. None: its epoch is known."""
    assigned: Partitions
    current: Partitions
    connection: int
    holder: ConsumerMember | None
    """The member that has the instance id of the request."""
    holder_is_away: bool
    """Whether it has left for a while, or is a classic one: these do not say that they leave."""
    holder_assigned: Partitions


def _before(group: ConsumerGroup | None, request: ConsumerGroupHeartbeatRequest, known: tuple[int, ...]) -> Before:
    if group is None:
        group = ConsumerGroup(request.group_id)
    member = group.members.get(request.member_id)
    holder = group.members.get(group.static_ids.get(request.instance_id or "", ""))
    return Before(
        group.epoch,
        group.assignment_epoch,
        frozenset(group.members),
        member,
        0 if member is None else member.epoch,
        -1 if member is None else member.previous_epoch,
        known,
        member.recorded_epoch if member is not None and member.epoch_unsure else None,
        NOTHING if member is None else member.assigned,
        NOTHING if member is None else member.current,
        -1 if member is None else member.connection,
        holder,
        holder is not None and (holder.away or holder.is_classic),
        NOTHING if holder is None else holder.assigned,
    )


class AnswersJudge:
    """The judge of what consumers are told."""

    def __init__(self, context: ConsumerContext, coordinator: Coordinator) -> None:
        self._context = context
        self._coordinator = coordinator
        self._settings = coordinator.settings.consumer
        self._before: Before | None = None
        self._answered_ms: dict[tuple[str, str], int] = {}
        """By group and member, when it was answered last since the load."""
        self._answered_on: dict[tuple[str, str], int] = {}
        """By group and member, the connection on which it was answered last since the load."""
        self._known: dict[tuple[str, str], tuple[int, ...]] = {}
        """By group and member, the epoch that it last said, and those that it was told since."""
        self._held_until_ms: dict[Frame, int] = {}
        """By heartbeat, when its answer is to leave if there is no news."""
        self._chosen: dict[str, str | None] = {}
        """By group, who was to compute after the last step."""
        self.assignments = 0
        """How many assignments were told."""
        self._most = 0
        """The most members that all groups have had together, with those of classic groups: a step that converts such a
        group counts them, also if it is undone.
        """

    def loaded(self) -> None:
        """The log has been replayed."""
        self._answered_ms.clear()
        self._answered_on.clear()
        self._known.clear()
        self._held_until_ms.clear()
        self._chosen.clear()

    def before(self, state: ShardState, frame: Frame) -> None:
        """A request is about to be handled."""
        request = frame.request
        self._before = None
        if isinstance(request, ConsumerGroupHeartbeatRequest) and not _is_classic(state, request.group_id):
            known = self._known.get((request.group_id, request.member_id), ())
            self._before = _before(state.consumer.get(request.group_id), request, known)

    def after(self, state: ShardState, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        members = sum(len(group.members) for groups in (state.consumer, state.groups) for group in groups.values())
        self._most = max(self._most, members)
        self._follow_epochs(step, frame)
        for reply in step.replies:
            response = reply.response
            if isinstance(response, HeartbeatResponse) and isinstance(reply.token, Frame):
                classic_heartbeats.beaten(state, reply.token, response)
            if not isinstance(response, ConsumerGroupHeartbeatResponse):
                continue
            if reply.token is None:
                _nonsense(step, response)
                self._context.sightings.refused(ConsumerGroupHeartbeatRequest(), response.error_code)
            elif isinstance(reply.token, Frame):
                request = reply.token.request
                assert isinstance(request, ConsumerGroupHeartbeatRequest)
                group = state.consumer.get(request.group_id)
                if reply.token is frame and not step.faults:
                    self._own(group, frame, request, response)
                elif response.error_code == ErrorCode.FENCED_MEMBER_EPOCH and not step.faults:
                    raise Violation("refused", f"{request.member_id} waits for an answer, and is fenced")
                if not response.error_code and request.member_epoch >= JOINING_EPOCH and group is not None:
                    self._told(group, reply.token, request, response, waited=reply.token is not frame)
                    if not step.faults:
                        self._may_leave(reply.token, frame, response)
                self._held_until_ms.pop(reply.token, None)
        for wrong in held_contradictions(state):
            raise Violation("held", wrong)
        for waiting in state.held.values():
            for of_group, member in list(waiting.values()):
                if isinstance(member, ConsumerMember) and member.held is not None:
                    assert isinstance(of_group, ConsumerGroup)
                    self._held(of_group, member, member.held.token, frame)
        for group in state.consumer.values():
            self._chosen[group.group_id] = chosen = group.chosen()
            if chosen is not None and group.members[chosen].away:
                raise Violation("asked", f"{chosen} is to compute, and is away")

    def _follow_epochs(self, step: Step, frame: Frame | None) -> None:
        """Note which epochs members have said and were told. What was told on an older connection does not count."""
        own = None
        for reply in step.replies:
            request, response = getattr(reply.token, "request", None), reply.response
            if reply.token is frame:
                own = response
            elif isinstance(request, ConsumerGroupHeartbeatRequest):
                self._tell(request, response)
        request = None if frame is None else frame.request
        if isinstance(request, ConsumerGroupHeartbeatRequest) and not getattr(own, "error_code", 0):
            self._known[request.group_id, request.member_id] = (request.member_epoch,)
            self._tell(request, own)

    def _tell(self, request: ConsumerGroupHeartbeatRequest, response: object) -> None:
        key = request.group_id, request.member_id
        if isinstance(response, ConsumerGroupHeartbeatResponse) and not response.error_code:
            self._known[key] = (*self._known.get(key, ()), response.member_epoch)

    # -- what the heartbeat itself leads to ---------------------------------------------------------------------------

    def _own(
        self,
        group: ConsumerGroup | None,
        frame: Frame,
        request: ConsumerGroupHeartbeatRequest,
        response: ConsumerGroupHeartbeatResponse,
    ) -> None:
        before = self._before
        if before is None:
            return  # the group was a classic one
        if response.error_code:
            now = frozenset[str]() if group is None else frozenset(group.members)
            if now != before.members or (group is not None and group.epoch != before.epoch):
                raise Violation("refused", f"{request.member_id} is refused, and the group has changed")
            why_not = self._why_not(before, frame, request, ErrorCode(response.error_code))
            if why_not is not None:
                raise Violation("refused", f"{request.member_id} at {request.member_epoch} is refused: {why_not}")
            return
        if group is None and request.member_epoch < JOINING_EPOCH:
            return  # the last consumer of the new protocol has left, and the group speaks the classic one
        assert group is not None
        if frame.link.serial < before.connection:
            raise Violation("accepted", f"{request.member_id} is heard on an old connection")
        self._may_be_accepted(before, frame, request)
        member = group.members.get(request.member_id)
        if request.member_epoch == LEAVING_EPOCH and member is not None:
            raise Violation("farewell", f"{request.member_id} has left, and is a member")
        if request.member_epoch == AWAY_EPOCH and (
            member is None or not member.away or member.current != before.assigned
        ):
            raise Violation("farewell", f"{request.member_id} is away, and its place is not kept as it was")
        if request.member_epoch == JOINING_EPOCH and before.holder_is_away:
            assert member is not None
            subscribed = group.subscribed_ids(member)
            still = frozenset(each for each in before.holder_assigned if each[0] in subscribed)
            takes = still & (group.target_of(member) or NOTHING)
            if not takes <= member.current:
                raise Violation("succession", f"{request.member_id} is back, and lacks {len(takes - member.current)}")

    def _may_be_accepted(self, before: Before, frame: Frame, request: ConsumerGroupHeartbeatRequest) -> None:
        epoch, member = request.member_epoch, before.member
        if epoch == JOINING_EPOCH:
            is_new = member is None and not before.holder_is_away
            if is_new and len(before.members) >= self._settings.max_size:
                raise Violation("accepted", f"{request.member_id} joins a full group")
            if before.holder is not None and not before.holder_is_away:
                raise Violation("accepted", f"{request.member_id} joins, and {before.holder.member_id} is there")
        elif member is None:
            raise Violation("accepted", f"{request.member_id} is a stranger at epoch {epoch}")
        elif epoch > JOINING_EPOCH and not _is_its_epoch(before, frame, request):
            raise Violation("accepted", f"{request.member_id} says {epoch}, and is at {before.member_epoch}")

    def _why_not(
        self, before: Before, frame: Frame, request: ConsumerGroupHeartbeatRequest, error: ErrorCode
    ) -> str | None:
        """Why the error is wrong. None: it is not."""
        member, joins = before.member, request.member_epoch == JOINING_EPOCH
        holder_is_there = before.holder is not None and not before.holder_is_away
        match error:
            case ErrorCode.INVALID_REQUEST | ErrorCode.UNSUPPORTED_ASSIGNOR:
                return "its request is in order"
            case ErrorCode.UNKNOWN_MEMBER_ID:
                return "it is a member" if member is not None else None
            case ErrorCode.FENCED_MEMBER_EPOCH:
                is_its = joins or request.member_epoch < 0 or _is_its_epoch(before, frame, request)
                is_newest = frame.link.serial >= before.connection
                return "that is its epoch" if member is not None and is_its and is_newest else None
            case ErrorCode.UNRELEASED_INSTANCE_ID:
                return None if joins and holder_is_there else "its place is free"
            case ErrorCode.FENCED_INSTANCE_ID:
                return None if before.holder is not None and before.holder is not member else "the place is its own"
            case ErrorCode.GROUP_MAX_SIZE_REACHED:
                is_full = len(before.members) >= self._settings.max_size
                return None if joins and member is None and is_full else "there is room for it"
            case ErrorCode.GROUP_ID_NOT_FOUND:
                return "it would make the group" if joins else "the group is there" if before.members else None
        return None

    # -- what an answer says ------------------------------------------------------------------------------------------

    def _told(
        self,
        group: ConsumerGroup,
        frame: Frame,
        request: ConsumerGroupHeartbeatRequest,
        response: ConsumerGroupHeartbeatResponse,
        *,
        waited: bool,
    ) -> None:
        member = group.members.get(request.member_id)
        if member is None:
            return  # it was answered, and removed in the same step
        told = None if response.assignment is None else flat(response.assignment.topic_partitions)
        self.assignments += told is not None
        now_ms, key = self._context.events.now_ms, (group.group_id, member.member_id)
        last_ms, self._answered_ms[key] = self._answered_ms.get(key), now_ms
        last_link, self._answered_on[key] = self._answered_on.get(key), frame.link.serial
        epoch = response.member_epoch
        if epoch == JOINING_EPOCH:
            raise Violation("told", f"{member.member_id} is told epoch 0, at which it would join")
        if not request.member_epoch <= epoch <= member.epoch <= group.assignment_epoch:
            raise Violation("told", f"{member.member_id} says {request.member_epoch}, is told {epoch}")
        self._soon(response)
        is_asked = group.chosen() == member.member_id
        is_told = response.should_compute_assignment == is_asked or (
            waited and not member.away and self._had_nobody_to_compute(group)
        )
        if frame.link.serial >= member.connection and not is_told:
            raise Violation("asked", f"{group.chosen()} is to compute, and {member.member_id} is told otherwise")
        process = awaits(frame)
        if process is None:
            return  # it comes by a newer connection by now, and has moved on in this step
        if epoch != member.epoch or (told is not None and told != member.assigned):
            raise Violation("told", f"{member.member_id} is told something else than it is assigned")
        known = process.membership.target
        if told is None and known != member.assigned:
            raise Violation("told", f"{member.member_id} is assigned something else, and is not told")
        may_lack_it = _wants_all(request) or last_link != frame.link.serial
        if told is not None and not may_lack_it and told == known:
            raise Violation("disturbed", f"{member.member_id} keeps its share, and is told it once more")
        is_plain = request.topic_partitions is None and request.subscribed_topic_names is None
        is_hurried = bool(frame.link.queue) or request.server_assignor is not None
        is_plain = is_plain and epoch == request.member_epoch
        is_hurried = is_hurried or request.client_assignors is not None or response.should_compute_assignment
        is_fused = self._settings.wait_ms > 0 and told is None and is_plain and not is_hurried
        if is_fused and last_ms is not None and now_ms < last_ms + LEAST_APART_MS:
            raise Violation(
                "fuse", f"{member.member_id} is told nothing new, {now_ms - last_ms} ms after the last answer"
            )

    def _had_nobody_to_compute(self, group: ConsumerGroup) -> bool:
        """Whether the choice has fallen in this step: after an answer has left that waited, if that was done first."""
        return self._chosen.get(group.group_id, "") not in group.members

    def _may_leave(self, token: Frame, frame: Frame | None, response: ConsumerGroupHeartbeatResponse) -> None:
        """An answer that waits leaves when its time is over, for news, or because its consumer asks once more."""
        until_ms = self._held_until_ms.get(token)
        if until_ms is None or response.assignment is not None or awaits(token) is None or token.link.queue:
            return
        if response.should_compute_assignment:
            return
        asks = frame is not None and frame.link.client is token.link.client
        if self._context.events.now_ms < until_ms and not asks:
            raise Violation("disturbed", f"{response.member_id} keeps its share, and its answer does not wait")

    def _soon(self, response: ConsumerGroupHeartbeatResponse) -> None:
        needed_ms = max(LEAST_NEEDED_MS, 2 * 1_000 * self._most // self._settings.heartbeats_per_s)
        if self._settings.wait_ms > 0 and response.heartbeat_interval_ms > needed_ms:
            raise Violation("soon", f"{response.member_id} is told to come after {response.heartbeat_interval_ms} ms")

    # -- answers that wait --------------------------------------------------------------------------------------------

    def _held(self, group: ConsumerGroup, member: ConsumerMember, token: object, frame: Frame | None) -> None:
        assert isinstance(token, Frame)
        request = token.request
        if member.is_classic:
            classic_heartbeats.held(group, member, token, self._settings.heartbeat_wait_ms)
            return
        assert isinstance(request, ConsumerGroupHeartbeatRequest)
        if group.members.get(member.member_id) is not member:
            raise Violation("held", f"an answer waits for {member.member_id}, which is gone")
        held_ms = member.wake_ms - token.began_ms
        since_ms = self._context.events.now_ms - CATCH_UP_MS
        if held_ms > max(self._settings.wait_ms, LEAST_APART_MS) or (
            since_ms > member.wake_ms and since_ms > self._coordinator.frozen_until_ms
        ):
            raise Violation("held", f"the answer to {member.member_id} waits for {held_ms} ms or longer")
        if token.link.queue and token.link.server_open and token is not frame:
            raise Violation("held", f"{member.member_id} has sent another request, and its answer waits")
        client = token.link.client
        is_patient = isinstance(client, ConsumerProcess) and client.requests.is_patient
        if token.pipelined and held_ms > LEAST_APART_MS and not is_patient:
            raise Violation("held", f"{member.member_id} has waited for another answer, and waits for this one, too")
        self._held_until_ms[token] = member.wake_ms
        self._has_nothing_to_say(group, member)
        process = awaits(token)
        if process is None:
            return
        joins = request.member_epoch == JOINING_EPOCH
        interval_ms = process.membership.interval_ms
        if joins and is_patient:  # it has no interval yet
            interval_ms = self._settings.heartbeat_interval_ms
        longest_ms = interval_ms - (PATIENT_SPARE_MS if is_patient else SPARE_MS)
        if held_ms > max(longest_ms, LEAST_APART_MS):
            raise Violation(
                "held", f"{member.member_id} comes each {interval_ms} ms, and its answer waits {held_ms} ms"
            )
        if joins:
            return
        if process.membership.target != member.assigned:
            raise Violation("held", f"{member.member_id} is assigned something else, and its answer waits")
        if process.membership.has_to_confirm and not process.lacks_metadata and held_ms > LEAST_APART_MS:
            raise Violation("held", f"{member.member_id} has something to confirm, and its answer waits")

    def _has_nothing_to_say(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        subscribed, target = group.subscribed_ids(member), classic_heartbeats.wanted(group, member)
        if group.chosen() == member.member_id and not member.told_to_compute:
            raise Violation("held", f"{member.member_id} is to compute, and its answer waits")
        if any(each[0] not in subscribed for each in member.assigned):
            raise Violation("held", f"{member.member_id} is to drop a topic, and its answer waits")
        if member.stage is Stage.UNREVOKED or (member.stage is Stage.STABLE and member.epoch == group.assignment_epoch):
            return
        free = {
            each for each in target - member.assigned if group.owners.get(each, member.member_id) == member.member_id
        }
        if free or not member.assigned <= target:
            raise Violation("held", f"{member.member_id} is to be told another assignment, and its answer waits")


def _is_classic(state: ShardState, group_id: str) -> bool:
    """Whether the group speaks the classic protocol."""
    group = state.groups.get(group_id)
    return group is not None and bool(group.members)


def _nonsense(step: Step, response: ConsumerGroupHeartbeatResponse) -> None:
    """What no client sends is refused, and changes nothing."""
    if step.faults:
        return
    wanted = (ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_ASSIGNOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if response.error_code not in wanted or step.records:
        raise Violation("accepted", f"nonsense is answered with {ErrorCode(response.error_code).name}")


def _is_its_epoch(before: Before, frame: Frame, request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the member may say that epoch (KG-3)."""
    epoch = request.member_epoch
    if epoch == before.member_epoch or epoch in before.known[-1:]:
        return True
    if before.unsure_from is not None and before.unsure_from <= epoch <= before.assignment_epoch:
        return True
    owned = None if request.topic_partitions is None else flat(request.topic_partitions)
    is_older = epoch in before.known or (not before.known and epoch == before.previous_epoch)
    has_missed_one = frame.link.serial > before.connection if owned is None else owned <= before.current
    return is_older and has_missed_one


def _wants_all(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the answer has the assignment in any case (KG-9)."""
    says_all = request.rebalance_timeout_ms != -1 and request.topic_partitions is not None
    return request.member_epoch == JOINING_EPOCH or (says_all and request.subscribed_topic_names is not None)


def awaits(frame: Frame) -> ConsumerProcess | None:
    """The consumer that waits for the answer to that heartbeat. None: nobody does."""
    process = frame.link.client
    assert isinstance(process, ConsumerProcess)
    is_its = process.alive and process.link is frame.link and frame.link.client_open and not frame.copied
    return process if is_its and process.requests.is_heartbeat(frame.number) else None
