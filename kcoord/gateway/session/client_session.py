"""A client session: the frames of one client connection, and its own connection upstream.

A `ClientSession` has one connection of its own to the broker of the port that the client came by, so the client's own
identity and rights hold there (GW-4). When one of the two connections ends, the other ends too. Rules:

1. kcoord passes on a frame that it need not read, chunk by chunk as it comes. Produce with acks=0 takes no place in the
   queue.
2. kcoord does not begin a request that it handles itself before all earlier requests of the connection are answered.
3. Until a SASL exchange is over, kcoord answers nothing itself: every frame goes to the broker, which decides. kcoord
   answers and remembers nothing before the broker has proved that the exchange succeeded (`authentication.py`).
4. When the broker goes away, kcoord ends the client's connection. Members of taken groups are the exception: kcoord
   keeps their connections, *detached*, while it can answer them truthfully (`outage.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.interfaces import ClientSide
from kcoord.gateway.rewriting.api_versions import API_VERSIONS, SASL_AUTHENTICATE, SASL_HANDSHAKE, refusal
from kcoord.gateway.session import authentication
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.collected_responses import rewriter
from kcoord.gateway.session.connection_context import PassingContext
from kcoord.gateway.session.sasl import SaslPhase
from kcoord.gateway.session.upstream import CannotPass, Deliver, Expected, Upstream, UpstreamLost
from kcoord.gateway.settings import Address
from kcoord.group.consumer.client_software import is_patient
from kcoord.group.request_limits import TooLarge
from kcoord.group.state.step import RequestContext
from kcoord.protocol.frame import encode_request_header
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    MetadataRequest,
    Request,
    Response,
    api_name,
)
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.request_peek import peek_produce_acks
from kcoord.protocol.undecoded_call import Call, software_name

__all__ = ["ClientSession", "SessionContext"]

log = logging.getLogger("kcoord.gateway")

PRODUCE, OFFSET_FETCH = 0, 9
SIZE_BYTES = 4
RAW_TOKEN = -1
"""The API key that the client connection gives to a frame without a header."""
LARGEST_KEPT = 1024 * 1024
"""Largest frame, in bytes, that waits for a broker that is away."""
ACKS_USUALLY_WITHIN = 512
"""First bytes of a Produce frame, which nearly always contain its acks."""
ACKS_WITHIN = 128 * 1024
"""First bytes of a Produce frame, which must contain its acks: they follow two strings of up to 32 KiB each, and tags.
"""

MEMBERS_BYTES = 128 * 1024
"""Size limit, in bytes, of the groups and member ids remembered for one connection; the oldest group goes first."""

NOT_SASL = frozenset({API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE})


class SessionContext(PassingContext, Protocol):
    """What a client session needs from its gateway, and what it reports to the gateway."""

    def wall_ms(self) -> int:
        """Unix time in ms."""
        ...

    async def placed(self) -> None:
        """Wait, for a limited time, until the gateway knows where the other instances are."""
        ...

    def address_of(self, broker_id: int, reached: str) -> Address | None:
        """The address of a broker for a client that reached kcoord by host `reached`; None: there is no port."""
        ...

    async def learn_nodes(self, nodes: Mapping[int, Address]) -> None:
        """Open ports for these brokers."""
        ...

    def is_new_node(self, node_id: int, address: Address) -> bool:
        """Whether that broker has no port yet, or has another address than the known one."""
        ...

    def handle(self, session: ClientSession, call: Call) -> None:
        """Handle a request that the session has read. Raises DecodeError."""
        ...

    def passing(self, session: ClientSession, call: Call, deliver: Deliver | None) -> Deliver | None:
        """The session passes a request on. Returns the function that takes the response; None: it passes as bytes."""
        ...

    def may_read(self, session: ClientSession, group_id: str) -> bool:
        """Whether this client may read the group, by upstream's last answer."""
        ...

    def member_came(self, session: ClientSession, group_id: str) -> None:
        """From now on the session carries a member of that group."""
        ...

    def member_forgotten(self, session: ClientSession, group_id: str) -> None:
        """The session no longer carries a member of that group."""
        ...

    def keeps_detached(self, session: ClientSession) -> bool:
        """Whether a new connection stays, detached, although kcoord cannot reach its broker."""
        ...

    def client_lost(self, session: ClientSession) -> None:
        """The client has gone."""
        ...

    def upstream_lost(self, session: ClientSession, reason: str, is_fault: bool, had_open_requests: bool) -> None:
        """The connection to the broker has gone."""
        ...


