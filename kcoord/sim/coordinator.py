"""The simulated coordinator: the shell around one shard, as the server has it, on virtual time.

- One request of a connection is in work at a time. The next one waits, or ends the hold of the response before it.
- A step's records are one append. Appends are committed in order, some time later. A reply leaves when everything is
  committed that the shard had appended when the reply was made (CG-24).
- It crashes at any time. What is committed is in the log; the first few of the appends on their way may be too.
- An append fails. The shard is dropped and loaded again, while the connections live. The first few of the appends on
  their way may be in the log all the same (in doubt), or none (a transaction was rolled back, or another instance has
  fenced this one meanwhile).
- An append gets no result. What waits for it waits until the writer gives up, and it never was in the log.
- An append takes long, and so does everything behind it.
- The power fails while a batch is written. Part of it is on the disk, and the next load leaves it out
  (`basis/storage.py`).
- A load may find the whole log, or only the last record of each key.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from itertools import count
from operator import attrgetter
from typing import Protocol

import attrs

from kcoord.group.error_responses import refuse
from kcoord.group.shard import Shard
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import CachedReply, PredictedReply, RequestContext, Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import HeartbeatRequest, SyncGroupRequest
from kcoord.protocol.records import Record, decode_record, encode_record
from kcoord.sim.append import Fate, Pending
from kcoord.sim.basis import trace
from kcoord.sim.basis.storage import Storage
from kcoord.sim.context import RunContext
from kcoord.sim.network import Frame, Link
from kcoord.sim.plans.plan import Fault

CATCH_UP_MS = 250
"""After a standstill, how long the coordinator reads what waits before time goes on, as in the server."""
WALL_MS = 1_700_000_000_000
HOST = "/10.0.0.1"


_FIELDS: dict[type, Callable[[object], object]] = {}
"""By type of key, the function that reads its fields."""


def key_of(record: Record) -> object:
    """The key by which compaction keeps one record."""
    kind = type(record.key)
    read = _FIELDS.get(kind)
    if read is None:
        read = _FIELDS[kind] = attrgetter(*(field.name for field in attrs.fields(kind)))
    return kind, read(record.key)


def _while_loading(request: Request) -> ErrorCode:
    """As the server refuses. Java's worker would end on other errors to SyncGroup, so it is told to join again; its
    heartbeats are accepted.
    """
    if isinstance(request, SyncGroupRequest):
        return ErrorCode.REBALANCE_IN_PROGRESS
    if isinstance(request, HeartbeatRequest):
        return ErrorCode.NONE
    return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


class BrokenOff(Exception):
    """A step that the plan breaks off. Every other exception ends the run."""


class Stage(Enum):
    """What the coordinator can answer."""

    DOWN = "nothing: it cannot be reached"
    LOADING = "that it loads"
    UP = "everything"


DOWN, UP = Stage.DOWN, Stage.UP  # one of them is looked up with every message, and members of an enum are slow to find


class StepJudge(Protocol):
    """The judge of what the coordinator does."""

    def loaded(self) -> None: ...
    def before(self, frame: Frame) -> None: ...
    def timed(self, step: Step) -> None: ...
    def after(self, step: Step, frame: Frame | None) -> None: ...
    def leaves(self, frame: Frame) -> None: ...
    def hot(self, frame: Frame, response: Response) -> None: ...
    def flush_held_reply(self, frame: Frame) -> None: ...


class AimedFaults(Protocol):
    """The faults, which may wait until the group is in a certain phase."""

    @property
    def waiting(self) -> Sequence[Fault]: ...
    def look(self) -> None: ...


class Coordinator:
    """One shard, its log, its connections."""

    judge: StepJudge
    faults: AimedFaults
    """Set by the judge and the faults themselves."""

    def __init__(self, context: RunContext, settings: GroupSettings) -> None:
        self._context = context
        self._events = context.events
        self._random = context.random
        self._network = context.network
        self._plan = context.plan
        self.settings = settings
        self.stage = DOWN
        self._ids = count(1)
        self.shard = Shard(settings, self._make_id, fits=self._fits)
        self.storage = Storage()
        """What is committed, and what a power failure has left of the rest."""
        self.pending: deque[Pending] = deque()
        self.appended = 0
        """How many appends there were since the log began, committed or not."""
        self.frozen_until_ms = 0
        self._unread: list[Frame] = []
        self.woken_ms = 0
        """When the coordinator became able to serve again."""
        self._life = 0
        """Counts loads, so that what was meant for an earlier life is ignored."""
        self._commit_ms = 0
        self._next = Fate.COMMITTED
        """What becomes of the next append."""
        self._lost: Pending | None = None
        """The append that gets no result."""
        self._late = False
        """Whether an append has ever taken long."""
        self._takes_ms = 0
        """How long that takes beyond the usual, or until it is known."""
        self._breaks = False
        self._timer_ms: int | None = None
        self._wall_ms = WALL_MS
        self._network.arrive = self._arrive
        self._network.gone = self._gone
        self._network.superseded = self._superseded
        self._network.reachable = self._reachable

    def _make_id(self) -> str:
        """The unique part of a member id that the coordinator gives out. No two are the same, even over crashes."""
        return str(next(self._ids))

    @property
    def committed(self) -> int:
        """How many appends are in the log."""
        return self.storage.committed

    @property
    def wall_ms(self) -> int:
        """The time of day. It may jump while the coordinator is down."""
        return self._wall_ms + self._events.now_ms

    @property
    def is_up(self) -> bool:
        """Whether connections can be made."""
        return self.stage is not DOWN

    def _reachable(self) -> bool:
        return self.is_up and not (self._context.faulty and self._random.random() < 0.02)

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Load the log, and serve."""
        self.stage = Stage.LOADING
        self._life += 1
        if self.faults.waiting:
            self.faults.look()
        self._events.after(int(self._random.random() * 50), self._loaded, self._life)

    def _loaded(self, life: int) -> None:
        if life != self._life:
            return
        # connections keep numbering over a crash: those of a dead process cannot be heard any more
        self.shard = self.replayed(compacted=self._random.random() < 0.5, predecessor=self.shard)
        self.appended = self.committed
        self._commit_ms = 0
        self._timer_ms = None
        self.stage = UP
        self.woken_ms = self._events.now_ms
        self._context.note("coordinator", "has loaded its log")
        self.judge.loaded()
        self._take(self.shard.loaded(self._events.now_ms, self.wall_ms), None)

    def replayed(self, *, compacted: bool, everything: bool = False, predecessor: Shard | None = None) -> Shard:
        """A shard as a load would make it, from what is committed, or from everything that was appended."""
        shard = Shard(self.settings, self._make_id, predecessor, self._fits)
        records = list(self.storage.load())
        if everything:
            records += [record for pending in self.pending for record in pending.records]
        if compacted:
            last = {key_of(record): at for at, record in enumerate(records)}
            records = [records[at] for at in sorted(last.values()) if records[at].value is not None]
        for record in records:
            shard.replay(decode_record(*encode_record(record)) if self._plan.wire else record)
        return shard

    def crash(self, down_ms: int, wall_jump_ms: int = 0, *, torn: bool = False) -> None:
        """The process dies, and comes back after a while. With `torn` the disk also loses its power."""
        if self.stage is DOWN:
            return
        how = ", one of them torn" if torn and self.pending else ""
        self._context.note("coordinator", f"crashes, {len(self.pending)} appends under way{how}")
        self._drop(answer=None, torn=torn)
        self.stage = DOWN
        self._life += 1
        self._network.reset()
        self._wall_ms += wall_jump_ms
        self._events.after(down_ms, self._up_again, self._life)

    def _up_again(self, life: int) -> None:
        if life == self._life:
            self.start()

    def disturb_next_append(self, fate: Fate, takes_ms: int = 0) -> None:
        """Let the next append go wrong in this way. `takes_ms`: for how long, if that takes time."""
        self._next, self._takes_ms = fate, takes_ms

    def break_next_step(self) -> None:
        """Let the next step that writes something break off after all is written. It is undone."""
        self._breaks = True

    def _fits(self, key: bytes, value: bytes | None) -> bool:
        breaks, self._breaks = self._breaks, False
        if breaks:
            raise BrokenOff
        return True

    def heal(self) -> None:
        """From now on nothing goes wrong."""
        if self.pending and (self._next is Fate.LOST or self._lost is self.pending[0]):
            self._failed(survivors=0)
        self._next = Fate.COMMITTED
        if self._late:
            self._commit_at(self._events.now_ms)
        self._breaks = False
        stood_still = self.frozen_until_ms > self._events.now_ms
        self.frozen_until_ms = min(self.frozen_until_ms, self._events.now_ms)
        self._go_on()
        if stood_still and self.stage is UP:
            self._timer_ms = self._events.now_ms + CATCH_UP_MS
            self._events.at(self._timer_ms, self._time, self._timer_ms, self._life)

    def _failed(self, survivors: int | None = None) -> None:
        """An append has failed. `survivors` of those on their way are in the log all the same. None: the first few."""
        self._next = Fate.COMMITTED
        self._context.note("coordinator", f"an append fails, {len(self.pending)} were under way")
        self._drop(answer=ErrorCode.NOT_COORDINATOR, survivors=survivors)
        self.start()

    def _drop(self, answer: ErrorCode | None, *, survivors: int | None = None, torn: bool = False) -> None:
        """Forget what is not committed. The first few of the appends on their way may be committed."""
        if survivors is None:
            all_may = answer is None and not torn
            survivors = int(self._random.random() * (len(self.pending) + all_may))
        pending = list(self.pending)
        if self._lost in pending:
            self._next = Fate.COMMITTED
        self.pending.clear()
        for each in pending[:survivors]:
            self.storage.commit(each.records)
        if torn and survivors < len(pending):
            records = pending[survivors].records
            self.storage.tear(records, int(self._random.random() * len(records)))
        self.count()
        waiting = [frame for each in pending for frame in each.waiting]
        waiting += [token for token in self.shard.drop() if isinstance(token, Frame)]
        self.stage = Stage.LOADING
        if answer is not None:
            for frame in waiting:
                frame.seen = 0
                self._deliver(frame, self._refusal(frame.request, answer), None)

    def count(self) -> None:
        """Note what the shard has counted, before it is dropped or the run ends."""
        self._context.sightings.counted(self.shard.state.counters)

    def freeze(self, ms: int) -> None:
        """The process stands still for a while."""
        self.frozen_until_ms = max(self.frozen_until_ms, self._events.now_ms + ms)
        self._events.at(self.frozen_until_ms, self._go_on)

    def _go_on(self) -> None:
        """Read what came while the process stood still."""
        if self.frozen_until_ms <= self._events.now_ms:
            unread, self._unread = self._unread, []
            for frame in unread:
                self._arrive(frame)

    # -- requests -----------------------------------------------------------------------------------------------------

    def _arrive(self, frame: Frame) -> None:
        link = frame.link
        if self.stage is DOWN or not link.server_open:
            return
        if self.frozen_until_ms > self._events.now_ms:
            self._unread.append(frame)
            return
        if link.call is not None:
            link.queue.append(frame)
            frame.pipelined = True
            if self.stage is UP and link.call.seen < 0:
                waiting = link.call
                self._flush_held_reply(link)
                self.judge.flush_held_reply(waiting)
            return
        self._begin(frame)

    def _begin(self, frame: Frame) -> None:
        link = frame.link
        if frame.copied and not self._superseded(frame):
            return  # after a load the coordinator does not know the newer connection any more
        link.call = frame
        frame.began_ms = self._events.now_ms
        if self.stage is not UP:
            self._deliver(frame, self._refusal(frame.request, _while_loading(frame.request)), None)
            return
        hot = link.hot
        if hot is not None and hot[2].basis.version == hot[2].version and hot[0] == frame.request:
            hot[2].session.last_seen_ms = self._events.now_ms
            self._context.hot_answers += 1
            self.judge.hot(frame, hot[1])
            self._deliver(frame, hot[1], hot[2])
            return
        if self._context.tracing:
            more = " (doubled)" if frame.copied else " (pipelined)" if frame.pipelined else ""
            self._context.note(f"#{link.serial}", f"{trace.of_request(frame.request)}{more}")
        request = self._received(frame)
        self.judge.before(frame)
        context = self._context_of(frame)
        step = self.shard.handle(request, context, frame, self._events.now_ms)
        self._take(step, frame)

    def _context_of(self, frame: Frame) -> RequestContext:
        """What the shard is told of a request that a client has sent."""
        link = frame.link
        return self.request_context(link.serial, frame.pipelined, frame.version, link.client.name)

    def _received(self, frame: Frame) -> Request:
        """The request as the coordinator reads it."""
        request = frame.request
        return type(request).decode(request.encode(frame.version), frame.version) if self._plan.wire else request

    def _as_sent(self, frame: Frame, response: Response) -> Response:
        """The response as the client reads it."""
        return type(response).decode(response.encode(frame.version), frame.version) if self._plan.wire else response

    def _refusal(self, request: Request, error: ErrorCode) -> Response:
        return refuse(request, error)

    def request_context(
        self, connection: int, pipelined: bool = False, version: int = 0, client_id: str = "admin"
    ) -> RequestContext:
        """What the shard is told of a request's connection. 0: an administrator's."""
        return RequestContext(version, client_id, HOST, connection, self.wall_ms, pipelined)

    def ask(self, request: Request) -> None:
        """An administrator's request. Its response does not matter."""
        if self.stage is UP:
            if self._context.tracing:
                self._context.note("admin", trace.of_request(request))
            self._take(self.shard.handle(request, self.request_context(0), None, self._events.now_ms), None)

    def alter_config(self, group: str, values: Mapping[str, str]) -> None:
        """An administrator sets all of a group's own settings."""
        if self.stage is UP:
            self._context.note("admin", f"configures the group: {dict(values)}")
            self._take(self.shard.alter_config(group, values, self._events.now_ms, self.wall_ms), None)

    def _flush_held_reply(self, link: Link) -> None:
        self._take(self.shard.flush_held_reply(link.serial, self._events.now_ms, self.wall_ms), None)

    def _gone(self, link: Link) -> None:
        """A connection has ended."""
        link.call = link.hot = None
        link.queue.clear()
        if self.stage is UP:
            self._take(self.shard.closed(link.serial, self._events.now_ms, self.wall_ms), None)

    def _superseded(self, frame: Frame) -> bool:
        group_id, member_id = getattr(frame.request, "group_id", ""), getattr(frame.request, "member_id", "")
        state = self.shard.state
        # 0.1.0, whose shards take part in some runs, knows no consumer groups
        group = state.connect.get(group_id) or getattr(state, "consumer", {}).get(group_id)
        member = None if group is None else group.members.get(member_id)
        return member is not None and member.connection > frame.link.serial

    # -- steps --------------------------------------------------------------------------------------------------------

    def _take(self, step: Step, frame: Frame | None) -> None:
        """Append what a step writes, and let its replies leave when they may."""
        context = self._context
        context.steps += 1
        if step.faults:
            self._note_faults(step)
        records = step.records
        if context.tracing:
            for record in records:
                context.note("  log", trace.of_record(record))
        if records:
            context.sightings.wrote(records)
            context.fingerprint.wrote(step.encoded)
            self.appended += 1
            pending = Pending(records)
            self.pending.append(pending)
            delay = int(self._random.random() * (self._plan.commit_ms + 1))
            self._commit_ms = max(self._commit_ms, self._events.now_ms + delay)
            self._events.at(self._commit_ms, self._committed, pending)
        self.judge.after(step, frame)
        if self.faults.waiting:
            self.faults.look()
        if step.refused:
            self._refuse(step)
        for reply in step.replies:
            token = reply.token
            if isinstance(token, Frame):
                token.seen = self.appended
                self._when_committed(token, reply.response, reply.cached)
        due_ms = self.shard.next_deadline()
        if due_ms is not None and (self._timer_ms is None or due_ms < self._timer_ms):
            self._timer_ms = due_ms
            self._events.at(due_ms, self._time, due_ms, self._life)

    def _note_faults(self, step: Step) -> None:
        """Raise a fault of the step, unless it is one that the run breaks steps off with."""
        for fault in step.faults:
            if not isinstance(fault.error, BrokenOff):
                raise fault.error
            self._context.note("coordinator", f"{fault.during} breaks off and is undone")

    def _refuse(self, step: Step) -> None:
        """Refuse the requests that waited in a group where a step broke off. What the step wrote is already
        on its way.
        """
        for token in step.refused:
            if isinstance(token, Frame):
                token.seen = 0
                self._deliver(token, refuse(token.request, ErrorCode.NOT_COORDINATOR), None)

    def _when_committed(self, frame: Frame, response: Response, cached: CachedReply | None) -> None:
        """Let a reply leave when everything is committed that the shard has appended until now (CG-24)."""
        if not self.pending:
            self._deliver(frame, response, cached)
            return
        last = self.pending[-1]
        last.waiting.append(frame)
        last.release.append(lambda: self._deliver(frame, response, cached))

    def _committed(self, pending: Pending) -> None:
        if not self.pending or self.pending[0] is not pending:
            return  # dropped before
        if self._next is not Fate.COMMITTED and self._goes_wrong(pending):
            return
        self.pending.popleft()
        self.storage.commit(pending.records)
        for release in pending.release:
            release()

    def _goes_wrong(self, pending: Pending) -> bool:
        """Whether the append is not committed now."""
        match self._next:
            case Fate.IN_DOUBT:
                self._failed()
            case Fate.ROLLED_BACK:
                self._failed(survivors=0)
            case Fate.FENCED:
                self._next = Fate.COMMITTED
                self._context.note(
                    "coordinator", f"another instance had the log, and gives it back in {self._takes_ms} ms"
                )
                self._drop(answer=ErrorCode.NOT_COORDINATOR, survivors=0)
                self._life += 1
                self._events.after(self._takes_ms, self._up_again, self._life)
            case Fate.TORN:
                self._next = Fate.COMMITTED
                self.crash(self._takes_ms, torn=True)
            case Fate.LATE:
                self._next = Fate.COMMITTED
                self._context.note("coordinator", f"an append takes {self._takes_ms} ms more")
                self._late = True
                self._commit_at(self._events.now_ms + self._takes_ms)
            case Fate.LOST:
                if self._lost is not pending:
                    self._lost = pending
                    self._context.note("coordinator", f"nobody says what became of an append, for {self._takes_ms} ms")
                    self._events.after(self._takes_ms, self._give_up, pending)
        return True

    def _commit_at(self, at_ms: int) -> None:
        """Commit everything on its way at that time, in order."""
        self._commit_ms = at_ms
        for each in self.pending:
            self._events.at(at_ms, self._committed, each)

    def _give_up(self, pending: Pending) -> None:
        """The writer of an append has waited long enough."""
        if self.pending and self.pending[0] is pending:
            self._failed(survivors=0)

    def _deliver(self, frame: Frame, response: Response, cached: CachedReply | None) -> None:
        """The response leaves, and the next request on the connection begins."""
        link = frame.link
        if link.call is not frame:
            return
        context = self._context
        self.judge.leaves(frame)
        context.fingerprint.answered(self._events.now_ms, response)
        if error := getattr(response, "error_code", 0):
            context.sightings.refused(frame.request, error)
        if context.tracing:
            context.note(f"#{link.serial}", f"   -> {trace.of_response(response)}")
        if self._plan.hot_path and cached is not None:
            predicted = cached.predicted or PredictedReply(frame.request, response)
            link.hot = (predicted.request, self._as_sent(frame, predicted.response), cached)
        response = self._as_sent(frame, response)
        link.call = None
        self._network.answer(frame, response)
        if link.queue and self.stage is not DOWN:
            self._begin(link.queue.popleft())

    # -- time ---------------------------------------------------------------------------------------------------------

    def _time(self, at_ms: int, life: int) -> None:
        if life != self._life or self._timer_ms != at_ms or self.stage is not UP:
            return
        now_ms = self._events.now_ms
        if self.frozen_until_ms > now_ms:
            self._timer_ms = self.frozen_until_ms + CATCH_UP_MS
            self._events.at(self._timer_ms, self._time, self._timer_ms, life)
            return
        self._timer_ms = None
        step = self.shard.advance(now_ms, self.wall_ms)
        self.judge.timed(step)
        self._take(step, None)
