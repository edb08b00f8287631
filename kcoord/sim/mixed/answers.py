"""The checks of responses to classic workers of a connect group: of each response, and of each request that waits.

| invariant | rules |
| --- | --- |
| offset: an assignment's is not below the worker's own, and not above the config topic's end | CM-7, CM-17 |
| delay: only the leader is told of a delay | CM-9 |
| picture: over what the leader is shown, Connect's assignor moves nothing | CM-31, CM-37 |
| accepted: what the leader has computed counts, whatever has happened since | CM-8 |
| mismatch: the leader is never shown that another worker has read more of the config topic | CM-6 |
| ready: a follower starts nothing new while the leader cannot be asked | CM-15, CM-23 |
| disturbed: a worker that is told to join again is concerned by something | CM-30 |
| parked: no SyncGroup of a worker that has work waits, except in a config round and under `default` | CM-24 |
| round: no worker starts anything while a config round is open | CM-25 |
| returned: a worker back at its url gets what waited for it, but nothing of before a config round | CM-18, CM-21 |
| place: it takes the place of the one there whose connection is closed, and leads if that one led | CM-19, CM-20 |
| nudged: in a config round no worker that holds something is left alone | CM-22 |
| generations: a worker's generation never goes back | CM-2 |
| held: no heartbeat's response is held that has something to say, and none is held too long | CM-26, CG-26 |
"""

from __future__ import annotations

from kcoord.assign.incremental import MAX_DELAY_MS, Memory, Seen, Snapshot, Worker, written
from kcoord.assign.incremental.leader import compute
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.classic_workers.session import ConfigRound
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_member import NO_CONNECTION
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Reply, Step
from kcoord.group.translation.rounds.config_round import NUDGE_MS
from kcoord.group.translation.rounds.leader import leader_known_as
from kcoord.group.translation.rounds.look_policy import highest_offset
from kcoord.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.records import ConnectWorkerGroupTargetAssignmentKey, GroupMetadataKey
from kcoord.resource import Resource
from kcoord.sim.basis.trace import names
from kcoord.sim.basis.violation import Violation
from kcoord.sim.classic_worker.cached_decoding import decode_assignment, decode_state
from kcoord.sim.coordinator import CATCH_UP_MS, Coordinator
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.network import Frame

Installed = ConnectWorkerGroupTargetAssignmentKey
NOTHING: frozenset[Resource] = frozenset()


