"""`Worker`, the async context manager by which a program gets its share of a group's work."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import threading
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Literal, Self

import attrs

from kcoord.address import parse_address
from kcoord.assign import ConnectAssignor, Resource, tell
from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.eager import EagerAssignor
from kcoord.assign.policies import IncrementalAssignor
from kcoord.client.connection import error_name
from kcoord.client.errors import ClientError
from kcoord.client.security import Security
from kcoord.protocol.embedded import NAMES
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, JoinGroupRequest, Request
from kcoord.worker.classic.membership import ClassicMembership
from kcoord.worker.classic.phases import Timing
from kcoord.worker.clock import now_ms
from kcoord.worker.configured import ConfiguredOption, ConfiguredReader
from kcoord.worker.coordinator_lookup import Finder
from kcoord.worker.listener import WorkerRebalanceListener, check_listener
from kcoord.worker.membership import Membership
from kcoord.worker.membership_driver import Member, Shell
from kcoord.worker.setup import Offer, Setup
from kcoord.worker.stop_signals import STOP_SIGNALS, Watch
from kcoord.worker.troubles import Troubles
from kcoord.worker.watchdog import Watchdog

_log = logging.getLogger(__name__)

GroupProtocol = Literal["connect", "classic", "generic"]
"""`generic` is the former name of `classic`."""
FORMER_PROTOCOL = "group_protocol='generic' is the former name of 'classic'; write group_protocol='classic'"

_PROCESS = uuid.uuid4().hex
"""The member ids of this process begin with it. Made once, so a worker keeps its id when it joins again."""


class WorkerError(Exception):
    """The worker may not be a member of its group, or its options are wrong; the text is one line."""


_NEWS = "`configured` or an assignor's metadata"


def log_overrun(resources: frozenset[Resource]) -> None:
    """The default last resort: log it."""
    names = ", ".join(map(tell, sorted(resources)))
    _log.critical("could not stop in time what others may run by now: %s", names)


class Worker:
    """One member of a group. It runs what the coordinator gives it, and nothing else.

    `async with Worker(...) as worker:` joins the group, and leaves in order at the end. `await worker.wait()` waits
    until the worker has left, for example because of a signal. The guide is docs/workers.md. Times are in seconds.

    - `listener`: is told what to start and what to stop.
    - `configured`: what exists, or an ordinary function that returns it and is called each second.
    - `url`: where others reach this worker; assignors see it.
    - `assignors`: assignors that this worker can run, the preferred one first; or `server_assignor`, the name of one
      that the coordinator has.
    - `instance_id`: makes it a static member, which keeps its share over a restart.
    - `rebalance_timeout`: the longest time that `on_revoked` may take.
    - `max_wait`: how long the coordinator may hold an answer until there is something to say; 0: not at all.
    - `margin`: how long before its session ends the worker stops everything; None: a sixth of the session, ten seconds
      at most.
    - `close_timeout`: how long `on_revoked` may take at the end, before `on_lost` is called instead.
    - `security`: Kafka's client properties, as a dict.
    - `handle_signals`: SIGTERM and SIGINT make the worker leave, and `wait` returns. Only in the main thread, and only
      if the program has installed no handler of its own; a second signal ends the process at once.
    - `last_resort`: called if something has not stopped when the session has ended, from another thread if the event
      loop is blocked. A program may end its process here.
    - With `group_protocol="classic"`: the newest `connect_protocol` to offer, `session_timeout`, `heartbeat_interval`
      and `scheduled_rebalance_max_delay`, as Connect's workers have them. If this worker leads, it assigns with `eager`
      under `default`, else with the first of `assignors`, or with `cooperative`.
    """

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str],
        group_id: str,
        *,
        listener: WorkerRebalanceListener,
        group_protocol: GroupProtocol = "connect",
        url: str | None = None,
        assignors: Sequence[ConnectAssignor] = (),
        server_assignor: str | None = None,
        instance_id: str | None = None,
        configured: ConfiguredOption = None,
        rebalance_timeout: float = 60.0,
        max_wait: float = 60.0,
        margin: float | None = None,
        close_timeout: float = 30.0,
        security: Security | Mapping[str, str] | None = None,
        client_id: str = "kcoord-worker",
        last_resort: Callable[[frozenset[Resource]], None] = log_overrun,
        handle_signals: bool = True,
        connect_protocol: Literal["sessioned", "compatible", "default"] = "sessioned",
        session_timeout: float = 10.0,
        heartbeat_interval: float = 3.0,
        scheduled_rebalance_max_delay: float = 300.0,
    ) -> None:
        """Raises WorkerError for options that contradict each other or cannot be used, TypeError for a wrong listener
        or `configured`, and whatever the function `configured` raises when it is called for the first time.
        """
        check_listener(listener)
        if group_protocol == "generic":
            warnings.warn(FORMER_PROTOCOL, DeprecationWarning, stacklevel=2)
            group_protocol = "classic"
        if group_protocol not in ("connect", "classic"):
            raise WorkerError(f"group_protocol {group_protocol!r} is neither 'connect' nor 'classic'")
        if assignors and server_assignor is not None:
            raise WorkerError("assignors and server_assignor cannot be used together")
        self._finder = Finder(_addresses(bootstrap_servers), group_id, _security(security), client_id, timeout=5.0)
        self._listener = listener
        self._assignors: tuple[ConnectAssignor, ...] = tuple(assignors)
        self._configured = ConfiguredReader(configured)
        self._troubles = Troubles()
        self._news_error = ""
        """The last failure of `configured`, so that it is logged once."""
        self._close_timeout = close_timeout
        self._last_resort = last_resort
        self._handle_signals = handle_signals
        self._group_protocol = group_protocol
        self._classic = Timing(
            session_ms=_ms(session_timeout),
            interval_ms=_ms(heartbeat_interval),
            delay_ms=_ms(scheduled_rebalance_max_delay),
            version=NAMES.index(connect_protocol),
        )
        if group_protocol == "classic":
            best = self._assignors[0] if self._assignors else CooperativeAssignor()
            defers = isinstance(best, IncrementalAssignor) and best.policy.defers
            self._classic = attrs.evolve(self._classic, assignor=best.name, defers=defers)
            self._assignors = (EagerAssignor(), best)
        self._setup = Setup(
            group_id=group_id,
            member_id=f"{client_id}-{_PROCESS[:16]}-{secrets.token_hex(4)}",
            instance_id=instance_id,
            url=url,
            rebalance_timeout_ms=_ms(rebalance_timeout),
            server_assignor=server_assignor,
            max_wait_ms=_ms(max_wait),
            margin_ms=None if margin is None else _ms(margin),
        )
        self._setup = attrs.evolve(self._setup, **self._news())  # type: ignore[arg-type]
        self._shell: Shell | None = None
        self._watchdog: Watchdog | None = None
        self._acting = threading.Lock()
        self._acted_on: int | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._signals: Watch | None = None
        self._waiting = 0
        """How many calls of `wait` are running."""
        self._stopped_by: signal.Signals | None = None
        self._signal_was_awaited = False

    # Life

    async def __aenter__(self) -> Self:
        member, needs = self._member()
        self._shell = Shell(
            member,
            self._finder,
            self._listener,
            self._assignors,
            needs=needs,
            refresh=self._news_if_any,
            last_resort=self._act,
            troubles=self._troubles,
        )
        self._watchdog = Watchdog(self._is_overdue, self._act_from_outside, self._late_ms)
        self._watchdog.start()
        self._shell.start()
        self._leaving, self._stopped_by, self._signal_was_awaited = None, None, False
        if self._handle_signals:
            self._signals = STOP_SIGNALS.watch(self._signalled)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, *, permanent: bool = False) -> None:
        """Stop everything, leave, and end. A static member keeps its place until it returns, unless `permanent`."""
        shell = self._shell
        if shell is None:
            return
        try:
            await asyncio.shield(self._leave(shell, permanent=permanent))
        finally:
            if self._leaving is not None:
                self._leaving.cancel()
            if self._watchdog is not None:
                self._watchdog.stop()
            if self._signals is not None:
                self._signals.close(was_awaited=self._signal_was_awaited)
            await shell.close()
            self._shell = None

    async def wait(self) -> None:
        """Wait until the worker is a member no longer and will not be one again: it was closed, or has left because of
        a signal.

        Raises WorkerError if it may not be a member.
        """
        self._waiting += 1
        self._signal_was_awaited |= self._stopped_by is not None
        try:
            await self._wait()
        finally:
            self._waiting -= 1

    async def _wait(self) -> None:
        gone = await asyncio.shield(self._running.gone)
        if gone.error_code:
            said = f": {gone.message}" if gone.message else ""
            raise WorkerError(f"group {self._setup.group_id}: {error_name(gone.error_code)}{said}")

    async def joined(self) -> None:
        """Wait until the worker is a member. Raises WorkerError if it may not be one."""
        joined = asyncio.ensure_future(self._running.joined.wait())
        ended = asyncio.ensure_future(self._wait())
        try:
            await asyncio.wait([joined, ended], return_when=asyncio.FIRST_COMPLETED)
            if not joined.done():
                await ended
        finally:
            joined.cancel()
            ended.cancel()

    # What there is to know

    @property
    def member_id(self) -> str:
        """The member id by which the coordinator knows this worker."""
        return self._setup.member_id

    @property
    def epoch(self) -> int:
        """The last member epoch (connect) or generation (classic) that the coordinator has sent."""
        return self._running.member.epoch

    @property
    def owned(self) -> frozenset[Resource]:
        """All that may be running here."""
        return self._running.member.owned

    def may_run(self, resource: tuple[str, int]) -> bool:
        """Whether this worker may run `resource` at this very moment.

        Ask before each step that must not be done twice. The answer comes from the clock, so it is right even when a
        frozen process has just woken up and the worker itself has not noticed yet.
        """
        shell = self._shell
        if shell is None:
            return False
        ends_ms = shell.member.session_ends_ms
        return ends_ms is not None and now_ms() < ends_ms and resource in shell.member.owned

    def trouble(self, what: str, text: str | None) -> None:
        """Report to the group that something in this program fails, or works again (`text` None).

        `kcoord groups describe` shows it beside this worker until then. `what` is the part that fails, `text` says how,
        in one line. Failures of the callbacks and of `configured`, and a blocked event loop, are reported
        automatically. With `group_protocol="classic"` nothing can be reported.
        """
        self._troubles.tell(what, text)

    def configured_changed(self) -> None:
        """Report now what `configured` returns, without waiting for the next second."""
        self._running.refresh()

    # The end

    def _leave(self, shell: Shell, *, permanent: bool) -> asyncio.Task[None]:
        """Begin to leave, unless the worker is leaving already. The task ends when it has left."""
        shell.leave(permanent=permanent)
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave_in_time(shell), name="kcoord-worker-leave")
        return self._leaving

    async def _leave_in_time(self, shell: Shell) -> None:
        patience_s = self._setup.leave_timeout_ms / 1000 + 1
        for timeout_s in (self._close_timeout, patience_s):
            done, _ = await asyncio.wait([shell.gone], timeout=timeout_s)
            if done:
                return
            shell.give_up("the worker is closed and takes too long")
        shell.end()

    def _signalled(self, number: signal.Signals) -> None:
        """A signal is about to end this process: leave first."""
        shell = self._shell
        if shell is None:
            return
        _log.info(
            "%s: stopping, then leaving group %s; a second signal ends the process at once",
            number.name,
            self._setup.group_id,
        )
        self._stopped_by = number
        self._signal_was_awaited = self._waiting > 0
        self._leave(shell, permanent=False).add_done_callback(self._left_by_signal)

    def _left_by_signal(self, leaving: asyncio.Task[None]) -> None:
        if self._signals is not None and not leaving.cancelled():
            self._signals.left(was_awaited=self._signal_was_awaited)

    # Inside

    @property
    def _running(self) -> Shell:
        if self._shell is None:
            raise WorkerError("the worker does not run: use `async with Worker(…) as worker:`")
        return self._shell

    def _member(self) -> tuple[Member, type[Request]]:
        random = secrets.SystemRandom().random
        if self._group_protocol == "classic":
            return ClassicMembership(self._setup, self._classic, random), JoinGroupRequest
        return Membership(self._setup, random), ConnectGroupHeartbeatRequest

    def _news_if_any(self) -> dict[str, object]:
        """As `_news`. If the program's own functions fail, what they returned before still counts; the failure is
        logged once.
        """
        try:
            news = self._news()
        except Exception as error:
            if repr(error) != self._news_error:
                _log.exception("`configured` or an assignor's metadata failed; the last values stay in force")
            self._news_error = repr(error)
            self._troubles.tell(_NEWS, f"failed: {type(error).__name__}: {error}")
            return self._trouble()
        if self._news_error:
            _log.info("`configured` and the assignors' metadata work again")
            self._troubles.tell(_NEWS, None)
        self._news_error = ""
        self._troubles.tell("`configured`", self._configured.trouble)
        return news | self._trouble()

    def _trouble(self) -> dict[str, object]:
        """What goes wrong; the classic protocol has no field for it."""
        return {"trouble": self._troubles.said} if self._group_protocol == "connect" else {}

    def _news(self) -> dict[str, object]:
        """What the worker reports about itself and may change while it runs."""
        news: dict[str, object] = {}
        configured = self._configured.read()
        if configured is not None:
            news |= {
                "configured": configured.resources,
                "config_offset": configured.offset,
                "revisions": configured.revisions,
                "of_topic": configured.of_topic,
                "of_file": configured.of_file,
            }
        if self._assignors:
            news["offers"] = tuple(map(_offer, self._assignors))
        return news

    def _is_overdue(self) -> bool:
        """Whether the session has ended, and the event loop has not even begun to stop. Called in the watchdog's
        thread.
        """
        shell = self._shell
        if shell is None:
            return False
        ends_ms = shell.member.session_ends_ms
        return ends_ms is not None and bool(shell.member.owned) and now_ms() >= ends_ms

    def _late_ms(self) -> int:
        """By how much the event loop is late. Called in the watchdog's thread."""
        shell = self._shell
        return 0 if shell is None else shell.late_ms

    def _act_from_outside(self) -> None:
        shell = self._shell
        if shell is not None:
            self._act(shell.member.owned)

    def _act(self, resources: frozenset[Resource]) -> None:
        """Call the last resort, once for each session that ends, no matter which thread notices first."""
        shell = self._shell
        ends_ms = None if shell is None else shell.member.session_ends_ms
        with self._acting:
            if ends_ms is not None and ends_ms == self._acted_on:
                return
            self._acted_on = ends_ms
        self._last_resort(resources)


def _offer(assignor: ConnectAssignor) -> Offer:
    metadata = assignor.metadata()
    return Offer(
        assignor.name,
        assignor.minimum_version,
        assignor.maximum_version,
        metadata.reason,
        metadata.version,
        metadata.metadata,
    )


def _addresses(servers: str | Sequence[str]) -> list[tuple[str, int]]:
    parts = servers.split(",") if isinstance(servers, str) else servers
    try:
        return [parse_address(part.strip()) for part in parts]
    except ValueError as error:
        raise WorkerError(f"bootstrap_servers: {error}") from None


def _security(security: Security | Mapping[str, str] | None) -> Security:
    if security is None or isinstance(security, Security):
        return security or Security()
    try:
        return Security.from_properties(security)
    except ClientError as error:
        raise WorkerError(f"security: {error}") from None


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