class ClientSession:
    """One client connection and its connection upstream."""

    __slots__ = (
        "__weakref__",
        "_acks",
        "_connecting",
        "_quiet",
        "_ready",
        "_unlearnt",
        "authorizations",
        "broker_id",
        "call",
        "client",
        "gateway",
        "gone",
        "in_flight",
        "is_late",
        "members",
        "proving",
        "question_due_ms",
        "raw_frames",
        "sasl",
        "since_ms",
        "told_nodes_ms",
        "upstream",
    )

    def __init__(self, gateway: SessionContext, client: ClientSide) -> None:
        self.gateway = gateway
        self.client = client
        self.broker_id = client.broker_id
        """The broker of the port that the client came by; None: the bootstrap port."""
        self.upstream: Upstream | None = None
        """None: not connected yet, or detached."""
        self.since_ms = gateway.now_ms()
        """When the session began."""
        self.told_nodes_ms = self.since_ms
        """When kcoord last sent the client a list of nodes; before that, when the session began."""
        self.in_flight = 0
        """Passed-on requests that are not yet answered."""
        self.raw_frames = False
        self.sasl = SaslPhase() if gateway.settings.uses_sasl else None
        self.gone = False
        """Whether the client has gone."""
        self.is_late = False
        """Whether the client has hung up while a request waited: it may have gone on by another connection since."""
        self.call: Call | None = None
        """The request that kcoord handles now."""
        self.members: BoundedCache[str, str] | None = None
        """The members on this connection: group → member id. Only groups that the client has proved it may read."""
        self.authorizations: BoundedCache[str, Authorization] | None = None
        """The client's rights by group, from upstream's answers."""
        self.question_due_ms = 0
        self._acks: bytearray | None = None
        self._quiet: asyncio.Future[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self.proving: asyncio.Task[None] | None = None
        """The question by which upstream proves that it knows the client, if one was needed."""
        self._unlearnt: dict[int, Address] = {}
        self._connecting = True
        client.pause_reading("upstream is not connected")
        gateway.spawn(self._connect())

    async def _connect(self) -> None:
        await self.gateway.placed()
        try:
            upstream = await self.gateway.dial(self)
        except UpstreamLost:
            if not self.gone:
                if self.gateway.keeps_detached(self):
                    self._begin()
                else:
                    self.client.end()  # no log line here: the log already says that the broker is away
            return
        if self.gone:
            upstream.close("the client has gone", is_fault=False)
            return
        self.attach(upstream)
        self._begin()

    def _begin(self) -> None:
        """Handle the request that the client sent while kcoord was connecting to the broker."""
        self._connecting = False
        early, self.call = self.call, None
        if early is not None:
            try:
                self.request(early)
            except (DecodeError, FrameRefused) as fault:
                self.client.close(f"{api_name(early.header.api_key)} v{early.header.api_version}: {fault}")
        self.client.resume_reading("upstream is not connected")

    def attach(self, upstream: Upstream) -> None:
        """Use this new connection to the broker: the first one, or one after an outage."""
        self.upstream = upstream
        if self.sasl is not None:
            upstream.let_own(self.sasl.may_ask)
        ready, self._ready = self._ready, None
        if ready is not None and not ready.done():
            ready.set_result(None)

    # -- what the connection tells ------------------------------------------------------------------------------------

    def passes(self, api_key: int, api_version: int, correlation_id: int, size: int) -> bool:
        """Whether the frame that begins now passes as bytes. Raises FrameRefused."""
        if api_key == RAW_TOKEN:
            authentication.raw_token(self)
            return True
        reason = refusal(api_key, api_version, self.gateway.read_apis)
        if reason is not None:
            raise FrameRefused(reason)
        if self.sasl is not None and api_key not in NOT_SASL:
            authentication.ordinary_request(self)
        if self._connecting or api_key == API_VERSIONS or self._is_read(api_key, api_version):
            return False
        upstream = self.upstream
        if upstream is None:  # detached
            if size > LARGEST_KEPT:
                raise FrameRefused("upstream is away")
            return False
        upstream.let_own(False)
        if api_key == PRODUCE:
            self._acks = bytearray()
        else:
            deliver = rewriter(self, api_key)
            upstream.expect(Expected(api_key, api_version, correlation_id, deliver))
        return True

    def forward(self, chunk: bytes | bytearray | memoryview, remaining: int) -> None:
        """Pass on the next bytes of a frame; `remaining` bytes of it are still to come."""
        upstream = self.upstream
        if upstream is None:
            return  # it ended in the middle of this frame: the client's connection is being closed
        if self._acks is not None:
            try:
                self._look_for_acks(upstream, chunk, remaining)
            except DecodeError as error:
                raise FrameRefused(str(error)) from error
        upstream.write(chunk)
        if not remaining:
            self.own_may_go(upstream)

    def gather(self) -> None:
        """More frames follow from the same read."""
        if self.upstream is not None:
            self.upstream.gather()

    def flush(self) -> None:
        """No more frames follow for now."""
        if self.upstream is not None:
            self.upstream.flush()

    def request(self, call: Call) -> None:
        """Take a frame that kcoord reads as a whole. Raises DecodeError, FrameRefused."""
        key = call.header.api_key
        if key == API_VERSIONS:
            self.client.is_patient = is_patient(software_name(call))
        if self._connecting:
            self.call = call  # `_begin` handles it once the broker is connected; until then no other request comes
            return
        if self.upstream is not None and not self._is_read(key, call.header.api_version):
            self.pass_on(call)
            return
        if key == SASL_HANDSHAKE:
            authentication.begin(self, call)
        elif self.sasl is not None and not self.sasl.authenticated and key != API_VERSIONS:
            self.pass_on(call)  # the broker decides
        else:
            self.call = call
            self.gateway.handle(self, call)

    def client_lost(self) -> None:
        """The client has gone."""
        self.gone = True
        self.call = None
        self.gateway.client_lost(self)

    def pause(self) -> None:
        """The client does not read: stop reading from the broker."""
        if self.upstream is not None:
            self.upstream.pause()

    def resume(self) -> None:
        if self.upstream is not None:
            self.upstream.resume()

    # -- what upstream tells ------------------------------------------------------------------------------------------

    def to_client(self, data: bytes | bytearray | memoryview) -> None:
        self.client.send(data)

    def to_client_when_known(self, data: bytes) -> None:
        """Send a response that names nodes, as soon as their ports are open."""
        upstream = self.upstream
        if not self._unlearnt or upstream is None:
            self.client.send(data)
            return
        upstream.hold()
        self.in_flight += 1
        self.gateway.spawn(self._learn_and_send(upstream, data))

    async def _learn_and_send(self, upstream: Upstream, data: bytes) -> None:
        await self.learn_nodes()
        self.client.send(data)
        if upstream is self.upstream:
            self.in_flight -= 1
            self.answered()
            upstream.release()

    async def learn_nodes(self) -> None:
        """Open ports for the nodes that `map_node` saw for the first time."""
        if self._unlearnt:
            unlearnt, self._unlearnt = self._unlearnt, {}
            await self.gateway.learn_nodes(unlearnt)

    def map_node(self, node_id: int, host: str, port: int) -> Address:
        """The address at which the client reaches a node. Raises CannotPass if there is no port for it."""
        if host and self.gateway.is_new_node(node_id, (host, port)):
            self._unlearnt[node_id] = (host, port)
        advertised = self.gateway.address_of(node_id, self.client.local_address[0])
        if advertised is None:
            raise CannotPass(f"there is no port for upstream broker {node_id}: give it one with gateway.broker.ports")
        return advertised

    def answered(self) -> None:
        """A passed-on request is answered."""
        if not self.in_flight and self._quiet is not None:
            quiet, self._quiet = self._quiet, None
            if not quiet.done():
                quiet.set_result(None)

    def upstream_full(self) -> None:
        self.client.pause_reading("upstream does not read")

    def upstream_drained(self) -> None:
        self.client.resume_reading("upstream does not read")

    def upstream_lost(self, reason: str, is_fault: bool) -> None:
        """The connection to the broker has ended."""
        is_half_sent = self.upstream is not None and not self.upstream.may_send_own
        had_open_requests = bool(self.in_flight) or is_half_sent
        self.upstream = None
        self.in_flight = 0
        self._acks = None
        self.upstream_drained()
        if self._quiet is not None and not self._quiet.done():
            self._quiet.set_exception(UpstreamLost(reason))
            self._quiet.exception()
        self._quiet = None
        self.gateway.upstream_lost(self, reason, is_fault, had_open_requests)

    # -- what handlers use --------------------------------------------------------------------------------------------

    def pass_on(self, call: Call, deliver: Deliver | None = None, instead: bytes | None = None) -> None:
        """Pass on a frame that kcoord has read, or the frame `instead`, and end the call.

        The response passes to the client, or goes to `deliver`.
        """
        if self.gone:
            return
        upstream = self.upstream
        if upstream is None:
            self.client.end()
            return
        header = call.header
        if header.api_key != PRODUCE or peek_produce_acks(call.frame, SIZE_BYTES):
            deliver = self.gateway.passing(self, call, deliver or rewriter(self, header.api_key))
            upstream.expect(Expected(header.api_key, header.api_version, header.correlation_id, deliver))
        upstream.write(call.frame if instead is None else instead)
        self.end_call(call)
        self.client.finish(call)

    def pass_changed(self, call: Call, request: Request, deliver: Deliver) -> None:
        """Pass on `request` in place of the frame that kcoord has read. Raises EncodeError."""
        head, body = encode_request_header(call.header), request.encode(call.header.api_version)
        self.pass_on(call, deliver, (len(head) + len(body)).to_bytes(SIZE_BYTES, "big") + head + body)

    def answer(self, call: Call, response: Response) -> None:
        """Answer a call with kcoord's own response, and end it."""
        self.end_call(call)
        self.client.answer(call, response)

    def refuse_large(self, call: Call, refusal: TooLarge) -> None:
        """Answer a request that asks for too much."""
        log.warning("%s: %s", self.client.peer, refusal)
        self.answer(call, refusal.answer)

    def end_call(self, call: Call) -> None:
        if self.call is call:
            self.call = None

    def add_member(self, group_id: str, member_id: str) -> None:
        """Note that a member of that group uses this connection; its id is "" until kcoord knows it.

        Does nothing if the client has not proved that it may read the group, because kcoord uses a member's connection
        to speak for the group upstream.
        """
        if not self.gateway.may_read(self, group_id):
            return
        if self.members is None:
            self.members = BoundedCache(
                MEMBERS_BYTES, forgotten=lambda group, _: self.gateway.member_forgotten(self, group)
            )
        known = self.members.get(group_id)
        if known is None or (member_id and known != member_id):
            self.members[group_id] = member_id
        if group_id in self.members:
            self.gateway.member_came(self, group_id)

    def forget_member(self, group_id: str) -> None:
        """The client may no longer read the group: forget the member of this connection and the remembered answers."""
        if self.members is not None:
            self.members.pop(group_id)
        self.gateway.member_forgotten(self, group_id)
        self.client.forget_answers()

    def drop_members(self, group_id: str, left: set[str]) -> None:
        """These members of the group have left: forget the id of this connection's member if it is one of them."""
        if self.members is not None and self.members.get(group_id) in left:
            self.members[group_id] = ""

    @property
    def is_idle(self) -> bool:
        """Whether no request of the client is in progress or half sent."""
        is_half_sent = self.upstream is not None and not self.upstream.may_send_own
        return self.call is None and not self.in_flight and not self._connecting and not is_half_sent

    @property
    def may_ask(self) -> bool:
        """Whether kcoord can send a question of its own over this connection.

        A question behind a JoinGroup or SyncGroup that waits for other members would wait too. If it waits too long,
        kcoord ends the connection, and the member's call is lost.
        """
        return self.upstream is not None and self.is_known and not self.upstream.waits_for_members

    @property
    def is_known(self) -> bool:
        """Whether upstream has proved who this client is, and the proof still holds."""
        return self.sasl is None or self.sasl.holds(self.gateway.now_ms())

    async def quiet(self) -> None:
        """Wait until all passed-on requests are answered. Raises UpstreamLost."""
        if self.in_flight:
            self._quiet = asyncio.get_running_loop().create_future()
            await self._quiet

    async def ready(self, patience_ms: int | None = None) -> None:
        """Wait for the connection to the broker if it is away, as long as a request may wait. Raises UpstreamLost."""
        if self.upstream is not None:
            return
        if patience_ms is None:
            patience_ms = self.gateway.settings.patience_ms
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait_for(asyncio.shield(self._ready), patience_ms / 1000)
        except TimeoutError:
            raise UpstreamLost("upstream is away") from None
        finally:
            self.has_waited()

    def has_waited(self) -> None:
        """A request of this connection has waited for something other than upstream's answer."""
        self.is_late = self.is_late or self.client.has_hung_up

    async def ask(self, request: Request, version: int, client_id: str | None = "kcoord") -> Response:
        """Ask the broker something in this client's name. Raises UpstreamLost, DecodeError."""
        upstream = self.upstream
        if upstream is None:
            raise UpstreamLost("upstream is away")
        return await upstream.ask(request, version, client_id, self.gateway.settings.request_timeout_ms)

    async def version(self, request: type[Request], highest: int | None = None) -> int | None:
        """The version for kcoord's own request on this connection; None: the broker does not have that API."""
        upstream = self.upstream
        if upstream is None:
            raise UpstreamLost("upstream is away")
        await self.gateway.ensure_versions(self, upstream.name)
        return self.gateway.versions.version(upstream.name, request, highest)

    def context(self, call: Call) -> RequestContext:
        """What the group code needs to know about this connection and call."""
        header = call.header
        return RequestContext(
            api_version=header.api_version,
            client_id=header.client_id or "",
            client_host=self.client.client_host,
            connection=self.client.serial,
            wall_ms=self.gateway.wall_ms(),
            pipelined=self.client.pipelined,
            opened=self.client.opened,
            is_patient=self.client.is_patient,
        )

    # -- SASL ---------------------------------------------------------------------------------------------------------

    def _is_read(self, api_key: int, api_version: int) -> bool:
        if api_key in self.gateway.read_apis:
            return api_key != MetadataRequest.API_KEY or not self._knows_metadata(api_version)
        if api_key == SASL_HANDSHAKE:
            return self.sasl is not None
        if api_key == API_VERSIONS:
            return self.upstream is None or api_version > ApiVersionsRequest.MAX_VERSION
        return False

    def _knows_metadata(self, api_version: int) -> bool:
        """Whether the broker is known to answer Metadata in that version: kcoord reads it only for older ones."""
        if self.upstream is None:
            return False
        highest = self.gateway.versions.version(self.upstream.name, MetadataRequest)
        return highest is not None and highest >= api_version

    def own_may_go(self, upstream: Upstream) -> None:
        """No frame of the client is half sent: allow kcoord's own requests, unless a SASL exchange is open."""
        upstream.let_own(self.sasl is None or self.sasl.may_ask)

    # -- Produce ------------------------------------------------------------------------------------------------------

    def _look_for_acks(self, upstream: Upstream, chunk: bytes | bytearray | memoryview, remaining: int) -> None:
        """Read acks, which follow the client id and the transactional id. With acks=0 the broker sends no response."""
        head = self._acks
        assert head is not None
        data = bytes(chunk[:ACKS_USUALLY_WITHIN]) if not head else bytes(head + chunk[:ACKS_WITHIN])
        acks = peek_produce_acks(data, SIZE_BYTES)
        if acks is None and not head and len(chunk) > ACKS_USUALLY_WITHIN:
            data = bytes(chunk[:ACKS_WITHIN])
            acks = peek_produce_acks(data, SIZE_BYTES)
        if acks is None:
            if not remaining or len(data) > ACKS_WITHIN:
                raise FrameRefused("Produce: the frame ends before its acks")
            self._acks = bytearray(data)
            return
        self._acks = None
        if acks:
            version, correlation_id = int.from_bytes(data[6:8], "big"), int.from_bytes(data[8:12], "big", signed=True)
            upstream.expect(Expected(PRODUCE, version, correlation_id))
