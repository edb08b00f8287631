"""A model of the herder of a worker of Connect 4.3: what it does, in which order, and when it stops what it runs.

Connect's herder is one thread that blocks: in a round, while tasks stop, and while it reads the config topic. Here it
is a generator that yields what it waits for. Around it are the group's client (`client`), which goes on meanwhile, and
the calls of the host. Nothing here does I/O or reads a clock.

One turn of the thread:
1. If the coordinator is unknown for a heartbeat interval, it stops everything, and the next JoinGroup reports a null
   allocation.
2. It makes a round if one is wanted; under `default` it stops everything before. It stops what the answer revokes,
   keeps the rest, and adds what the answer assigns.
3. If the answer's config offset is above the herder's own, it reads the topic to its end. If that takes too long, it
   leaves, runs on for a back-off, and tries again. If the offset is below its own, it rejoins at once. If they are
   equal, it starts what is not running, and if something was revoked it rejoins at once.
4. On news of the config topic, it stops reconfigured tasks, and wants a round.
5. It waits. When an answer's delay is over, it wants a round.

Not modelled: REST, connectors that restart by themselves, key rotation, metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from typing import TypeAlias

import attrs

from kcoord.assign.incremental import Seen, Snapshot
from kcoord.protocol.embedded import (
    EAGER,
    NAMES,
    NOTHING,
    EmbeddedError,
    WorkerAssignment,
    WorkerState,
    encode_state,
)
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import JoinGroupResponse
from kcoord.resource import Resource
from kcoord.sim.classic_worker.actions import Action, Close, ReadConfigs, Start, Stop
from kcoord.sim.classic_worker.cached_decoding import decode_assignment
from kcoord.sim.classic_worker.client import NEVER_MS, ClientState, Fate, GroupClient
from kcoord.sim.classic_worker.configs import Configs, news
from kcoord.sim.classic_worker.leading import Leader
from kcoord.sim.classic_worker.setup import ClassicSetup

TOO_LONG = "taking too long to read the log"
RETRIES = 5
"""How many times it backs off with its tasks running before it stops them."""


class _Woken(Exception):
    """Another thread has something for the herder: its turn is cut short."""


@frozen(slots=True)
class _Wait:
    """What the herder waits for: the condition, or the time."""

    until: Callable[[], bool]
    until_ms: int = NEVER_MS


_Thread: TypeAlias = Generator[_Wait, None, None]
_Asking: TypeAlias = Generator[_Wait, None, bool]


@attrs.define(eq=False)
class Held:
    """An assignment as a worker keeps it: the last answer, and everything that it is to run.

    As in Connect, the client, the herder and what runs share one object, so what is removed from one is gone from the
    others too.
    """

    told: WorkerAssignment
    resources: set[Resource]
    revoked: frozenset[Resource] = NOTHING

    @property
    def failed(self) -> bool:
        """Whether the leader could not compute."""
        return self.told.error != 0


class ClassicWorker:
    """One classic worker."""

    def __init__(self, setup: ClassicSetup, configs: Configs | None = None) -> None:
        self.setup = setup
        self.client = GroupClient(setup, self._metadata, self._elected)
        self.running: frozenset[Resource] = NOTHING
        """What has been started and not stopped: the truth, which the group may not know."""
        self.read = configs or Configs()
        """What its reader of the config topic knows."""
        self.version = setup.protocol
        """The embedded protocol of the last round."""
        self.held: Held | None = None
        """What it reports: its assignment, or nothing (null)."""
        self._knows_owners = False
        self._configs = Configs(offset=-1)
        """What the herder knows; the reader may be ahead. At first it knows nothing, whatever has been read."""
        self._round_snapshot = Snapshot()
        self._leader = Leader(setup.assignor)
        self._completed = -1
        self._assignment = _nothing()
        self._started = _nothing()
        self._resolved = True
        self._rejoin_ms = NEVER_MS
        self._to_restart: frozenset[Resource] = NOTHING
        self._rebalance = False
        self._reconfigured: frozenset[str] = NOTHING_NAMED
        self._can_read = True
        self._retries = RETRIES
        self._closing = self._woken = self._stopped = self._at_end = self._reading = False
        self._over = False
        self._herder = self._live()
        self._wait: _Wait | None = None

    # What others can ask

    @property
    def member_id(self) -> str:
        """The id that the client knows. Empty if it has none."""
        return self.client.generation.member_id

    @property
    def generation(self) -> int:
        """The generation that the client knows, or -1."""
        return self.client.generation.number

    @property
    def stable(self) -> bool:
        """Whether it has its assignment and wants no round."""
        return (
            self.client.state is ClientState.STABLE and not self._wants_round() and self._resolved and self._at_rest()
        )

    @property
    def leads(self) -> bool:
        """Whether it believes that it leads (CM-14)."""
        client = self.client
        if client.state is not ClientState.STABLE or client.under_way or self._reading or not self._resolved:
            return False  # while it processes an answer, its thread stops tasks or reads on, and does nothing else
        return self.is_named_leader

    @property
    def is_named_leader(self) -> bool:
        """Whether its last assignment names it as the leader, whatever it is doing now."""
        return self.held is not None and self.held.told.leader == self.member_id != ""

    @property
    def leads_blindly(self) -> bool:
        """Whether it leads and does not know who runs what: REST requests fail (CM-3)."""
        return self.leads and not self._wants_round() and not self._knows_owners

    @property
    def said_offset(self) -> int:
        """The config offset of its last JoinGroup, or of what it has led with since."""
        return self._round_snapshot.offset

    def wake_at(self) -> int | None:
        """When `poll` next has something to do."""
        if self._over:
            return None
        at_ms = self.client.wake_at()
        if self._wait is not None:
            at_ms = min(at_ms, self._wait.until_ms)
        return at_ms if at_ms < NEVER_MS else None

    # Calls of the host; each returns what is to be done

    def start(self, now_ms: int) -> list[Action]:
        """The process has started and has read what its `configs` say."""
        self.client.now_ms = now_ms
        self.client.seek()
        return self._go(now_ms)

    def connected(self, now_ms: int) -> list[Action]:
        """There is a connection to the coordinator, as `Seek` asked."""
        self.client.now_ms = now_ms
        self.client.connected()
        return self._go(now_ms)

    def disconnected(self, now_ms: int) -> list[Action]:
        """The connection has ended."""
        self.client.now_ms = now_ms
        self.client.disconnected()
        return self._go(now_ms)

    def received(self, number: int, response: Response, now_ms: int) -> list[Action]:
        """The response to what was sent under that number."""
        self.client.now_ms = now_ms
        self.client.received(number, response)
        return self._go(now_ms)

    def poll(self, now_ms: int) -> list[Action]:
        """Time has passed."""
        return self._go(now_ms)

    def config_read(self, configs: Configs, now_ms: int) -> list[Action]:
        """Its reader of the config topic has read up to this point."""
        if configs.offset > self.read.offset:
            told = news(self._configs, self.read, configs)
            self.read = configs
            self._rebalance = self._rebalance or told.rebalance
            self._reconfigured |= told.reconfigured
            self._woken = self._woken or told.rebalance
        return self._go(now_ms)

    def read_to_end(self, now_ms: int) -> list[Action]:
        """The config topic is read to its end, as `ReadConfigs` asked."""
        self._at_end = True
        return self._go(now_ms)

    def stopped(self, now_ms: int) -> list[Action]:
        """What `Stop` named has stopped."""
        self._stopped = True
        return self._go(now_ms)

    def leave(self, now_ms: int) -> list[Action]:
        """Stop everything, leave, and end."""
        self._closing = self._woken = True
        return self._go(now_ms)

    # The thread

    def _go(self, now_ms: int) -> list[Action]:
        client = self.client
        client.now_ms = now_ms
        if not self._over:
            client.tick()
            while self._wait is None or self._wait.until_ms <= client.now_ms or self._wait.until():
                self._wait = next(self._herder, None)
                if self._wait is None:
                    self._over = True
                    break
            if not self._over:
                client.tick()  # what the herder asked for meanwhile may be due
        wanted, client.out = client.out, []
        return wanted

    def _live(self) -> _Thread:
        try:
            while not self._closing:
                try:
                    yield from self._turn()
                except _Woken:
                    continue
        except _Died as died:
            self.running = NOTHING
            self.client.out.append(Close(str(died)))
            return
        yield from self._stop(self.running)
        self.client.close()
        self.client.out.append(Close())

    def _turn(self) -> _Thread:
        if not self._can_read:
            self._can_read = yield from self._read_on()
            if not self._can_read:
                return
        yield from self._be_active()
        self._wake()
        if not (yield from self._take_up()):
            return
        if self._rejoin_ms < NEVER_MS:
            self._resolved = False
        if (yield from self._reconfigure()):
            return
        yield from self._idle()
        yield from self._take_up()

    def _wake(self) -> None:
        if self.client.broken:
            raise _Died(self.client.broken)
        if self._woken:
            self._woken = False
            raise _Woken

    def _until(self, until: Callable[[], bool], until_ms: int = NEVER_MS) -> _Thread:
        """Wait in the client, where other threads wake the herder."""
        self._wake()
        if not until():
            yield _Wait(lambda: self._woken or until() or self.client.broken != "", until_ms)
        self._wake()

    def _idle(self) -> _Thread:
        """Nothing to do until something happens. The client is polled all the time."""
        client = self.client
        client.polled_ms = NEVER_MS
        try:
            yield from self._until(lambda: self._wants_round() or not client.up, self._rejoin_ms)
            if not client.up or self._wants_round():
                yield from self._be_active()
        finally:
            client.polled_ms = client.now_ms

    def _wants_round(self) -> bool:
        client, held = self.client, self.held
        return client.rejoin or client.under_way or client.wants_rejoin or held is None or held.failed

    def _at_rest(self) -> bool:
        return not self._rebalance and self._can_read and self.client.up

    # Rounds

    def _be_active(self) -> _Thread:
        """Know the coordinator, and be a member."""
        client, setup = self.client, self.setup
        if not client.up:
            yield from self._until(lambda: client.up, client.now_ms + setup.heartbeat_interval_ms)
            yield from self._stop_if_lost()
        while self._wants_round():
            yield from self._until(lambda: client.up)
            if client.needs_prepare:
                client.needs_prepare = False
                self._knows_owners = False
                if self.version == EAGER and self.held is not None and not self.held.failed:
                    yield from self._revoke(self.held.resources)
                    continue
            if not client.under_way:
                client.join()
            yield from self._until(lambda: client.outcome is not None)
            yield from self._see_through()
        client.polled_ms = client.now_ms

    def _stop_if_lost(self) -> _Thread:
        """The wait for the coordinator has ended: stop everything if it was not found."""
        if not self.client.up and self.held is not None and not self.held.failed:
            yield from self._revoke(self.held.resources)
            self.held = None

    def _see_through(self) -> _Thread:
        """A round has ended, well or not."""
        client = self.client
        outcome = client.outcome
        assert outcome is not None
        if outcome.fate is Fate.SYNCED:
            if client.state is ClientState.STABLE:
                yield from self._complete(outcome.assignment)
            else:
                client.reset(forget_id=True)
            client.completed()
            return
        client.failed(outcome)
        if outcome.fate is Fate.FATAL:
            raise _Died(outcome.text)
        if outcome.fate is Fate.LATER:
            yield from self._sleep(self.setup.retry_backoff_ms)

    def _complete(self, assignment: bytes) -> _Thread:
        client = self.client
        generation = client.generation
        try:
            told = decode_assignment(assignment)
        except EmbeddedError as error:
            raise _Died(f"the assignment cannot be read: {error}") from error
        self.version = NAMES.index(generation.protocol or "")
        client.wants_rejoin = False
        new = Held(told, set(told.assigned), told.revoked)
        if self.version != EAGER:
            if told.revoked:
                yield from self._revoke(told.revoked)
            if self.held is not None:
                self.held.resources -= told.revoked
                new.resources |= self.held.resources
        self.held = new
        self._completed = generation.number
        self._leader.told(told, client.now_ms)
        self._assignment = new
        self._rejoin_ms = client.now_ms + told.delay_ms if told.delay_ms > 0 else NEVER_MS
        self._resolved = False
        self._woken = True

    def _revoke(self, resources: Collection[Resource]) -> _Thread:
        if not self._resolved and self.version == EAGER:
            return  # nothing was started since the last round
        gone = frozenset(resources)
        yield from self._stop(gone)
        self._started.resources -= gone

    def _stop(self, resources: frozenset[Resource]) -> _Thread:
        stopping = resources & self.running
        if stopping:
            self._stopped = False
            self.client.out.append(Stop(stopping))
            yield _Wait(lambda: self._stopped)
            self.running -= stopping

    def _sleep(self, ms: int) -> _Thread:
        if ms > 0:
            yield _Wait(_never, self.client.now_ms + ms)

    # What the worker says and hears in a round

    def _metadata(self) -> list[JoinGroupRequestProtocol]:
        self._round_snapshot = self.read.snapshot()
        offered = []
        for version in range(self.setup.protocol, EAGER - 1, -1):
            allocation = None
            if self.held is not None and version > EAGER:
                told = self.held.told
                allocation = WorkerAssignment(
                    version,
                    told.error,
                    told.leader,
                    told.leader_url,
                    told.config_offset,
                    assigned=frozenset(self.held.resources),
                    revoked=self.held.revoked,
                    delay_ms=told.delay_ms,
                )
            state = WorkerState(version, self.setup.url, self.read.offset, allocation)
            offered.append(JoinGroupRequestProtocol(NAMES[version], encode_state(state)))
        return offered

    def _elected(self, response: JoinGroupResponse) -> dict[str, bytes]:
        """Compute as the leader. Raises ValueError where Java's leader fails."""
        fresh = self.read.snapshot()
        seen = Seen(
            response.leader,
            (),
            self._round_snapshot,
            fresh,
            response.generation_id,
            self._completed,
            self.client.now_ms,
        )
        version = NAMES.index(response.protocol_name or "")
        made = self._leader.lead(version, response.members, seen, self.setup.max_delay_ms)
        self._round_snapshot = made.snapshot
        self._knows_owners = made.owners is not None
        return dict(made.told)

    # After a round

    def _take_up(self) -> _Asking:
        """Run what was assigned. False: the turn ends here."""
        if self._resolved:
            return True
        client, told = self.client, self._assignment.told
        rejoin, read = False, self._configs.offset < told.config_offset
        if self._assignment.failed:
            rejoin, read = True, read or told.leader == self.member_id
        if self._rejoin_ms <= client.now_ms:
            rejoin, self._rejoin_ms = True, NEVER_MS
        if read:
            self._can_read = yield from self._read_on()
            rejoin = rejoin or not self._can_read
        if rejoin or self._configs.offset != told.config_offset:
            client.wants_rejoin = True
            return False
        self._start()
        self._resolved = True
        if self._assignment.revoked:
            self._assignment.revoked = NOTHING
            client.wants_rejoin = True
            return False
        return True

    def _start(self) -> None:
        self._started.resources -= self._to_restart
        self._to_restart = NOTHING
        starting = frozenset(self._assignment.resources - self._started.resources)
        if starting:
            self.running |= starting
            self.client.out.append(Start(starting, self._configs))
        self._started = _nothing() if self.version == EAGER else self._assignment

    def _reconfigure(self) -> _Asking:
        """Act on news of the config topic. True: a round is wanted."""
        if not self._rebalance:
            return False
        self._configs = self.read
        self._rebalance = False
        self.client.wants_rejoin = True
        names, self._reconfigured = self._reconfigured, NOTHING_NAMED
        if self.version != EAGER:
            stopping = frozenset(
                each for each in self._assignment.resources if each.connector in names and not each.is_connector
            )
            yield from self._stop(stopping)
            self._to_restart |= stopping
        return True

    def _read_on(self) -> _Asking:
        """Read the config topic to its end. False: it took too long, and the worker has left and backed off."""
        client, setup = self.client, self.setup
        self._at_end, self._reading = False, True
        client.out.append(ReadConfigs())
        yield _Wait(lambda: self._at_end, client.now_ms + setup.worker_sync_timeout_ms)
        self._reading = False
        if self._at_end:
            self._configs = self.read
            self._retries = RETRIES
            return True
        client.leave(TOO_LONG)
        if self.version == EAGER:
            yield from self._sleep(setup.worker_unsync_backoff_ms)
        elif self._retries:
            yield from self._sleep(setup.max_delay_ms // 10 // self._retries)
            self._retries -= 1
        else:
            yield from self._revoke(frozenset(self._started.resources))
            self._retries = RETRIES
        return False


class _Died(Exception):
    """An exception that Java's herder does not catch: the process exits."""


NOTHING_NAMED: frozenset[str] = frozenset()


def _nothing() -> Held:
    return Held(WorkerAssignment(EAGER), set())


def _never() -> bool:
    return False
