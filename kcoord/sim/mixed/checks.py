"""The checks of runs with classic workers, beyond those of `kcoord.sim.judging.checks`.

| invariant | rules |
| --- | --- |
| one owner: no two workers run a resource, except those that the coordinator removed (CM-13) | CM-4, CM-5, CM-12 |
| books: what a classic worker of a connect group runs is in its current | CM-4, CM-5 |
| thrown out: a worker that is heard, joins when it is told, and does not leave, stays a member | |
| leaders: one classic worker at most believes that it leads: who computed last; it knows who owns | CM-3, CM-14 |
| storm: no worker joins endlessly | CM-7 |
| busy: the coordinator does not look at the group again and again for nothing | |
| generations: they never go back, whatever kind of group it is | CM-2 |
| died: no response ends a classic worker's process, except one that says that it may not take part | |

What the classic protocol itself cannot promise is excused: a worker that the coordinator had to remove runs on until it
notices. What it runs counts again when it has settled.
"""

from __future__ import annotations

from kcoord.group.state.classic_workers.phases import Phase as TranslatedPhase
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.step import Reply, Step
from kcoord.group.translation.rounds.config_round import LONGEST_MS
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kcoord.resource import Resource
from kcoord.sim.append import Pending
from kcoord.sim.basis.phases import CLASSIC_PHASES, CONVERSION_PHASE, ROUND_PHASE, TRANSLATED_PHASES
from kcoord.sim.basis.trace import names
from kcoord.sim.basis.violation import Violation
from kcoord.sim.classic_worker.client import CLOSED
from kcoord.sim.coordinator import UP, Coordinator
from kcoord.sim.fleet import GROUP
from kcoord.sim.judging.checks import Checks
from kcoord.sim.judging.invariants import Invariants
from kcoord.sim.mixed import convergence
from kcoord.sim.mixed.answers import Answers
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.mixed.fleet import MixedFleet
from kcoord.sim.mixed.invariants import MixedInvariants
from kcoord.sim.mixed.process import NEVER_MS, ClassicProcess
from kcoord.sim.network import Frame
from kcoord.sim.process import SimulatedProcess

RETRIED = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
"""Responses to a request that the coordinator did not process."""
RUNS_ON_MS = 30_000
"""For at least this long nobody is given what a worker had that left without having stopped."""
SPINS, SPIN_MS = 30, 100
MANY, WITHIN_MS, A_CHANGE, A_STOP = 30, 10_000, 3, 2
"""More JoinGroups of one worker within that time are a storm. Each change of configuration allows this many more: the
leader reads it, is asked twice, and once more when what was deleted has stopped. Each time that the worker is told to
stop something allows two more: rules may drain it by a few tasks at a time, and it comes to be told and when it has
stopped.
"""


