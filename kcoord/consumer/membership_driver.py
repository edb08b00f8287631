"""The asyncio driver of a consumer's membership: it gives it time, answers and outcomes, and carries out its actions.

There is one handler for each action. Revocations and grants are done one after the other, each in steps: what needs the
coordinator (commits, committed offsets, names of topics) goes on beside the application, callbacks are called in their
turn (`turns.py`). A loss interrupts all of that.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from aiokafka import TopicPartition

from kcoord.client.connection import Connection
from kcoord.client.errors import ClientError
from kcoord.consumer import actions
from kcoord.consumer.actions import Partition
from kcoord.consumer.assignor_calls import AssignorCalls
from kcoord.consumer.callbacks import Callbacks
from kcoord.consumer.errors import ConsumerError, name_some
from kcoord.consumer.group_requests import GroupRequests
from kcoord.consumer.membership import Membership
from kcoord.consumer.reading import Reading
from kcoord.consumer.transitions import error_name
from kcoord.consumer.turns import Turns
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, ConsumerGroupPrepareAssignmentRequest
from kcoord.worker.alarm import Alarm
from kcoord.worker.background_tasks import BackgroundTasks
from kcoord.worker.clock import now_ms
from kcoord.worker.coordinator_connection import CoordinatorConnection
from kcoord.worker.coordinator_lookup import Finder
from kcoord.worker.listener_calls import Calls

_log = logging.getLogger(__name__)

_LOOK_MS = 1000
"""The membership is polled that often in any case: the loop's timers do not count the time that the machine slept."""
_LEARN_AGAIN_S = 0.5
_PATTERNS_FROM = 1
"""The first version of ConsumerGroupHeartbeat that has a regular expression."""
CommitBeforeRevocation = Callable[[frozenset[TopicPartition]], Awaitable[None]]