class Answers:
    """The judge of what classic workers are told."""

    def __init__(self, context: MixedContext, coordinator: Coordinator) -> None:
        self._context = context
        self._coordinator = coordinator
        self._phases: dict[str, Phase] = {}
        self._offsets: dict[str, tuple[int, int]] = {}
        """By worker, the number of the connection of its last JoinGroup, and the config offset in that."""
        self._listed: dict[str, frozenset[Resource]] = {}
        """What it holds, from the same request."""
        # about the request in work
        self._brings: Frame | None = None
        """Set if the request brings what the leader has computed, in time."""
        self._in_round = False
        self._waits: list[frozenset[Resource]] = []
        """What workers of its url had. It is one of them, or comes after both."""
        self._newcomer = ""
        self._dead: ConnectMember | None = None
        """The member whose place it takes."""
        self._led = False
        self._generations: dict[str, int] = {}
        self._came_ms: dict[str, int] = {}
        """When each worker first joined under its member id."""
        self._told_ms: dict[str, int] = {}
        """When each was given its last assignment."""
        self._told_of = 0
        """The highest config offset that a worker reported when it came by itself, having read more than before."""
        self._known: dict[str, int] = {}
        """The same number when a worker's last assignment was sent."""
        self._since_ms: dict[str, int] = {}
        """Since when each worker is in its phase."""
        self._round_known: ConfigRound | None = None
        self._opened_ms = 0

    def loaded(self, group: ConnectGroup | None) -> None:
        """Sessions have begun again, and nobody was told what was not committed. Nor does the coordinator know of a
        worker that came by itself, if what that said was lost.
        """
        self._phases.clear()
        self._generations.clear()
        known = 0 if group is None else max(highest_offset(group), group.computed_offset, group.config_round)
        self._told_of = min(self._told_of, known)

    def forget(self) -> None:
        """The group is another one."""
        self._generations.clear()

    def became_classic(self) -> None:
        """A classic group gives assignments as Kafka does: to all that came in time, whatever they have read."""
        self._known.clear()

    def was_told_of(self, member_id: str, offset: int) -> bool:
        """Whether a worker that had read this far came by itself before this one was given its assignment."""
        return self._known.get(member_id, 0) >= offset

    def has_listed(self, member_id: str) -> frozenset[Resource]:
        """What a worker reported that it holds, perhaps before it had started it."""
        return self._listed.get(member_id, NOTHING)

    def came_after(self, member_id: str, other: str) -> bool:
        """Whether a worker came after the other one had been given its work."""
        return self._came_ms.get(member_id, 0) >= self._told_ms.get(other, 0)

    # -- before and after a step --------------------------------------------------------------------------------------

    def before(self, shard_state: ShardState, group: ConnectGroup | None, frame: Frame) -> None:
        """A request is about to be handled."""
        request = frame.request
        self._brings, self._newcomer, self._waits, self._dead = None, "", [], None
        self._in_round = group is not None and group.classic.round is not None
        if isinstance(request, JoinGroupRequest):
            state = decode_state(request.protocols[0].metadata)
            _, had_read = self._offsets.get(request.member_id, (0, 0))
            now_ms = self._context.events.now_ms
            self._listed[request.member_id] = NOTHING if state.allocation is None else state.allocation.assigned
            reports = bool(self._listed[request.member_id])
            if state.config_offset > had_read and _comes_by_itself(group, request.member_id, reports=reports):
                self._told_of = max(self._told_of, state.config_offset)
            self._offsets[request.member_id] = frame.link.serial, state.config_offset
            self._came_ms.setdefault(request.member_id, now_ms)
            is_new = group is not None and request.member_id not in group.members and bool(request.member_id)
            if group is not None and is_new and not reports and _is_alone(shard_state, group, state.url, frame):
                self._newcomer = request.member_id
                self._waits = _waiting_for(group, state.url)
                self._dead = next(
                    (
                        member for member in group.members.values()
                        if member.classic is not None
                        and member.metadata.url == state.url
                        and shard_state.is_closed(member.connection)
                    ),
                    None,
                )  # fmt: skip
                known = None if self._dead is None else group.targets.get(self._dead.member_id)
                if known is not None and known.url == state.url:
                    self._waits.append(known.resources)
                self._led = self._dead is not None and self._dead.member_id == group.computed_by
        elif isinstance(request, SyncGroupRequest) and group is not None:
            member = group.members.get(request.member_id)
            if member is not None and member.classic is not None and not member.evicted:
                knows = request.generation_id == member.classic.generation
                fresh = frame.link.serial >= member.connection and request.protocol_name == group.classic.protocol
                if member.classic.computes and knows and fresh and request.assignments:
                    self._brings = frame
                    if any(decode_assignment(each.assignment).error for each in request.assignments):
                        raise Violation(
                            "mismatch", f"{member.member_id} was shown more than it has read, and cannot lead"
                        )

    def after(self, state: ShardState, group: ConnectGroup) -> None:
        """A step was taken."""
        phases = self._phases
        for member_id in group.classic.members:
            member = group.members[member_id]
            session = member.classic
            assert session is not None
            before, phase = phases.get(member_id), session.phase
            if before is not phase:
                phases[member_id] = phase
                self._since_ms[member_id] = self._context.events.now_ms
                if before is Phase.STABLE and phase is Phase.PREPARING:
                    self._is_concerned(group, member)
            if session.parked_sync is not None and member.current:
                self._may_wait(group, member)
            if member.held is not None and phase is not Phase.STABLE:
                raise Violation("held", f"{member_id} must join, and its heartbeat's answer is kept back")
        if self._newcomer in group.members:
            self._has_returned(group)
            self._takes_place(group)
        config_round = group.classic.round
        if config_round is not None and config_round.is_certain:
            self._round(group, config_round)

    def is_over(self, step: Step) -> None:
        """The step is over, whatever the group was in it. What becomes of a newcomer later is another matter, for
        example if a load of a log still knows it. So is the answer to a leader whose assignment was installed.
        """
        self._newcomer = ""
        if any(type(each.key) is Installed for each in step.records):
            self._brings = None

    def _round(self, group: ConnectGroup, config_round: ConfigRound) -> None:
        now_ms = self._context.events.now_ms
        if self._round_known is not config_round:
            known, self._round_known, self._opened_ms = self._round_known, config_round, now_ms
            opens = known is None or known.offset != config_round.offset  # else it was opened before, and is restored
            if opens and any(target.url is not None for _, target in group.departed()):
                raise Violation("returned", "a config round opens, and what departed workers had waits for them")
        coordinator = self._coordinator
        late_ms = now_ms - max(self._opened_ms + NUDGE_MS, coordinator.frozen_until_ms + CATCH_UP_MS)
        if late_ms <= 1 or coordinator.shard.state.quarantine:
            return
        for member_id in group.classic.members:
            member = group.members[member_id]
            classic, session = member.metadata.classic, member.classic
            assert classic is not None
            assert session is not None
            below = classic.config_offset < config_round.offset and member.current and not member.evicted
            if below and session.phase is Phase.STABLE and self._since_ms[member_id] < self._opened_ms:
                raise Violation(
                    "nudged", f"{member_id} is at {classic.config_offset} in the round of {config_round.offset}"
                )

    def _takes_place(self, group: ConnectGroup) -> None:
        if self._dead is None:
            return
        if self._dead.member_id in group.members:
            raise Violation("place", f"{self._newcomer} is back beside {self._dead.member_id}, which is dead")
        if self._led and group.computed_by != self._newcomer:
            raise Violation("place", f"{self._newcomer} led and is back, and {group.computed_by} leads")

    def _is_concerned(self, group: ConnectGroup, member: ConnectMember) -> None:
        """A reason to join again: its work, the leader, the embedded protocol, the configuration; or it has
        to compute.
        """
        classic, session, fleet = member.metadata.classic, member.classic, group.classic
        assert classic is not None
        assert session is not None
        computation = group.computation
        if (
            (computation is not None and computation.chosen == member.member_id)
            or (fleet.look is not None and fleet.look.leader == member.member_id)
            or fleet.retiring == member.member_id
            or member.current != (group.target_of(member) or NOTHING)
            or classic.known_leader != leader_known_as(group)
            or classic.known_protocol != fleet.protocol
            or fleet.protocol == DEFAULT
            or (fleet.round is not None and classic.config_offset < fleet.round.offset)
            or not session.has_synced
        ):
            return
        raise Violation("disturbed", f"{member.member_id} is to join again, and nothing concerns it")

    def _may_wait(self, group: ConnectGroup, member: ConnectMember) -> None:
        if group.classic.round is None and group.classic.protocol != DEFAULT and not self._in_round:
            session = member.classic
            assert session is not None
            if not session.may_park:
                raise Violation("parked", f"{member.member_id} runs {names(member.current)}, and its SyncGroup waits")

    def _has_returned(self, group: ConnectGroup) -> None:
        member = group.members[self._newcomer]
        others = NOTHING.union(
            *(target.resources for at, target in group.targets.items() if at != self._newcomer and group.takes_part(at))
        )
        configured = NOTHING if group.configured is None else group.configured.resources
        got = group.target_of(member) or NOTHING
        due = [(had & configured) - others for had in self._waits]
        if due and not any(each <= got for each in due) and group.epoch > group.assignment_epoch:
            raise Violation("returned", f"{self._newcomer} is back, and does not get {names(due[-1] - got)}")

    # -- answers ------------------------------------------------------------------------------------------------------

    def reply(self, state: ShardState, group: ConnectGroup, step: Step, reply: Reply) -> None:
        """A response leaves."""
        frame, response = reply.token, reply.response
        if not isinstance(frame, Frame):
            return
        request = frame.request
        if isinstance(request, SyncGroupRequest) and isinstance(response, SyncGroupResponse):
            if response.error_code:
                installed = any(type(each.key) is Installed for each in step.records) or group.computation is not None
                if self._brings is frame and not installed and not step.failed and not _has_delay(request):
                    raise Violation("accepted", f"what {request.member_id} has computed was not installed")
            elif _converted(step):
                return  # it belongs to the classic group that this was when the response was made
            elif request.member_id in group.members:
                self._known[request.member_id] = self._told_of
                self._told_ms[request.member_id] = self._context.events.now_ms
                self._assignment(state, group, group.members[request.member_id], response, frame.link.serial)
        elif isinstance(request, JoinGroupRequest) and isinstance(response, JoinGroupResponse):
            leads = response.leader == response.member_id != ""
            if response.error_code:
                return
            if leads != bool(response.members):
                raise Violation("leaders", f"{response.member_id} is named leader, shown {len(response.members)}")
            before = self._generations.get(response.member_id, 0)
            if response.generation_id < before:
                raise Violation("generations", f"{response.member_id} is told {response.generation_id} after {before}")
            self._generations[response.member_id] = response.generation_id
            if leads and response.protocol_name != DEFAULT:
                _is_fixed_point(response)

    def _assignment(
        self,
        state: ShardState,
        group: ConnectGroup,
        member: ConnectMember,
        response: SyncGroupResponse,
        connection: int,
    ) -> None:
        told = decode_assignment(response.assignment)
        newest, said = self._offsets.get(member.member_id, (0, 0))
        own = (
            said if connection >= newest else 0
        )  # nobody reads on an older one, and what came by the newest may be lost
        end = self._context.topic.newest.offset
        if told.leader == member.member_id and told.config_offset <= 0:
            if told.assigned or told.revoked or told.delay_ms:
                raise Violation(
                    "look", f"{member.member_id} is asked once more, and told to start or to stop something"
                )
            return
        if not own <= told.config_offset <= end:
            raise Violation(
                "offset", f"{member.member_id}, at {own}, is told {told.config_offset}; the config topic ends at {end}"
            )
        if told.delay_ms and member.member_id != group.computed_by:
            raise Violation("delay", f"{member.member_id} does not lead and is told of a delay")
        if group.classic.round is not None and told.assigned:
            raise Violation("round", f"{member.member_id} starts {names(told.assigned)} while a config round is open")
        if told.assigned and member.member_id != group.computed_by and group.computed_by is not None:
            leader = group.members.get(group.computed_by)
            if leader is None or leader.evicted or state.is_closed(leader.connection):
                raise Violation("ready", f"{member.member_id} starts {names(told.assigned)}, and nobody leads")
            if (
                leader.classic is not None
                and leader.classic.phase is not Phase.STABLE
                and not leader.classic.has_synced
            ):
                raise Violation(
                    "ready", f"{member.member_id} starts {names(told.assigned)} before the leader has synced"
                )

    def held(self, member: ConnectMember, frame: Frame) -> None:
        """A heartbeat's response is held."""
        held_ms = member.wake_ms - frame.began_ms
        if isinstance(frame.request, HeartbeatRequest) and held_ms > member.session_timeout_ms // 3:
            raise Violation("held", f"the answer to {member.member_id} is kept back for {held_ms} ms")


