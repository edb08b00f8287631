"""The internal listener: which instances may call, and how their calls are carried out.

Rules:

1. The listener serves a caller only after the caller has proved that it is an instance: by the secret, by a
   certificate, or both. Until then a frame may have `HEADER_LIMIT` bytes, and everything, the TLS handshake included,
   may take `AUTHENTICATION_S`. At most `STRANGERS` connections are in that state. A new one then replaces the oldest
   one of the address that has most of them, so that an attacker cannot keep real instances out.
2. A client's connection to another instance gets a serial number here when its first request arrives. That number says
   nothing about its age, because a request may have waited for a long time in the other instance or on its way. The
   other instance says when the connection was made, on this instance's clock. So a member belongs to its newest
   connection, on whichever instance that is (CG-4). A kcoord 0.1.0 does not say it; then the arrival of the first
   request counts.
3. When the connection of an instance is lost, held answers for it are released, and outstanding answers are dropped:
   their clients have got NOT_COORDINATOR from that instance. Sessions of members that came by it are paused for a while
   (`relayed_members.py`). Its clients' connections count as closed when that instance says so, or when a new process
   has taken its place.
4. A process has one connection here. If it makes another one, it has given up the previous one. What is still unread in
   that one is not read any more, because it would arrive after newer requests.
5. If an instance has too much in work here, or does not read its answers, the listener stops reading from it until that
   is over.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from kcoord.group.group_facts import GroupFacts
from kcoord.group.state.connection_opening import Opening
from kcoord.group.state.step import RequestContext
from kcoord.instances.frames import FrameStream, read_request, response_frame
from kcoord.instances.relayed_calls import RELAYED, LocalGroups, group_in
from kcoord.instances.relayed_members import RelayedMembers
from kcoord.instances.secret import NONCE_BYTES, Secret, nonce, same
from kcoord.instances.topics_in_frames import read_committed, read_seen
from kcoord.loop.acceptor import Acceptor, Address, bind
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.generated import instance_group_facts_response, instance_relay_response
from kcoord.protocol.generated.instance_ask_request import InstanceAskRequest
from kcoord.protocol.generated.instance_ask_response import InstanceAskResponse
from kcoord.protocol.generated.instance_check_commit_request import InstanceCheckCommitRequest
from kcoord.protocol.generated.instance_check_commit_response import InstanceCheckCommitResponse
from kcoord.protocol.generated.instance_group_facts_request import InstanceGroupFactsRequest
from kcoord.protocol.generated.instance_group_facts_response import InstanceGroupFactsResponse
from kcoord.protocol.generated.instance_hello_request import InstanceHelloRequest
from kcoord.protocol.generated.instance_hello_response import InstanceHelloResponse
from kcoord.protocol.generated.instance_let_go_request import InstanceLetGoRequest
from kcoord.protocol.generated.instance_ping_request import InstancePingRequest
from kcoord.protocol.generated.instance_ping_response import InstancePingResponse
from kcoord.protocol.generated.instance_proof_request import InstanceProofRequest
from kcoord.protocol.generated.instance_proof_response import InstanceProofResponse
from kcoord.protocol.generated.instance_relay_request import InstanceRelayRequest
from kcoord.protocol.generated.instance_relay_response import InstanceRelayResponse
from kcoord.protocol.generated.instance_session_request import InstanceSessionRequest
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.primitives import DecodeError, EncodeError

__all__ = [
    "ASK_DELETE",
    "ASK_OFFSET_DELETE",
    "ASK_SUBSCRIBED",
    "NO_GENERATION",
    "NO_LISTENER",
    "RESUME",
    "InternalListener",
]

log = logging.getLogger("kcoord.instances")

AUTHENTICATION_S = 5.0
STRANGERS = 256
BACKLOG = 128
IN_WORK_BYTES = 64 << 20
SERIALS = 1 << 18
"""The number of clients' connections that are remembered. The least recently used are forgotten first."""
IN_WORK = SERIALS
"""The number of calls of one instance in work above which the listener stops reading from it: one for each client's
connection. A call that waits for its group may wait for one that was not read yet, so this must be more than any group
has members.
"""
ASK_DELETE, ASK_OFFSET_DELETE, ASK_SUBSCRIBED = range(3)
RESUME = -1
NO_GENERATION = -1
NO_LISTENER = -1


