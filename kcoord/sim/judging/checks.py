"""The checks after each step: what must never be so, in workers, in responses, and in the coordinator's books
(`invariants.py`).

| invariant | rules |
| --- | --- |
| one owner: no two workers that are not frozen run the same resource | CG-2, CG-3, CG-7, CG-8, CG-9 |
| books: what a worker owns is in its current | CG-1, CG-3, CG-5, CG-6, CG-8, CG-12 |
| fencing: no healthy worker is fenced; an old connection always is; fencing removes nobody | CG-4, CG-5, CG-11, CG-12 |
| commit: no response leaves before everything is committed that it could have seen | CG-24 |
| cache: the hot path responds as the shard would | CG-25 |
| held: no response is held that has something to say, and none is held too long | CG-26 |
| placement: what the group's rules demand (`placement/judge.py`) | |

`convergence.py` checks what must be so at the end, and that the log gives what is running.
"""

from __future__ import annotations

from kcoord.assign import Resource
from kcoord.group.modern.reconcile import progress
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, Answer
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Reply, Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, ConnectGroupHeartbeatResponse
from kcoord.protocol.records import ConnectWorkerGroupMemberMetadataKey
from kcoord.sim.basis.phases import (
    COMMITTING_PHASE,
    CONNECT_PHASES,
    DOWN_PHASE,
    JOINING_PHASE,
    LOADING_PHASE,
    MOVING_PHASE,
)
from kcoord.sim.basis.trace import names
from kcoord.sim.basis.violation import Violation
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import CATCH_UP_MS, DOWN, UP, Coordinator
from kcoord.sim.fleet import GROUP, Fleet
from kcoord.sim.judging import convergence
from kcoord.sim.judging.invariants import NOTHING, Invariants
from kcoord.sim.network import Frame
from kcoord.sim.placement.judge import PlacementJudge
from kcoord.sim.process import SimulatedProcess
from kcoord.sim.worker import Process
from kcoord.worker.state import Phase

REPLAY_EVERY = 400
"""How many steps lie between two comparisons of the log with what is running. Each load is one more comparison."""
_STATES = [("state", "connect", state.label) for state in ModernState]
FINE = frozenset((ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT))