def _is_fixed_point(shown: JoinGroupResponse) -> None:
    """Check that Connect's assignor moves nothing over this picture, if just what it shows is configured."""
    workers, configured = [], set[Resource]()
    for each in shown.members:
        state = decode_state(each.metadata)
        held = NOTHING if state.allocation is None else state.allocation.assigned
        workers.append(Worker(each.member_id, state.url, held=written(tuple(sorted(held)))))
        configured |= held
    seen = Seen(shown.leader, tuple(workers), Snapshot())
    shares, memory = compute(seen, frozenset(configured), Memory(), MAX_DELAY_MS)
    moved = {name: share for name, share in shares.items() if share.assigned or share.revoked}
    if moved or memory.delay_ms:
        raise Violation("picture", f"{shown.leader} is shown work that Connect's assignor moves: {moved}")


def _has_delay(request: SyncGroupRequest) -> bool:
    """Whether the leader lets something wait. Then the coordinator does not rely on what it says (CM-39)."""
    return any(decode_assignment(each.assignment).delay_ms for each in request.assignments)


def _waiting_for(group: ConnectGroup, url: str) -> list[frozenset[Resource]]:
    """What departed workers of that url had, if their place is known."""
    return [target.resources for _, target in group.departed() if target.url == url]


def _is_alone(state: ShardState, group: ConnectGroup, url: str, frame: Frame) -> bool:
    """Whether no other worker with this url is known to be there (CM-46). Its own last life may be."""
    return all(
        state.is_closed(member.connection) or member.connection in (NO_CONNECTION, frame.link.serial)
        for member in group.members.values()
        if member.metadata.url == url and not member.evicted
    )


def _comes_by_itself(group: ConnectGroup | None, member_id: str, *, reports: bool) -> bool:
    """Whether nobody has told it to join: it is stable, has synced, and was not told to release anything. A worker that
    `reports` no work though it had some was away so long that it has stopped everything (CM-29): that is why it comes.
    """
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None or member.classic is None or member.evicted:
        return False
    was_away = bool(member.current) and not reports
    return member.classic.phase is Phase.STABLE and member.classic.has_synced and not member.releasing and not was_away


def _converted(step: Step) -> bool:
    """Whether a classic group became a connect group in this step."""
    return any(type(each.key) is GroupMetadataKey and each.value is None for each in step.records)
