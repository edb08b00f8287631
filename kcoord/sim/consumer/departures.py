"""The judge of departures.

| invariant | rules |
| --- | --- |
| session: nobody is removed before its session, or its time to let go of something, is over; nor long after | KG-5 |
| session: nobody is waited for who takes too long to compute | KG-27 |
| release: a member that says that it has let go of all that it had to need not say so again | KG-8 |
"""

from __future__ import annotations

from kcoord.group.consumer.reasons import Reason
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerGroup, ConsumerMember, Partitions
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    SyncGroupRequest,
)
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.network import Frame

LATE_MS = 5_000
"""How much later than due a member is removed at the latest."""
Who = tuple[str, str]
"""A group and a member."""


class DeparturesJudge:
    """What is known of the times of all members."""

    def __init__(self, context: ConsumerContext, coordinator: Coordinator) -> None:
        self._context = context
        self._coordinator = coordinator
        self._seen_ms: dict[Who, int] = {}
        """When each member was heard last."""
        self._carried = set[Who]()
        """Those whose session began while the group was a classic one."""
        self._releases_since_ms: dict[Who, int] = {}
        """Since when each has had to let go of something."""
        self._called_since_ms: dict[Who, int] = {}
        """Since when each classic member has been expected to join or to sync."""
        self._timeouts_ms: dict[Who, int] = {}
        """How long each may take to do that."""
        self._shares: dict[Who, tuple[Partitions, Partitions, int]] = {}
        """What each was assigned and had to let go of after the last step, and since when."""
        self._connections: dict[Who, int] = {}
        """The connection on which each was heard last."""
        self._epochs: dict[str, int] = {}
        """The group epochs after the last step."""
        self._known: dict[str, frozenset[str]] = {}
        """The members of each group after the last step."""

    def loaded(self) -> None:
        """All times begin afresh."""
        self._seen_ms.clear()
        self._releases_since_ms.clear()
        self._called_since_ms.clear()
        self._shares.clear()
        self._known.clear()

    def after(self, state: ShardState, step: Step, frame: Frame | None) -> None:
        """A step was taken. A heartbeat that is not refused counts as a sign of life, a farewell does not."""
        if frame is None or step.faults:
            return
        request = frame.request
        if isinstance(request, JoinGroupRequest | SyncGroupRequest | HeartbeatRequest):
            self._heard_classic(state, step, frame, request)
        if isinstance(request, ConsumerGroupHeartbeatRequest):
            refused = any(reply.token is frame and getattr(reply.response, "error_code", 0) for reply in step.replies)
            if not refused and request.member_epoch >= JOINING_EPOCH:
                who = (request.group_id, request.member_id)
                self._seen_ms[who] = self._context.events.now_ms
                if who in self._releases_since_ms and request.topic_partitions is not None:
                    self._is_released(state, who, is_first=self._connections.get(who) != frame.link.serial)
                self._connections[who] = frame.link.serial

    def _heard_classic(
        self,
        state: ShardState,
        step: Step,
        frame: Frame,
        request: JoinGroupRequest | SyncGroupRequest | HeartbeatRequest,
    ) -> None:
        """A classic member is alive if it is answered, also that it is to join again, or if its answer waits."""
        group, now_ms = state.consumer.get(request.group_id), self._context.events.now_ms
        waits = None if group is None else group.members.get(request.member_id)
        if group is not None and waits is not None and waits.held is not None and waits.held.token is frame:
            self._seen_ms[group.group_id, waits.member_id] = now_ms
            self._carried.discard((group.group_id, waits.member_id))
        for reply in step.replies:
            error = getattr(reply.response, "error_code", 0)
            called = reply.token.request if isinstance(reply.token, Frame) and reply.token is not frame else None
            if isinstance(called, HeartbeatRequest) and error == ErrorCode.REBALANCE_IN_PROGRESS:
                self._called_since_ms.setdefault((called.group_id, called.member_id), now_ms)
            if group is None or reply.token is not frame or error not in (0, ErrorCode.REBALANCE_IN_PROGRESS):
                continue
            member = group.members.get(getattr(reply.response, "member_id", request.member_id))
            if member is not None and frame.link.serial >= member.connection:
                who = (group.group_id, member.member_id)
                self._seen_ms[who] = now_ms
                self._carried.discard(who)
                if isinstance(request, JoinGroupRequest):
                    self._called_since_ms[who] = now_ms
                elif error:
                    self._called_since_ms.setdefault(who, now_ms)

    def forget(self, group_id: str) -> None:
        """The group has gone, or is a classic group."""
        for member_id in self._known.pop(group_id, frozenset()):
            who = (group_id, member_id)
            for known in (self._seen_ms, self._releases_since_ms, self._called_since_ms, self._shares):
                known.pop(who, None)

    def _is_released(self, state: ShardState, who: Who, *, is_first: bool) -> None:
        """Check that a member that knew what it had to let go of, and owns exactly what it is told, has let go."""
        group = state.consumer.get(who[0])
        member = None if group is None else group.members.get(who[1])
        if member is None or who not in self._shares or member.assigned != self._shares[who][0]:
            return  # it hears only now what it has to let go of
        if member.pending and member.reported == member.assigned and not is_first:
            raise Violation("release", f"{who[1]} owns what it is told to, and still has to let go of something")

    def look(self, group: ConsumerGroup) -> None:
        """A step has changed the group."""
        now_ms = self._context.events.now_ms
        members = frozenset(group.members)
        gone = self._known.get(group.group_id, frozenset()) - members
        if group.group_id not in self._known:
            self._carried |= {(group.group_id, each) for each in members if group.members[each].is_classic}
        self._known[group.group_id] = members
        moved = group.epoch != self._epochs.get(group.group_id)
        self._epochs[group.group_id] = group.epoch
        for member_id in gone:
            self._may_be_gone(group if moved else None, (group.group_id, member_id))
        for member_id, member in group.members.items():
            who = (group.group_id, member_id)
            self._seen_ms.setdefault(who, now_ms)
            self._is_not_late(group, member)
            self._timeouts_ms[who] = member.metadata.rebalance_timeout_ms
            if member.call_due_ms < NEVER_MS:
                self._called_since_ms.setdefault(who, now_ms)
            else:
                self._called_since_ms.pop(who, None)
            if member.pending and not member.away:
                self._releases_since_ms.setdefault(who, now_ms)
            else:
                self._releases_since_ms.pop(who, None)

    def _is_not_late(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Check that nobody is waited for without end: who is silent, and who does not let go."""
        now_ms, who = self._context.events.now_ms, (group.group_id, member.member_id)
        assigned, pending, since_ms = self._shares.get(who, (NOTHING, NOTHING, now_ms))
        if (assigned, pending) != (member.assigned, member.pending):
            since_ms = now_ms
        self._shares[who] = (member.assigned, member.pending, since_ms)
        if group.group_id in self._coordinator.shard.state.quarantine:
            return
        # a group that was restored after a fault begins all times afresh
        begun_ms = max(self._coordinator.frozen_until_ms, group.restored_at_ms)
        if now_ms > max(self._seen_ms[who], begun_ms) + self._context.plan.session_ms + LATE_MS:
            raise Violation("session", f"{member.member_id} was heard at {self._seen_ms[who]}, and is a member")
        due_ms = max(since_ms, begun_ms) + member.metadata.rebalance_timeout_ms
        if member.pending and not member.away and now_ms > due_ms + LATE_MS:
            raise Violation("session", f"{member.member_id} has not let go since {since_ms}, and is a member")
        called_ms = self._called_since_ms.get(who, now_ms)
        if now_ms > max(called_ms, begun_ms) + member.metadata.rebalance_timeout_ms + LATE_MS:
            raise Violation("session", f"{member.member_id} was called at {called_ms}, and is a member")
        computation = group.computation
        is_asked = computation is not None and computation.chosen == member.member_id
        if computation is not None and is_asked and now_ms > max(computation.due_ms, begun_ms) + LATE_MS:
            raise Violation("session", f"{member.member_id} was to compute until {computation.due_ms}, and still is")

    def _may_be_gone(self, group: ConsumerGroup | None, who: Who) -> None:
        """Check why a member is gone. `group` None: another one has taken its place."""
        now_ms = self._context.events.now_ms
        since_ms = self._releases_since_ms.pop(who, None)
        called_ms = self._called_since_ms.pop(who, None)
        if since_ms is None or (called_ms is not None and called_ms < since_ms):
            since_ms = called_ms
        seen_ms = self._seen_ms.pop(who, None)
        if group is None or not group.reason.startswith((Reason.SESSION_EXPIRED, Reason.REBALANCE_TIMEOUT)):
            return
        session_is_over = seen_ms is None or who in self._carried or now_ms >= seen_ms + self._context.plan.session_ms
        if not session_is_over and (since_ms is None or now_ms < since_ms + self._timeouts_ms[who]):
            raise Violation("session", f"{who[1]} is removed, was heard {seen_ms}, has to let go since {since_ms}")
