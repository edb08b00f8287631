"""What must never be so? Looked for after each step, and what must become so in the end.

| invariant | connect-groups rules |
| --- | --- |
| one owner: no two workers that are not frozen run a resource | 2, 3, 7, 8, 9 |
| books: what a worker owns is in its current | 1, 3, 5, 6, 8, 12 |
| indexes: owners, claimants, unconverged agree with a recount; targets are disjoint | 2, 18, 22 |
| epochs: group, assignment and member epochs never go back; a member at the assignment epoch owns its target | 10 |
| bump: the group epoch moves when, and only when, there is a reason | 13 |
| computing: a group above its assignment epoch has somebody computing, or has failed and said so | 14, 20 |
| fencing: a healthy worker is not fenced; an old connection always is; who is fenced is not removed | 4, 5, 11, 12 |
| commit: no answer leaves before all that it could have seen is committed | 24 |
| cache: what the hot path answers is what the shard would | 25 |
| held: no answer is kept back that has something to say, nor too long | 26 |
| replay: the log gives the state that is running, whole or compacted | |
| liveness: when nothing goes wrong any more, all is well within a bounded time | all |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcoord.assign import Resource
from kcoord.group.connect.group import NO_DEADLINE, PASSED_DEADLINE, ConnectGroup, Member
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.replay import settle_load
from kcoord.group.connect.selection import Absent, select
from kcoord.group.contents import Contents
from kcoord.group.deadlines import NEVER_MS
from kcoord.group.modern.member import JOINING_EPOCH
from kcoord.group.modern.reconcile import progress
from kcoord.group.modern.states import State
from kcoord.group.shard import Shard
from kcoord.group.step import Reply, Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message import Response
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, ConnectGroupHeartbeatResponse
from kcoord.protocol.records import (
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupMetadataKey,
)
from kcoord.sim.coordinator import CATCH_UP_MS, Pending, Stage
from kcoord.sim.fleet import GROUP
from kcoord.sim.network import Frame
from kcoord.sim.trace import names
from kcoord.sim.violation import Violation
from kcoord.worker.state import Phase

if TYPE_CHECKING:
    from kcoord.sim.worker import Process
    from kcoord.sim.world import World

REPLAY_EVERY = 400
"""Steps between two comparisons of the log with what is running; each load is one more."""
FINE = (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT)

Signature = tuple[object, ...]


class Checks:
    """The judge of one run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._processes: list[Process] = []
        self.loads = 0
        self._group: ConnectGroup | None = None
        self._version = -1
        self._epoch = 0
        self._assignment_epoch = 0
        self._held_version = -1
        self._claimed: frozenset[Resource] = frozenset()
        self._signature: Signature = ()
        self._asked: Signature = ()
        self._next_replay = REPLAY_EVERY
        self._compacted = bool(world.seed % 2)
        # of the request in work
        self._member: Member | None = None
        self._newest = -1
        self._put_out = False
        self._member_epoch = -1

    @property
    def _contents(self) -> Contents:
        return self._world.coordinator.shard._contents

    # -- workers ------------------------------------------------------------------------------------------------------

    def born(self, process: Process) -> None:
        """A process begins."""
        self._processes.append(process)

    def died(self, process: Process) -> None:
        """A process has ended."""
        self._processes.remove(process)

    def judge(self, process: Process) -> None:
        """One owner at most, of workers that are not frozen (rule 2)."""
        running = process.running
        if not running or not process.counts:
            return
        if not running <= process.member.owned:
            raise Violation("one owner", f"{process.name} runs {names(running - process.member.owned)}, not its own")
        for other in self._processes:
            if other is not process and other.counts and not running.isdisjoint(other.running):
                both = names(running & other.running)
                raise Violation("one owner", f"{process.name} and {other.name} both run {both}")

    def heard(self, process: Process) -> None:
        """An answer was taken in."""
        self._owned_in_books(process)

    def _owned_in_books(self, process: Process) -> None:
        """What a worker owns is in its current (rule 1)."""
        owned = process.member.owned
        if not owned or not process.counts or self._world.coordinator.stage is not Stage.UP:
            return
        stop_ms = process.member.session_ends_ms
        if stop_ms is not None and stop_ms <= self._world.events.now_ms:
            return
        group = self._contents.connect.get(GROUP)
        member = None if group is None else group.members.get(process.member_id)
        if member is None:
            raise Violation("books", f"{process.name} owns {names(owned)} and is no member")
        if not owned <= member.current:
            lacks = names(owned - member.current)
            raise Violation("books", f"{process.name} owns {lacks}, which is not in its current")

    # -- the coordinator ----------------------------------------------------------------------------------------------

    def loaded(self) -> None:
        """The log has been replayed: epochs are what is committed from here on."""
        self.loads += 1
        group = self._contents.connect.get(GROUP)
        self._version = -1
        self._group = None
        self._epoch = 0 if group is None else group.epoch
        self._assignment_epoch = 0 if group is None else group.assignment_epoch
        self._signature = () if group is None else signature(group)
        self._asked = () if group is None else asks(group)
        self._claimed = frozenset() if group is None else frozenset(group.claimants)

    def dropped(self, survivors: list[Pending]) -> None:
        """The shard is about to be dropped."""

    def before(self, frame: Frame) -> None:
        """A request is about to be handled."""
        group = self._contents.connect.get(GROUP)
        member = None if group is None else group.members.get(getattr(frame.request, "member_id", ""))
        self._member = member
        self._newest = -1 if member is None else member.connection
        self._put_out = member is not None and member.put_out
        self._member_epoch = -1 if member is None else member.epoch

    def after(self, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        group = self._contents.connect.get(GROUP)
        if group is not None and (step.records or group.version != self._version or group is not self._group):
            self._state(group, step)
        elif group is None and self._group is not None:
            self._epoch = self._assignment_epoch = 0
            self._signature = ()
        self._group = group
        if group is not None:
            self._version = group.version
        if self._contents.held:
            self._held(step, frame)
        if frame is not None:
            for reply in step.replies:
                if reply.token is frame:
                    self._reply(step, frame, reply)
        if self._world.steps >= self._next_replay:
            self._next_replay = self._world.steps + REPLAY_EVERY
            self._replay()

    # State

    def _state(self, group: ConnectGroup, step: Step) -> None:
        self._indexes(group)
        self._epochs(group)
        self._installed(group)
        self._timers(group)
        self._bumped(group, step)
        self._claimed = frozenset(group.claimants)
        if group.epoch > group.assignment_epoch and group.participants() and group.computation is None:
            self._nobody_computes(group)
        for process in self._processes:
            self._owned_in_books(process)

    def _nobody_computes(self, group: ConnectGroup) -> None:
        """That may be only while those who could are away (rule 28)."""
        limits = self._contents.effective(group.group_id)
        selection = select(group.participants(), [each.name for each in limits.assignors])
        if not isinstance(selection, Absent):
            raise Violation(
                "computing", f"the group is at {group.epoch}, its target at {group.assignment_epoch}: nobody computes"
            )

    def _installed(self, group: ConnectGroup) -> None:
        """A new target names what exists (rule 18)."""
        if group.configured is None or group.error or group.assignment_epoch == self._assignment_epoch:
            return
        exists = group.configured.resources
        for member_id, target in group.targets.items():
            if not target.resources <= exists:
                deleted = names(target.resources - exists)
                raise Violation("targets", f"{member_id} is to own {deleted}, which do not exist")
        lost = (self._claimed & exists) - group.claimants.keys()
        if lost and group.assignment_epoch == group.epoch:
            raise Violation("targets", f"{names(lost)} were somebody's, and wait for nobody")

    def _timers(self, group: ConnectGroup) -> None:
        """What is to fall due has a timer."""
        waits = group.delay_deadline_wall_ms not in (NO_DEADLINE, PASSED_DEADLINE)
        if waits and group.members and group.delay_due_ms == NEVER_MS:
            raise Violation("timers", f"resources wait until {group.delay_deadline_wall_ms}, and nobody knows")
        due_ms = min(group.delay_due_ms, group.retry_due_ms)
        if group.computation is not None:
            due_ms = min(due_ms, group.computation.due_ms)
        for member in group.members.values():
            due_ms = min(due_ms, member.release_due_ms)
        if group.wake_ms > max(due_ms, self._world.events.now_ms + 1):
            raise Violation("timers", f"something falls due at {due_ms}, the group is looked at {group.wake_ms}")

    def _indexes(self, group: ConnectGroup) -> None:
        owners: dict[object, str] = {}
        for member_id, member in group.members.items():
            for resource in member.current:
                if resource in owners:
                    raise Violation("indexes", f"{resource} is in the current of {owners[resource]} and {member_id}")
                owners[resource] = member_id
        claimants: dict[object, str] = {}
        for member_id, target in group.targets.items():
            for resource in target.resources:
                if resource in claimants:
                    raise Violation("targets", f"{resource} is in the target of {claimants[resource]} and {member_id}")
                claimants[resource] = member_id
        if owners != group.owners:
            raise Violation("indexes", f"owners are {group.owners}, counted {owners}")
        if claimants != group.claimants:
            raise Violation("indexes", f"claimants are {group.claimants}, counted {claimants}")
        unconverged = {
            member_id
            for member_id, member in group.members.items()
            if member.current != (group.target_of(member) or frozenset())
        }
        if unconverged != group.unconverged:
            raise Violation("indexes", f"unconverged are {group.unconverged}, counted {unconverged}")
        static = {m.said.instance_id: i for i, m in group.members.items() if m.said.instance_id is not None}
        if static != group.static_ids:
            raise Violation("indexes", f"static members are {group.static_ids}, counted {static}")
        if group.history:
            epochs = list(group.history)
            if epochs != list(range(epochs[0], group.epoch + 1)):
                raise Violation("history", f"epochs {epochs} at group epoch {group.epoch}")

    def _epochs(self, group: ConnectGroup) -> None:
        if group.epoch < self._epoch or group.assignment_epoch < self._assignment_epoch:
            raise Violation(
                "epochs",
                f"group {self._epoch} and assignment {self._assignment_epoch} became "
                f"{group.epoch} and {group.assignment_epoch}",
            )
        if group.assignment_epoch > group.epoch:
            raise Violation("epochs", f"assignment {group.assignment_epoch} is above the group's {group.epoch}")
        for member in group.members.values():
            if member.epoch > group.assignment_epoch:
                raise Violation("epochs", f"{member.member_id} is at {member.epoch} above the assignment epoch")
            if (
                member.epoch == group.assignment_epoch > JOINING_EPOCH
                and not member.put_out
                and member.current != group.target_of(member)
            ):
                raise Violation("epochs", f"{member.member_id} is at the assignment epoch and does not own its target")

    def _bumped(self, group: ConnectGroup, step: Step) -> None:
        """The group epoch moves when there is a reason, and only then (rule 13)."""
        before, self._signature = self._signature, signature(group)
        moved = group.epoch - self._epoch
        self._epoch, self._assignment_epoch = group.epoch, group.assignment_epoch
        changed = before != self._signature
        if not moved:
            self._asked = asks(group)
            if changed and group.members:
                raise Violation("bump", f"no new group epoch after {before} became {self._signature}")
            return
        reasons = [
            getattr(record.value, "reason", "") for record in step.records
            if isinstance(record.key, ConnectWorkerGroupMetadataKey)
        ]  # fmt: skip
        free = (Reason.DELAY_OVER, Reason.RETRY)
        asked = self._asked
        self._asked = asks(group)
        if not changed and self._asked == asked and not any(reason.startswith(free) for reason in reasons):
            raise Violation("bump", f"a new group epoch without a reason: {reasons}")

    # Answers

    def _reply(self, step: Step, frame: Frame, reply: Reply) -> None:
        request, response = frame.request, reply.response
        if not isinstance(request, ConnectGroupHeartbeatRequest):
            return
        assert isinstance(response, ConnectGroupHeartbeatResponse)
        error = response.error_code
        stale = frame.link.serial < self._newest
        if error in FINE:
            if stale:
                raise Violation("fencing", f"{request.member_id} was answered by an old connection")
            if request.member_epoch == -1 and request.member_id in self._contents.connect[GROUP].members:
                raise Violation("leaving", f"{request.member_id} has left and is a member")
            return
        if self._member is not None and any(
            type(each.key) is ConnectWorkerGroupMemberMetadataKey and each.value is None for each in step.records
        ):
            raise Violation("fencing", f"{request.member_id} was refused and removed")
        if error == ErrorCode.FENCED_MEMBER_EPOCH and not stale and not self._put_out and self._is_healthy(frame):
            if request.member_epoch == JOINING_EPOCH and (frame.pipelined or self._member_epoch > JOINING_EPOCH):
                return  # epoch 0 is never a previous epoch (rule 12), and a join that could not know the last answer
            raise Violation("fencing", f"{request.member_id} is healthy and was fenced: {response.error_message}")

    def _is_healthy(self, frame: Frame) -> bool:
        """Whether it was sent by a worker that lives, on its newest connection."""
        client = frame.link.client
        return not frame.copied and frame.link.client_open and any(client is each for each in self._processes)

    def leaves(self, frame: Frame) -> None:
        """An answer leaves (rule 24)."""
        if frame.seen > self._world.coordinator.committed:
            raise Violation("commit", "an answer leaves before what it could have seen is committed")

    def hot(self, frame: Frame, response: Response) -> None:
        """The hot path has answered (rule 25)."""
        assert isinstance(response, ConnectGroupHeartbeatResponse)
        group = self._contents.connect[GROUP]
        member = group.members.get(getattr(frame.request, "member_id", ""))
        if member is None:
            raise Violation("cache", f"{frame.link.client.name} is no member and was answered by the hot path")
        target = group.target_of(member) or frozenset()
        limits = self._contents.effective(GROUP)
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

    def _held(self, step: Step, frame: Frame | None) -> None:
        """What is kept back has nothing to say, and not for long (rule 26)."""
        held = self._contents.held
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
                self._held_one(of_group, member)

    def _held_one(self, group: ConnectGroup, member: Member) -> None:
        member_id, last = member.member_id, member.answer
        token = None if member.held is None else member.held.token
        if token is None or last is None or group.members.get(member_id) is not member:
            raise Violation("held", f"an answer is kept back for {member_id}, who is gone")
        assert isinstance(token, Frame)
        if token.link.server_open and token.link.call is not token:
            raise Violation("held", f"the answer to {member_id} is kept back, and was given")
        target = group.target_of(member)
        if target is None:
            told: frozenset[Resource] = frozenset()
        elif target == member.current:
            told = target
        else:
            told = progress(member.current, target, group.owners).told
        if told != last.told or last.computes != (group.chosen() == member_id):
            raise Violation("held", f"the answer to {member_id} is kept back, and there is something to say")
        assert isinstance(token.request, ConnectGroupHeartbeatRequest)
        longest = min(token.request.max_wait_ms, last.heartbeat_interval_ms, last.session_timeout_ms // 3)
        if member.wake_ms - token.began_ms > longest:
            raise Violation("held", f"the answer to {member_id} is kept back for more than {longest} ms")
        late_ms = self._world.events.now_ms - max(member.wake_ms, self._world.coordinator.frozen_until_ms)
        if late_ms > CATCH_UP_MS:
            raise Violation("held", f"the answer to {member_id} was to leave at {member.wake_ms}")

    def let_go(self, frame: Frame) -> None:
        """Another request has come by its connection: its answer is not kept back any more (rule 26)."""
        if frame.seen < 0:
            raise Violation("held", f"{frame.link.client.name} has sent another request, its answer is kept back")

    # Replay

    def _replay(self) -> None:
        """The log, with what is on its way, gives the state that is running; also when it is compacted: in turns."""
        coordinator = self._world.coordinator
        if coordinator.stage is not Stage.UP:
            return
        self._compacted = not self._compacted
        replayed = coordinator.replayed(compacted=self._compacted, everything=True)
        settle_load(replayed._contents)
        found, running = durable(replayed), durable(coordinator.shard)
        if found != running:
            how = "compacted" if self._compacted else "whole"
            raise Violation("replay", f"the {how} log gives {found}, running is {running}")

    # -- in the end ---------------------------------------------------------------------------------------------------

    def epoch(self) -> int:
        """The group epoch."""
        return self._epoch

    def wrong(self) -> str | None:
        """What is not well yet."""
        world = self._world
        coordinator = world.coordinator
        processes = self._processes
        if coordinator.stage is not Stage.UP:
            return "the coordinator is not there"
        group = self._contents.connect.get(GROUP)
        if any(place.wanted and place.process is None for place in world.fleet.places):
            return "a worker is to start yet"
        if group is None or group.state is not State.STABLE or group.epoch != group.assignment_epoch:
            return f"the group is {'not there' if group is None else group.state.label}"
        if group.error or group.retry_due_ms != NEVER_MS:
            return f"assignment error {group.error}: {group.error_message}"
        if set(group.members) != {process.member_id for process in processes}:
            ids = sorted(process.member_id for process in processes)
            return f"members are {sorted(group.members)}, workers are {ids}"
        for process in processes:
            member = group.members[process.member_id]
            epochs = (process.member.epoch, member.epoch)
            if process.member.phase is not Phase.MEMBER or epochs != (group.epoch, group.epoch):
                return f"{process.name} is {process.member.phase.name} at {epochs} of {group.epoch}"
            if not process.running == process.member.owned == member.current == group.target_of(member):
                return f"{process.name} runs {names(process.running)}, may run {names(member.current)}"
        running = sorted(resource for process in processes for resource in process.running)
        configured = sorted(world.configured)
        if running != configured or (world.plan.tells and sorted(group.owners) != configured):
            return f"{names(configured)} are configured, {names(running)} run"
        return None

    def at_end(self) -> None:
        """The last look."""
        self._replay()
        now_ms = self._world.events.now_ms
        for link in self._world.network.links:
            if link.server_open and link.call is not None and now_ms - link.call.began_ms > 10_000:
                raise Violation("liveness", f"a request of {link.client.name} was not answered for 10 s")


def signature(group: ConnectGroup) -> Signature:
    """What an assignment is made from: who takes part with which metadata, and what is configured."""
    members = sorted(
        (
            member.said.instance_id or member.member_id,
            member.said.server_assignor or "",
            tuple(
                [
                    (each.name, each.minimum_version, each.maximum_version, each.version, each.metadata)
                    for each in member.said.assignors
                ]
            ),
            member.put_out,
        )
        for member in group.members.values()
    )
    return (tuple(members), None if group.configured is None else group.configured.resources)


def asks(group: ConnectGroup) -> Signature:
    """The reasons that members' assignors give for a new assignment."""
    return tuple(
        sorted(
            (member.said.instance_id or member.member_id, tuple([each.reason for each in member.said.assignors]))
            for member in group.members.values()
        )
    )


def durable(shard: Shard) -> object:
    """What a load must give again."""
    contents = shard._contents
    return (
        contents.configurations,
        {
            group_id: (
                group.epoch,
                group.reason,
                group.reason_wall_ms,
                group.assignment_epoch,
                group.targets,
                group.static_ids,
                group.owners,
                group.claimants,
                group.unconverged,
                group.configured,
                group.computed_by,
                group.assignor,
                group.delay_deadline_wall_ms,
                (group.error, group.error_message),
                group.history,
                {
                    member.member_id: (
                        member.said,
                        member.current,
                        member.recorded_epoch,
                        member.recorded_previous,
                        member.put_out,
                    )
                    for member in group.members.values()
                },
            )
            for group_id, group in contents.connect.items()
        },
    )