class Checks:
    """The judge of one run."""

    def __init__(self, context: RunContext, coordinator: Coordinator, fleet: Fleet) -> None:
        self._context = context
        self._coordinator = coordinator
        self._fleet = fleet
        coordinator.judge = fleet.judge = self
        self._processes: list[SimulatedProcess] = []
        self.loads = 0
        self._invariants = self._open_books()
        self._placement = PlacementJudge(context, coordinator) if context.plan.placements else None
        self._state: ShardState
        """The contents of the shard that was loaded last."""
        self._group: ConnectGroup | None = None
        self._version = -1
        self._held_version = -1
        self._next_replay = REPLAY_EVERY
        self._compacted = bool(context.seed % 2)
        # about the request in work
        self._member: ConnectMember | None = None
        self._newest = -1
        self._evict = False
        self._member_epoch = -1
        self._healed_epoch = 0
        """The group epoch when faults ended."""

    def _open_books(self) -> Invariants:
        return Invariants()

    # -- workers ------------------------------------------------------------------------------------------------------

    def born(self, process: SimulatedProcess) -> None:
        """A process begins."""
        self._processes.append(process)

    def died(self, process: SimulatedProcess) -> None:
        """A process has ended."""
        self._processes.remove(process)
        if self._placement is not None:
            self._placement.died(process)

    def judge(self, process: SimulatedProcess) -> None:
        """Of the workers that are not frozen, at most one owns each resource (CG-2)."""
        running = process.running
        if not running or not process.counts:
            return
        if isinstance(process, Process) and not running <= process.member.owned:
            raise Violation("one owner", f"{process.name} runs {names(running - process.member.owned)}, not its own")
        for other in self._processes:
            if other is not process and other.counts and not running.isdisjoint(other.running):
                both = names(running & other.running)
                raise Violation("one owner", f"{process.name} and {other.name} both run {both}")

    def heard(self, process: SimulatedProcess) -> None:
        """A response was processed, or the state has changed: what a worker owns is in its current (CG-1)."""
        if not isinstance(process, Process):
            return
        owned = process.member.owned
        if not owned or not process.counts or self._coordinator.stage is not UP:
            return
        stop_ms = process.member.session_ends_ms
        if stop_ms is not None and stop_ms <= self._context.events.now_ms:
            return
        group = self._state.connect.get(GROUP)
        member = None if group is None else group.members.get(process.member_id)
        if member is None:
            raise Violation("books", f"{process.name} owns {names(owned)} and is no member")
        if not owned <= member.current:
            lacks = names(owned - member.current)
            raise Violation("books", f"{process.name} owns {lacks}, which is not in its current")

    # -- the coordinator ----------------------------------------------------------------------------------------------

    def loaded(self) -> None:
        """The log has been replayed: from here on, epochs are those that are committed."""
        self.loads += 1
        self._state = self._coordinator.shard.state
        self._version = -1
        self._group = None
        self._invariants.begin(self._state.connect.get(GROUP))
        if self._placement is not None:
            self._placement.loaded(self._state)

    def before(self, frame: Frame) -> None:
        """A request is about to be handled."""
        group = self._state.connect.get(GROUP)
        member = None if group is None else group.members.get(getattr(frame.request, "member_id", ""))
        self._member = member
        self._newest = -1 if member is None else member.connection
        self._evict = member is not None and member.evicted
        self._member_epoch = -1 if member is None else member.epoch

    def timed(self, step: Step) -> None:
        """Time has made the coordinator look at the group."""

    def after(self, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        state = self._state
        group = state.connect.get(GROUP)
        if group is None:
            if self._group is not None:
                self._invariants.forget()
            if self._placement is not None:
                self._placement.gone(state)  # each time, because a step that broke off has placed too
        elif step.records or step.faults or group.version != self._version or group is not self._group:
            self._version = group.version
            self._context.sightings.reached(_STATES[group.state])
            self._invariants.look(group, step, state, self._context.events.now_ms)
            if self._placement is not None:
                self._placement.look(group, step, state)
            for process in self._processes:
                self.heard(process)
        self._group = group
        if state.held:
            self._held(frame)
        if frame is not None:
            for reply in step.replies:
                if reply.token is frame:
                    self._reply(step, frame, reply)
        if self._context.steps >= self._next_replay:
            self._next_replay = self._context.steps + REPLAY_EVERY
            self._replay()

    def phases(self) -> list[str]:
        """What is going on with the group, in the words of `phases.py`."""
        coordinator = self._coordinator
        if coordinator.stage is not UP:
            return [DOWN_PHASE if coordinator.stage is DOWN else LOADING_PHASE]
        found = [COMMITTING_PHASE] if coordinator.pending else []
        for each in self._processes:
            if isinstance(each, Process) and each.member.phase is Phase.JOINING:
                found.append(JOINING_PHASE)
                break
        if self._placement is not None and self._placement.moves():
            found.append(MOVING_PHASE)
        group = self._state.connect.get(GROUP)
        return found if group is None else [*found, CONNECT_PHASES[group.state]]

    # Answers

    def _reply(self, step: Step, frame: Frame, reply: Reply) -> None:
        request, response = frame.request, reply.response
        if not isinstance(request, ConnectGroupHeartbeatRequest):
            return
        assert isinstance(response, ConnectGroupHeartbeatResponse)
        error = response.error_code
        stale = self.is_stale(frame)
        if error in FINE:
            if stale:
                raise Violation("fencing", f"{request.member_id} was answered by an old connection")
            group = self._state.connect.get(GROUP)
            if request.member_epoch == -1 and group is not None and request.member_id in group.members:
                raise Violation("leaving", f"{request.member_id} has left and is a member")
            return
        if self._member is not None and any(
            type(each.key) is ConnectWorkerGroupMemberMetadataKey and each.value is None for each in step.records
        ):
            raise Violation("fencing", f"{request.member_id} was refused and removed")
        if error == ErrorCode.FENCED_MEMBER_EPOCH and not stale and not self._evict and self._is_healthy(frame):
            if request.member_epoch == JOINING_EPOCH and (frame.pipelined or self._member_epoch > JOINING_EPOCH):
                return  # epoch 0 is never a previous epoch (CG-12), or the join could not know the last response
            raise Violation("fencing", f"{request.member_id} is healthy and was fenced: {response.error_message}")

    def is_stale(self, frame: Frame) -> bool:
        """Whether the shard knows its member by a connection that was made later (CG-4)."""
        return frame.link.serial < self._newest

    def _is_healthy(self, frame: Frame) -> bool:
        """Whether a living worker sent the request on its newest connection."""
        client = frame.link.client
        return not frame.copied and frame.link.client_open and any(client is each for each in self._processes)

    def leaves(self, frame: Frame) -> None:
        """A response leaves (CG-24)."""
        if frame.seen > self._coordinator.committed:
            raise Violation("commit", "an answer leaves before what it could have seen is committed")

    def hot(self, frame: Frame, response: Response) -> None:
        """The hot path has responded (CG-25)."""
        assert isinstance(response, ConnectGroupHeartbeatResponse)
        group = self._state.connect[GROUP]
        member = group.members.get(getattr(frame.request, "member_id", ""))
        if member is None:
            raise Violation("cache", f"{frame.link.client.name} is no member and was answered by the hot path")
        target = group.target_of(member) or NOTHING
        limits = self._state.effective(GROUP)
        if (
            member.connection != frame.link.serial
            or member.epoch != response.member_epoch
            or limits.heartbeat_interval_ms != response.heartbeat_interval_ms
            or limits.session_timeout_ms != response.session_timeout_ms
            or group.chosen() == member.member_id
            or member.current != target
            or member.epoch != group.assignment_epoch
        ):
            raise Violation("cache", f"{member.member_id} was answered by the hot path, and there is something to say")

    def _held(self, frame: Frame | None) -> None:
        """Held responses have nothing to say, and are not held for long (CG-26)."""
        held = self._state.held
        group = self._group
        if group is None or group.version != self._held_version or frame is None:
            self._held_version = -1 if group is None else group.version
            connections = list(held)
        else:  # nothing has changed for the others
            connections = [frame.link.serial] if frame.link.serial in held else []
        for connection in connections:
            waiting = held[connection]
            if frame is not None and connection == frame.link.serial and len(waiting) > 1:
                raise Violation("held", f"#{connection} has sent another request and its answer is kept back")
            for of_group, member in waiting.values():
                assert isinstance(of_group, ConnectGroup)
                self._is_not_late(member, *_nothing_to_say(of_group, member))

    def _is_not_late(self, member: ConnectMember, token: Frame, last: Answer[Resource]) -> None:
        """A held response leaves neither later than it may nor later than its time."""
        held_ms = member.wake_ms - token.began_ms
        if (
            held_ms > getattr(token.request, "max_wait_ms", 0)
            or held_ms > last.heartbeat_interval_ms
            or held_ms > last.session_timeout_ms // 3
        ):
            raise Violation("held", f"the answer to {member.member_id} is kept back for {held_ms} ms")
        since_ms = self._context.events.now_ms - CATCH_UP_MS
        if since_ms > member.wake_ms and since_ms > self._coordinator.frozen_until_ms:
            raise Violation("held", f"the answer to {member.member_id} was to leave at {member.wake_ms}")

    def flush_held_reply(self, frame: Frame) -> None:
        """Another request has come on its connection, so its response is not held any more (CG-26)."""
        if frame.seen < 0:
            raise Violation("held", f"{frame.link.client.name} has sent another request, its answer is kept back")

    # -- at the end ---------------------------------------------------------------------------------------------------

    def _replay(self) -> None:
        """Compare the log with what is running: as it is and compacted, in turn."""
        self._compacted = not self._compacted
        convergence.replays(self._coordinator, compacted=self._compacted)

    def epoch(self) -> int:
        """The group epoch."""
        return self._invariants.epoch

    def nowhere(self) -> frozenset[Resource]:
        """Resources that nobody has to run, because placement rules forbid them everywhere."""
        return NOTHING if self._placement is None else self._placement.nowhere()

    def wrong(self) -> str | None:
        """What is not well yet. None: all is well."""
        found = self._wrong()
        return self._placement.wrong(self._processes) if found is None and self._placement is not None else found

    def _wrong(self) -> str | None:
        processes = [each for each in self._processes if isinstance(each, Process)]
        return convergence.wrong(self._context, self._coordinator, self._fleet, processes, self.nowhere)

    def healed(self) -> None:
        """From now on nothing goes wrong any more."""
        self._healed_epoch = self.epoch()

    def at_end(self) -> None:
        """The checks at the end of the run."""
        self._replay()
        self._rest()
        convergence.unanswered(self._context)

    def _rest(self) -> None:
        group = self._state.connect.get(GROUP)
        if group is not None:
            convergence.is_at_rest(group, self._healed_epoch)


def _nothing_to_say(group: ConnectGroup, member: ConnectMember) -> tuple[Frame, Answer[Resource]]:
    """A held response would be as the last one. Returns the request that waits for it, and that last response."""
    member_id, last = member.member_id, member.answer
    token = None if member.held is None else member.held.token
    if token is None or last is None or group.members.get(member_id) is not member:
        raise Violation("held", f"an answer is kept back for {member_id}, who is gone")
    assert isinstance(token, Frame)
    if token.link.server_open and token.link.call is not token:
        raise Violation("held", f"the answer to {member_id} is kept back, and was given")
    target = group.targets.get(member_id)
    if target is None:
        told = NOTHING
    elif target.resources == member.current:
        told = member.current
    else:
        told = progress(member.current, target.resources, group.owners).assignment_sent
    if told != last.assignment_sent or last.computes != (group.chosen() == member_id):
        raise Violation("held", f"the answer to {member_id} is kept back, and there is something to say")
    return token, last