class Serials:
    """The serial numbers that clients' connections to other instances have here."""

    def __init__(self, make: Callable[[], int]) -> None:
        self._make = make
        self._serials: OrderedDict[tuple[str, int], tuple[int, int]] = OrderedDict()

    def of(self, run: str, connection: int, now_ms: int) -> tuple[int, int]:
        """The serial number of a process's connection, and when it got that number, in ms. The first call gives it a
        new one.
        """
        key = (run, connection)
        found = self._serials.get(key)
        if found is None:
            found = self._serials[key] = self._make(), now_ms
            if len(self._serials) > SERIALS:
                self._serials.popitem(last=False)
        else:
            self._serials.move_to_end(key)
        return found

    def forget(self, run: str, connection: int) -> int | None:
        """Forget a connection that has closed. Returns its serial number, if it had one."""
        found = self._serials.pop((run, connection), None)
        return None if found is None else found[0]

    def forget_all(self, run: str) -> list[int]:
        """Forget all connections of a process. Returns their serial numbers."""
        keys = [key for key in self._serials if key[0] == run]
        return [self._serials.pop(key)[0] for key in keys]


class InternalListener:
    """The port for other instances. `serials` gives the next serial number for a client's connection in this process.
    After an instance's connection is lost, clients find another instance within `away_ms`.
    """

    def __init__(
        self,
        instance_id: int,
        groups: LocalGroups,
        serials: Callable[[], int],
        secret: Secret,
        tls: ssl.SSLContext | None,
        frame_limit: int,
        away_ms: int,
    ) -> None:
        self.away_ms = away_ms
        self.instance_id = instance_id
        self.groups = groups
        self.serials = Serials(serials)
        self.secret = secret
        self.frame_limit = frame_limit
        self.strangers: dict[Caller, str] = {}
        """Connections that have not proved to be instances, the oldest first, and the address that each came from."""
        self.callers: set[Caller] = set()
        self.runs: dict[int, str] = {}
        """Instance number → run of the process that called last under this number."""
        self._tls = tls
        self._acceptors: list[Acceptor] = []

    async def listen(self, host: str, port: int, handed_down: Sequence[socket.socket] = ()) -> int:
        """Open the port, or take sockets that listen there already. Returns the port. Raises OSError."""
        listeners = list(handed_down) or await bind(host, port, BACKLOG)
        self._acceptors = [Acceptor(each, self, self._tls, AUTHENTICATION_S) for each in listeners]
        return self._acceptors[0].port

    def enter(self, peer: Address) -> Caller:
        """See Gate. Follows rule 1 above."""
        if len(self.strangers) >= STRANGERS:
            most = Counter(self.strangers.values()).most_common(1)[0][0]
            oldest = next(each for each, host in self.strangers.items() if host == most)
            del self.strangers[oldest]
            oldest.refused(f"{STRANGERS} others are not authenticated yet, and it is the oldest of {most}")
        caller = Caller(self, peer)
        self.strangers[caller] = peer[0]
        return caller

    def failed(self, protocol: asyncio.BaseProtocol, reason: str) -> None:
        """See Gate."""
        assert isinstance(protocol, Caller)
        self.strangers.pop(protocol, None)
        if reason:
            log.warning("closed the internal connection of %s: %s", protocol.peer, reason)

    def close(self) -> None:
        """Close the port and all connections."""
        for acceptor in self._acceptors:
            acceptor.close()
        for caller in list(self.callers):
            caller.end()