class Driver:
    """Runs one membership until it is over."""

    def __init__(
        self,
        member: Membership,
        finder: Finder,
        reading: Reading,
        callbacks: Callbacks,
        commit_before: CommitBeforeRevocation,
        assignors: AssignorCalls,
    ) -> None:
        """`commit_before` is called before partitions are revoked, with these. It must not raise."""
        self.member = member
        self.turns = Turns()
        self.requests = GroupRequests(member, self._hurry, self._disown)
        self._reading = reading
        self._callbacks = callbacks
        self._commit_before = commit_before
        self._assignors = assignors
        self._calls = Calls()
        self.gone: asyncio.Future[actions.Gone] = asyncio.get_running_loop().create_future()
        self.failure: ConsumerError | None = None
        """Why nothing can be read any more, though the consumer is a member."""
        self._was_member = False
        """It has joined once, at least."""
        self._names: dict[bytes, str] = {}
        self._held: dict[TopicPartition, Partition] = {}
        """What the application has, until `on_revoked` or `on_lost` has returned."""
        self._nameless: set[Partition] = set()
        """What was granted, of topics whose names are not known yet."""
        self._learning: asyncio.Task[None] | None = None
        self._tasks = BackgroundTasks("consumer")
        self._connection = CoordinatorConnection(
            finder, member, self._do, self._tasks, lack=self._lack, use=self.requests.use
        )
        self._due = Alarm(self._poll)
        self._looking = Alarm(self._look)

    # Life

    def start(self) -> None:
        """Join."""
        self._look()
        self._do(self.member.start(now_ms()))

    def leave(self, *, permanent: bool) -> None:
        """Let go of everything and leave. The application polls no more."""
        self.turns.end()
        self._do(self.member.leave(now_ms(), permanent=permanent))

    def give_up(self, why: str) -> None:
        """Leave without waiting for revocations."""
        self._do(self.member.give_up(now_ms(), why))

    async def close(self) -> None:
        """End everything."""
        self._due.set(None)
        self._looking.set(None)
        await self._calls.close()
        await self._tasks.close()
        await self._connection.close()

    # The application

    def polled(self, *, waits: bool) -> None:
        """The application polls; `waits`: it waits in a poll."""
        if wanted := self.member.application_polled(now_ms(), waits=waits):
            self._do(wanted)

    @property
    def held(self) -> frozenset[TopicPartition]:
        """What the application has."""
        return frozenset(self._held)

    def is_held(self, partition: TopicPartition) -> bool:
        """Whether the application has this partition."""
        return partition in self._held

    # What the membership wants

    def _do(self, wanted: list[actions.Action]) -> None:
        for action in wanted:
            self._carry_out(action)
        self._due.set(None if self.gone.done() else self.member.wake_at())

    def _carry_out(self, action: actions.Action) -> None:
        match action:
            case actions.Send():
                self._connection.send(action.number, action.request)
            case actions.Seek():
                self._connection.seek()
            case actions.Revoke():
                self._calls.add("on_revoked", lambda: self._revoke(action))
            case actions.Grant():
                self._calls.add("on_assigned", lambda: self._begin(action.partitions))
            case actions.Lose():
                self._interrupt(action)
            case actions.TellAssignor():
                self._calls.add("on_assignment", lambda: self._tell(action))
            case actions.Assign():
                self._tasks.start(self._assign(action))
            case actions.ComputationRefused():
                said = f": {action.message}" if action.message else ""
                group, error = self.member.setup.group_id, error_name(action.error_code)
                _log.warning("group %s: the computed assignment was refused with %s%s", group, error, said)
            case actions.Joined():
                self._was_member = True
                _log.info("is a member of group %s, at epoch %d", self.member.setup.group_id, action.epoch)
            case actions.Gone():
                if not self.gone.done():
                    self.gone.set_result(action)
                self.turns.news.set()

    # Partitions

    async def _begin(self, partitions: frozenset[Partition]) -> None:
        """Take what was granted: find out where to begin, tell the application, read."""
        self._nameless |= {each for each in partitions if each[0] not in self._names}
        granted = {TopicPartition(self._names[each[0]], each[1]): each for each in partitions if each[0] in self._names}
        if self._nameless and (self._learning is None or self._learning.done()):
            self._learning = self._tasks.start(self._learn())

        def is_wanted(partition: TopicPartition) -> bool:
            return granted[partition] in self.member.assigned and partition not in self._held

        try:
            starts = await self.requests.committed(granted, is_wanted)
        except ConsumerError as error:
            self.failure = error
            self.turns.news.set()
            return
        async with self.turns.callback():
            starts = {each: offset for each, offset in starts.items() if is_wanted(each)}
            if not starts:
                return
            self._held.update((each, granted[each]) for each in starts)
            self._reading.take(starts)
            _log.info("group %s: assigned %s", self.member.setup.group_id, name_some(starts))
            await self._callbacks.call("on_assigned", frozenset(starts))
            self._reading.begin(starts)

    async def _revoke(self, action: actions.Revoke) -> None:
        self._nameless -= action.partitions
        gone = frozenset(each for each, partition in self._held.items() if partition in action.partitions)
        if gone:
            async with self.turns.callback():
                self._reading.end(gone)
            await self._commit_before(gone)
            async with self.turns.callback():
                _log.info("group %s: revoked %s", self.member.setup.group_id, name_some(gone))
                await self._callbacks.call("on_revoked", gone)
                self._reading.drop(gone)
                for each in gone:
                    self._held.pop(each, None)
        self._do(self.member.released(now_ms(), action.number))

    def _interrupt(self, action: actions.Lose) -> None:
        """Everything is lost: read nothing more, from this moment on."""
        self.requests.lives += 1
        self._nameless.clear()
        gone = self.held
        _log.warning("group %s: lost %s: %s", self.member.setup.group_id, name_some(gone), action.why)
        self._reading.lose(gone)
        self._held.clear()
        self._calls.interrupt("on_lost", lambda: self._lose(action.number, gone))

    async def _lose(self, number: int, gone: frozenset[TopicPartition]) -> None:
        async with self.turns.callback(at_once=True):
            await self._calls.doomed_ended()
            if gone:
                await self._callbacks.call("on_lost", gone)
        self._do(self.member.lost(now_ms(), number))

    async def _learn(self) -> None:
        """Learn the names of topics, and begin with what was granted of them."""
        while self._nameless:
            with contextlib.suppress(ClientError):
                self._names.update(await self.requests.names(sorted({each[0] for each in self._nameless})))
            known = frozenset(each for each in self._nameless if each[0] in self._names)
            self._nameless -= known
            if known:
                self._calls.add("on_assigned", partial(self._begin, known))
            if self._nameless:
                await asyncio.sleep(_LEARN_AGAIN_S)

    # The client-side assignors

    async def _assign(self, action: actions.Assign) -> None:
        assignment = await self._assignors.assign(action.assignor, action.group)
        self._do(self.member.computed(now_ms(), action.number, assignment))

    async def _tell(self, action: actions.TellAssignor) -> None:
        self._assignors.tell(action.assignor, action.assignment)

    # Time

    def _look(self) -> None:
        if not self.gone.done():
            self._looking.set(now_ms() + _LOOK_MS)
            self._do(self.member.offer(now_ms(), self._assignors.offers()))

    def _poll(self) -> None:
        self._do(self.member.poll(now_ms()))

    def _hurry(self) -> None:
        self._do(self.member.hurry(now_ms()))

    def _disown(self, error_code: int) -> None:
        self._do(self.member.disowned(now_ms(), error_code))

    def _lack(self, connection: Connection) -> str | None:
        """What the broker does not serve, and this consumer needs."""
        where = f"{connection.host}:{connection.port}"
        if not connection.serves(ConsumerGroupHeartbeatRequest):
            return f"{where} has no ConsumerGroupHeartbeat"
        patterns = connection.serves_version(ConsumerGroupHeartbeatRequest, _PATTERNS_FROM)
        if self.member.setup.pattern is not None and not patterns:
            return f"{where} resolves no patterns: give topics"
        computes = connection.serves(ConsumerGroupPrepareAssignmentRequest)
        if self.member.setup.client_assignors and not computes and not self._was_member:
            return f"{where} has no ConsumerGroupPrepareAssignment"  # later, it may be an older kcoord that took over
        return None