class MixedChecks(Checks):
    """The judge of a mixed run."""

    _context: MixedContext
    _fleet: MixedFleet

    def __init__(self, context: MixedContext, coordinator: Coordinator, fleet: MixedFleet) -> None:
        super().__init__(context, coordinator, fleet)
        self._answers = Answers(context, coordinator)
        self._heard_ms: dict[str, int] = {}
        """When a request of a member was handled last."""
        self._joined_ms: dict[str, int] = {}
        """The same for JoinGroup, and for SyncGroup if the worker does not have to join first. A JoinGroup in the
        middle of a classic group's rebalance does not extend the time for SyncGroup, as in Kafka.
        """
        self._left: set[str] = set()
        self._idle_looks = self._idle_since_ms = 0
        self._generation = 0
        self._peopled = False
        """Whether the group had members."""
        self._is_classic = False
        self._conversion: Pending | None = None
        """The append that changed the group's kind last."""

    def _open_books(self) -> Invariants:
        return MixedInvariants()

    # -- the group and its members ------------------------------------------------------------------------------------

    def classic(self) -> ClassicGroup | None:
        """The group if it is a classic group. None while the coordinator has never been up."""
        return self._state.groups.get(GROUP) if self.loads else None

    def connect(self) -> ConnectGroup | None:
        """The group if it is a connect group. None while the coordinator has never been up."""
        return self._state.connect.get(GROUP) if self.loads else None

    def leader(self) -> str | None:
        """The leader's member id."""
        classic, connect = self.classic(), self.connect()
        if classic is not None:
            return classic.record.leader
        return None if connect is None else connect.computed_by

    def is_member(self, process: ClassicProcess) -> bool:
        """Whether the coordinator counts the worker as a member."""
        classic = self.classic()
        if classic is not None:
            return process.member_id in classic.members
        connect = self.connect()
        member = None if connect is None else connect.members.get(process.member_id)
        return member is not None and not member.evicted

    # -- workers ------------------------------------------------------------------------------------------------------

    def started(self, process: ClassicProcess, resources: frozenset[Resource]) -> None:
        """A classic worker has started something."""
        self._look_at(process)
        self.judge(process)
        process.fenced -= resources
        if self.connect() is not None:
            for other in self._fleet.classic_processes():
                if other is not process:
                    self._runs_on(process, other, resources)
                    self._stopped_before(process, other, resources)
                    if not process.stale:  # a removed worker starts late, and nobody can prevent it
                        other.fenced |= resources & other.running

    def _runs_on(self, process: ClassicProcess, other: ClassicProcess, resources: frozenset[Resource]) -> None:
        """A worker that left without having stopped runs on for a while (CM-13). If it came back meanwhile and its
        session ended, it runs on like any worker whose session ended. A worker that was given something before starts
        it late.
        """
        is_known = self.is_member(other) and not self._answers.came_after(other.member_id, process.member_id)
        if not other.left_as and not is_known:
            return
        since_ms = self._context.events.now_ms - other.ran_on_ms
        new = resources - process.started - self._answers.has_listed(process.member_id)
        if other.stale and since_ms < RUNS_ON_MS and not new.isdisjoint(other.running):
            both = names(new & other.running)
            raise Violation("runs on", f"{process.name} starts {both}, and {other.name} left without having stopped")

    def _stopped_before(self, process: ClassicProcess, other: ClassicProcess, resources: frozenset[Resource]) -> None:
        """After a reconfiguration, tasks have stopped everywhere before they start anywhere (the config round). A
        newcomer may have read more than others, as in a classic group. It may start once more what it began with then:
        its herder hears of a change that it has already started its tasks with, stops them, and starts them with the
        same configurations.
        """
        if not other.counts or not process.counts or process.is_new:
            return
        for name in {each.connector for each in resources if not each.is_connector}:
            newest = process.revisions.get(name, 0)
            if process.begun_with.get(name) == newest:
                continue
            predecessor = [each for each in other.running if each.connector == name and not each.is_connector]
            if predecessor and other.revisions.get(name, 0) < newest and not self._is_over(name, process, other):
                raise Violation(
                    "reconfigured",
                    f"{process.name} starts {name} as of {newest}, {other.name} runs {names(predecessor)} of before",
                )

    def _is_over(self, name: str, process: ClassicProcess, other: ClassicProcess) -> bool:
        """The round is bounded. None is opened for a worker that had to come anyway or is new, and a worker that was
        answered before others came by themselves was not kept back. A worker that reads on because it is told to, as
        Connect does, joins before it stops: the coordinator cannot know.
        """
        revision = process.revisions.get(name, 0)
        written_ms, offset = self._context.written.get((name, revision), (0, 0))
        bounded = self._context.events.now_ms - written_ms > LONGEST_MS
        return bounded or other.worker.said_offset >= offset or not self._answers.was_told_of(process.member_id, offset)

    def judge(self, process: SimulatedProcess) -> None:
        """At most one owner of each resource. A classic worker that stands still counts too, while it is a member."""
        if isinstance(process, ClassicProcess):
            self._look_at(process)
        super().judge(process)

    def settled(self, process: ClassicProcess) -> bool:
        """Whether the coordinator again knows everything that the worker runs."""
        if self._coordinator.stage is not UP or not self.is_member(process):
            return False
        connect = self.connect()
        if connect is None:
            return True
        current = connect.members[process.member_id].current
        return process.running <= current and current.isdisjoint(connect.also_owned)

    def heard(self, process: SimulatedProcess) -> None:
        """The books have changed: what a worker owns is in its current (CG-1, CM-5)."""
        if not isinstance(process, ClassicProcess):
            super().heard(process)
            return
        if self._coordinator.stage is not UP:
            return
        if process.left_as and process.member_id != process.left_as and self.is_member(process):
            process.left_as = ""
        if process.running:
            self._look_at(process)
            connect = self.connect()
            if connect is None or process.stale:
                return
            current = connect.members[process.member_id].current
            if not process.running <= current:
                raise Violation("books", f"{process.name} runs {names(process.running - current)}, not in its current")

    def _look_at(self, process: ClassicProcess) -> None:
        """Note whether the coordinator has removed the worker."""
        if process.stale or not process.running or not self._is_let_go(process):
            return
        process.stale = True
        self._context.note(process.name, f"is no member, and runs {names(process.running)}")
        self._may_be_thrown_out(process)

    def _is_let_go(self, process: ClassicProcess) -> bool:
        """Whether it is not a member. While no coordinator is up, what was known before applies: a worker that was
        frozen may start what it was told long ago.
        """
        if self._coordinator.stage is UP:
            return not self.is_member(process)
        return bool(process.member_id) and process.evicted_as == process.member_id

    def _may_be_thrown_out(self, process: ClassicProcess) -> None:
        member_id, now_ms, mix = process.member_id, self._context.events.now_ms, self._context.mix
        if not member_id or member_id in self._left or member_id not in self._heard_ms:
            return
        silent_ms = now_ms - self._heard_ms[member_id]
        late_ms = now_ms - self._joined_ms.get(member_id, 0)
        if silent_ms < mix.session_ms and late_ms < mix.rebalance_ms and not self._succeeded(process):
            raise Violation(
                "thrown out", f"{process.name} was heard {silent_ms} ms ago, joined {late_ms} ms ago, and is no member"
            )

    def _succeeded(self, process: ClassicProcess) -> bool:
        """Whether its connection is closed, so that a newcomer may have taken its place (CM-19)."""
        return process.link is None or not process.link.server_open

    def joins(self, process: ClassicProcess) -> None:
        """The worker sends a JoinGroup (CM-7). In a classic group a leader that has not read the config topic makes all
        workers join again and again: that is Connect's own behaviour.
        """
        joined, now_ms = process.joined_ms, self._context.events.now_ms
        if self.connect() is None:
            joined.clear()
        while joined and joined[0] < now_ms - WITHIN_MS:
            joined.pop(0)
        offsets = {offset for at_ms, offset in self._context.written.values() if at_ms >= now_ms - WITHIN_MS}
        stops = sum(at_ms >= now_ms - WITHIN_MS for at_ms in process.let_go_ms)
        if len(joined) > MANY + A_CHANGE * len(offsets) + A_STOP * stops:
            raise Violation("storm", f"{process.name} has sent {len(joined)} JoinGroups in {WITHIN_MS} ms")

    def ends(self, process: ClassicProcess, died_of: str) -> None:
        """The worker's process ends."""
        if died_of and died_of not in ("INCONSISTENT_GROUP_PROTOCOL", "GROUP_MAX_SIZE_REACHED"):
            raise Violation("died", f"{process.name} died of {died_of}")

    # -- the coordinator ----------------------------------------------------------------------------------------------

    def loaded(self) -> None:
        """The log has been replayed: from here on, generations are those that are committed."""
        super().loaded()
        self._answers.loaded(self.connect())
        self._generation, self._peopled = 0, False
        self._generations()
        self._forget_leavers()

    def _forget_leavers(self) -> None:
        """A classic group keeps nothing for a worker that has left. A LeaveGroup whose record was lost does
        not count.
        """
        connect = self.connect()
        for process in self._fleet.classic_processes():
            member = None if connect is None else connect.members.get(process.left_as)
            if connect is None or (member is not None and not member.evicted):
                process.ran_on_ms = NEVER_MS

    def before(self, frame: Frame) -> None:
        """A request is about to be handled."""
        super().before(frame)
        classic, connect = self.classic(), self.connect()
        self._answers.before(self._state, connect, frame)
        request, now_ms = frame.request, self._context.events.now_ms
        if not frame.link.client_open:
            self._is_late(frame)
            return
        if isinstance(request, LeaveGroupRequest):
            self._left.update(each.member_id for each in request.members)
            client, leaver = frame.link.client, request.members[0]
            counts = connect is not None and leaver.member_id in connect.members  # else its session has ended before
            if isinstance(client, ClassicProcess) and client.running and counts and leaver.reason != CLOSED:
                client.ran_on_ms, client.left_as = now_ms, leaver.member_id
            return
        member_id = getattr(request, "member_id", "")
        if isinstance(request, HeartbeatRequest):
            group = classic or connect
            if group is not None and member_id in group.members:
                self._heard_ms[member_id] = now_ms
            return
        if classic is None:  # in a classic group nothing else prolongs every session, as in Kafka
            self._heard_ms[member_id] = now_ms
        is_refused = isinstance(request, SyncGroupRequest) and self._must_join(member_id)
        completes = classic is not None and classic.state is ClassicState.COMPLETING
        is_late = completes and isinstance(request, JoinGroupRequest)
        if not is_refused and not is_late:
            self._joined_ms[member_id] = now_ms

    def _is_late(self, frame: Frame) -> None:
        """A request on an old connection. A classic group takes a JoinGroup there for what its worker runs, as in
        Kafka.
        """
        client = frame.link.client
        if (
            isinstance(frame.request, JoinGroupRequest)
            and isinstance(client, ClassicProcess)
            and self.classic() is not None
        ):
            client.stale = True

    def _forget_refused(self, step: Step) -> None:
        """A worker that is told to come on a new connection was not heard (CG-4)."""
        for reply in step.replies:
            if isinstance(reply.token, Frame) and getattr(reply.response, "error_code", 0) in RETRIED:
                self._heard_ms.pop(getattr(reply.token.request, "member_id", ""), None)

    def _must_join(self, member_id: str) -> bool:
        """Whether only a JoinGroup keeps it in the group, because a SyncGroup belongs to the previous generation."""
        classic, connect = self.classic(), self.connect()
        if classic is not None:
            return classic.state is ClassicState.PREPARING
        member = None if connect is None else connect.members.get(member_id)
        return member is not None and member.classic is not None and member.classic.phase is TranslatedPhase.PREPARING

    def timed(self, step: Step) -> None:
        """Time makes the coordinator look at the group. If nothing comes of it again and again, it only spins."""
        now_ms = self._context.events.now_ms
        if step.records or step.replies or now_ms > self._idle_since_ms + SPIN_MS:
            self._idle_looks, self._idle_since_ms = 0, now_ms
            return
        self._idle_looks += 1
        if self._idle_looks > SPINS:
            raise Violation("busy", f"{SPINS} looks at the group within {SPIN_MS} ms, and nothing came of them")

    def after(self, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        self._forget_refused(step)
        super().after(step, frame)
        connect = self.connect()
        if connect is not None and connect.classic.members:
            self._answers.after(self._state, connect)
            for reply in step.replies:
                self._answers.reply(self._state, connect, step, reply)
        self._answers.is_over(step)
        if not step.records:
            if self._peopled:
                self._peopled = self._has_members()  # a classic group writes no record when members leave it
            return
        self._note_kind()
        self._forget_leavers()
        self._generations()
        for process in self._fleet.classic_processes():
            process.evicted_as = "" if self.is_member(process) else process.member_id
            if self._is_classic:
                process.fenced = set()  # Connect's own leader lets it go on, and nobody can prevent it
            if process.running:
                self._look_at(process)
        self._leaders()

    def phases(self) -> list[str]:
        """What is going on with the group, of either kind."""
        found = super().phases()
        if self._coordinator.stage is not UP:
            return found
        classic, connect = self.classic(), self.connect()
        if self._conversion in self._coordinator.pending:
            found.append(CONVERSION_PHASE)
        if classic is not None:
            found.append(CLASSIC_PHASES[classic.state])
        if connect is not None:
            sessions = [connect.members[each].classic for each in connect.classic.members]
            found += {TRANSLATED_PHASES[session.phase] for session in sessions if session is not None}
            if connect.classic.round is not None:
                found.append(ROUND_PHASE)
        return found

    def _note_kind(self) -> None:
        """Note which kind the group is, and whether that has changed."""
        classic, was_classic = self.classic(), self._is_classic
        if classic is not None:
            self._context.sightings.reached(("state", "classic", classic.state.label))
        self._is_classic = classic is not None
        if self._is_classic and not was_classic:
            self._answers.became_classic()
        if self._is_classic != was_classic and self._coordinator.pending and (classic or self.connect()):
            self._conversion = self._coordinator.pending[-1]

    def _has_members(self) -> bool:
        group = self.classic() or self.connect()
        return group is not None and bool(group.members)

    def _generations(self) -> None:
        classic, connect = self.classic(), self.connect()
        generation = 0
        if classic is not None:
            generation = classic.record.generation
        elif connect is not None:
            generation = connect.epoch
        if generation < self._generation and self._peopled:  # an empty group may make room for one of the other kind
            raise Violation("generations", f"{self._generation} became {generation}")
        if generation < self._generation:
            self._answers.forget()
        self._generation, self._peopled = generation, self._has_members()

    def _leaders(self) -> None:
        """Check which workers believe that they lead and may act as leader (CM-14)."""
        believe = [
            process for process in self._fleet.classic_processes()
            if process.worker.leads and not process.stale and self.is_member(process)
        ]  # fmt: skip
        if len(believe) > 1:
            raise Violation("leaders", f"{' and '.join(each.name for each in believe)} believe that they lead")
        connect = self.connect()
        if believe and connect is not None and believe[0].worker.leads_blindly:
            raise Violation("leaders", f"{believe[0].name} leads, and does not know who runs what")
        if believe and connect is not None and connect.computed_by != believe[0].member_id:
            raise Violation("leaders", f"{believe[0].name} believes that it leads, {connect.computed_by} does")

    def _reply(self, step: Step, frame: Frame, reply: Reply) -> None:
        if isinstance(frame.request, ConnectGroupHeartbeatRequest):
            super()._reply(step, frame, reply)

    def hot(self, frame: Frame, response: Response) -> None:
        """The hot path has responded."""
        if isinstance(frame.request, ConnectGroupHeartbeatRequest):
            super().hot(frame, response)

    def flush_held_reply(self, frame: Frame) -> None:
        """Another request has come on its connection. JoinGroup and SyncGroup may wait all the same."""
        if isinstance(frame.request, (HeartbeatRequest, ConnectGroupHeartbeatRequest)):
            super().flush_held_reply(frame)

    def _held(self, frame: Frame | None) -> None:
        """Held responses have nothing to say, and are not held for long."""
        for waiting in self._state.held.values():
            for _, member in waiting.values():
                if member.classic is not None and member.held is not None and isinstance(member.held.token, Frame):
                    self._answers.held(member, member.held.token)

    # -- at the end ---------------------------------------------------------------------------------------------------

    def epoch(self) -> int:
        """The generation, whatever kind of group it is."""
        return self._generation

    def _wrong(self) -> str | None:
        return convergence.wrong(self._context, self._coordinator, self._fleet, self._processes, self.nowhere)