@attrs.define(slots=True, eq=False)
class _InWork:
    """A relayed request that has not been answered yet."""

    group_id: str | None
    serial: int
    size: int


class Caller(FrameStream):
    """One connection of another instance, as this one sees it."""

    def __init__(self, listener: InternalListener, peer: Address) -> None:
        super().__init__()
        self.peer = f"{peer[0]}:{peer[1]}"
        self._listener = listener
        self._groups = listener.groups
        self._nonce = b""
        self._hello: InstanceHelloRequest | None = None
        self._run: str | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._in_work: dict[int, _InWork] = {}
        self._in_work_bytes = 0
        self._guests = RelayedMembers()
        self._tasks: set[asyncio.Task[None]] = set()
        self._paused = False
        self._writable = True
        self._handlers: dict[type[Request], Callable[[int, Any], None]] = {
            InstanceRelayRequest: self._relay,
            InstanceLetGoRequest: self._let_go,
            InstanceCheckCommitRequest: self._later(self._check_commit),
            InstanceAskRequest: self._later(self._ask),
            InstanceGroupFactsRequest: self._later(self._facts),
            InstanceSessionRequest: self._session,
            InstancePingRequest: lambda at, _: self._answer(at, InstancePingResponse(now_ms=self._groups.now_ms())),
        }

    # -- called by asyncio --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        listener = self._listener
        listener.callers.add(self)
        if self not in listener.strangers:  # others have replaced it during its TLS handshake
            self.refused(f"{STRANGERS} others are not authenticated yet")
            return
        self._deadline = asyncio.get_running_loop().call_later(
            AUTHENTICATION_S, self.refused, f"it has not proved within {AUTHENTICATION_S:.0f} s that it is an instance"
        )

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._no_stranger()
        self._listener.callers.discard(self)
        for task in self._tasks:
            task.cancel()
        in_work, self._in_work = self._in_work, {}
        for each in in_work.values():
            if each.group_id is not None:
                self._groups.flush_held_reply(each.group_id, each.serial)
        until_ms = self._groups.now_ms() + self._listener.away_ms
        self._guests.miss(lambda group_id, member_id: self._groups.pause_session(group_id, member_id, until_ms))

    def pause_writing(self) -> None:
        self._writable = False
        self._balance()

    def resume_writing(self) -> None:
        self._writable = True
        self._balance()

    def refused(self, reason: str) -> None:
        if self.transport is not None and not self.transport.is_closing():
            log.warning("closed the internal connection of %s: %s", self.peer, reason)
            self.transport.abort()

    def cut(self) -> None:
        """Close at once. Bytes that have arrived and are unread are dropped (rule 4 above)."""
        if self.transport is not None:
            self.transport.abort()

    def end(self) -> None:
        """Close after all sent bytes have left."""
        if self.transport is not None:
            self.transport.close()

    def frame_received(self, frame: bytes) -> None:
        at, request = read_request(frame)
        if self._run is None:
            self._authenticate(at, request)
            return
        handler = self._handlers.get(type(request))
        if handler is None:
            raise FrameRefused(f"{request.NAME} is not expected here")
        handler(at, request)

    # -- authentication -----------------------------------------------------------------------------------------------

    def _authenticate(self, at: int, request: Request) -> None:
        listener = self._listener
        if isinstance(request, InstanceHelloRequest) and self._hello is None:
            self._hello = request
            self._nonce = nonce()
            self._answer(at, InstanceHelloResponse(nonce=self._nonce))
            return
        if not isinstance(request, InstanceProofRequest) or self._hello is None:
            raise FrameRefused(f"{request.NAME} before it has proved that it is an instance")
        hello = self._hello
        wanted = listener.secret.of_caller(hello.instance_id, hello.run, self._nonce, request.nonce)
        if len(request.nonce) != NONCE_BYTES or not same(wanted, request.proof):
            self._answer(at, InstanceProofResponse(error_code=ErrorCode.SASL_AUTHENTICATION_FAILED))
            log.error(
                "%s, which says that it is instance %d, has another internal.secret: it is not served",
                self.peer,
                hello.instance_id,
            )
            self.end()
            return
        for former in [each for each in listener.callers if each._run == hello.run]:
            former.cut()
        self._run = hello.run
        predecessor = listener.runs.get(hello.instance_id)
        listener.runs[hello.instance_id] = hello.run
        if predecessor is not None and predecessor != hello.run:
            for serial in listener.serials.forget_all(predecessor):
                self._closed(serial)
        self._no_stranger()
        self.frame_limit = listener.frame_limit
        proof = listener.secret.of_called(listener.instance_id, self._nonce, request.nonce)
        self._answer(at, InstanceProofResponse(proof=proof, instance_id=listener.instance_id))

    def _no_stranger(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._listener.strangers.pop(self, None)

    # -- groups' own requests -----------------------------------------------------------------------------------------

    def _relay(self, at: int, call: InstanceRelayRequest) -> None:
        assert self._run is not None
        kind = RELAYED.get(call.api_key)
        if kind is None:
            self._answer(at, InstanceRelayResponse(error_code=ErrorCode.INVALID_REQUEST))
            return
        try:
            request = kind.decode(call.body, call.api_version)
        except DecodeError as error:
            log.error("%s sent a request that cannot be read: %s", self.peer, error)
            self._answer(at, InstanceRelayResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
            return
        group_id = group_in(request)
        now_ms = self._groups.now_ms()
        serial, first_ms = self._listener.serials.of(self._run, call.connection, now_ms)
        context = RequestContext(
            api_version=call.api_version,
            client_id=call.client_id,
            client_host=call.client_host,
            connection=serial,
            wall_ms=time.time_ns() // 1_000_000,
            pipelined=call.pipelined,
            opened=_opening(self._run, call, first_ms, now_ms),
            resolved=None if call.resolved is None else frozenset(call.resolved),
            seen=None if call.seen_topics is None else read_seen(call.seen_topics, call.agreed_ms),
            is_patient=call.patient,
        )
        in_work = self._in_work[at] = _InWork(group_id, serial, len(call.body))
        self._in_work_bytes += in_work.size

        def relayed(response: Response, _: object) -> None:
            self._guests.answered(group_id, request, response)
            self._relayed(at, in_work, call.api_version, response)

        self._groups.submit(request, context, relayed)
        self._balance()

    def _relayed(self, at: int, in_work: _InWork, version: int, response: Response) -> None:
        if self._in_work.get(at) is not in_work:
            return
        del self._in_work[at]
        self._in_work_bytes -= in_work.size
        group_id = in_work.group_id
        known = [] if group_id is None else [(group_id, self._groups.known_facts(group_id))]
        try:
            body = response.encode(version)
        except EncodeError:
            log.exception("an answer for %s could not be written", self.peer)
            self._answer(at, InstanceRelayResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR))
        else:
            written = [
                instance_relay_response.GroupFacts(
                    group_id=group,
                    known=facts.known,
                    has_members=facts.has_members,
                    generation=_generation(facts),
                    loaded=facts.loaded,
                    owner=facts.owner,
                    consumer_epoch=_epoch(facts),
                    led_alone=facts.is_led_alone,
                )
                for group, facts in known
            ]
            self._answer(at, InstanceRelayResponse(body=body, facts=written))
        self._balance()

    def _let_go(self, _at: int, request: InstanceLetGoRequest) -> None:
        assert self._run is not None
        serials = self._listener.serials
        if request.group_id is not None:
            self._groups.flush_held_reply(
                request.group_id, serials.of(self._run, request.connection, self._groups.now_ms())[0]
            )
            return
        serial = serials.forget(self._run, request.connection)
        if serial is not None:
            self._closed(serial)

    def _closed(self, serial: int) -> None:
        """A client's connection to that instance has closed."""
        for each in [each for each in self._in_work.values() if each.serial == serial]:
            if each.group_id is not None:
                self._groups.flush_held_reply(each.group_id, each.serial)
        self._groups.closed(serial)

    # -- questions ----------------------------------------------------------------------------------------------------

    def _later(self, answer: Callable[[Any], Any]) -> Callable[[int, Any], None]:
        """A handler that answers later, from a task."""

        async def answered(at: int, request: Request) -> None:
            self._answer(at, await answer(request))

        def handle(at: int, request: Request) -> None:
            task = asyncio.get_running_loop().create_task(answered(at, request))
            self._tasks.add(task)
            task.add_done_callback(self._done)
            self._balance()

        return handle

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a fault of kcoord's own while answering %s", self.peer, exc_info=task.exception())
        self._balance()

    async def _check_commit(self, request: InstanceCheckCommitRequest) -> Response:
        error = await self._groups.check_commit(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation,
            request.transactional,
            request.api_version,
            read_committed(request.topics),
        )
        return InstanceCheckCommitResponse(error_code=error)

    async def _ask(self, request: InstanceAskRequest) -> Response:
        if request.what == ASK_DELETE:
            return InstanceAskResponse(error_code=await self._groups.check_delete(request.group_id))
        if request.what == ASK_OFFSET_DELETE:
            return InstanceAskResponse(error_code=await self._groups.check_offset_delete(request.group_id))
        if request.what == ASK_SUBSCRIBED:
            return InstanceAskResponse(
                topics=sorted(await self._groups.subscribed_among(request.group_id, request.topics))
            )
        return InstanceAskResponse(error_code=ErrorCode.INVALID_REQUEST)

    async def _facts(self, request: InstanceGroupFactsRequest) -> Response:
        found = await self._groups.facts(request.group_ids)
        return InstanceGroupFactsResponse(
            facts=[
                instance_group_facts_response.GroupFacts(
                    group_id=group,
                    known=facts.known,
                    has_members=facts.has_members,
                    generation=_generation(facts),
                    loaded=facts.loaded,
                    owner=facts.owner,
                    consumer_epoch=_epoch(facts),
                    led_alone=facts.is_led_alone,
                )
                for group, facts in found.items()
            ]
        )

    def _session(self, _at: int, request: InstanceSessionRequest) -> None:
        if request.pause_ms == RESUME:
            self._groups.resume_session(request.group_id, request.member_id)
        else:
            until_ms = self._groups.now_ms() + max(0, request.pause_ms)
            self._groups.pause_session(request.group_id, request.member_id, until_ms)

    # -- answers ------------------------------------------------------------------------------------------------------

    def _answer(self, at: int, response: Response) -> None:
        self.write(response_frame(at, response))

    def _balance(self) -> None:
        """Rule 5 above."""
        if self.transport is None or self.transport.is_closing():
            return
        full = not self._writable or self.is_congested
        full = full or len(self._in_work) + len(self._tasks) > IN_WORK or self._in_work_bytes > IN_WORK_BYTES
        if full and not self._paused:
            self.transport.pause_reading()
        elif self._paused and not full:
            self.transport.resume_reading()
        self._paused = full


def _opening(run: str, call: InstanceRelayRequest, first_ms: int, now_ms: int) -> Opening:
    """When the client's connection was made (rule 2 above)."""
    if call.listener == NO_LISTENER:
        return Opening(run, NO_LISTENER, call.connection, first_ms, first_ms)
    return Opening(run, call.listener, call.connection, call.made_since_ms, min(call.made_by_ms, now_ms))


def _generation(facts: GroupFacts) -> int:
    return NO_GENERATION if facts.generation is None else facts.generation


def _epoch(facts: GroupFacts) -> int:
    return NO_GENERATION if facts.consumer_epoch is None else facts.consumer_epoch
