"""A model of Kafka's Java client as a group member: member id, generation, pending calls, heartbeats.

It does what the thread above it (`worker`) does not do itself: responses are processed as they come, and heartbeats go
out while that thread stops tasks or waits.

| state | heartbeats | |
| --- | --- | --- |
| UNJOINED | no | not a member, or thrown out |
| PREPARING | no | JoinGroup on its way, or about to be sent |
| COMPLETING | yes | SyncGroup on its way |
| STABLE | yes | |

- ILLEGAL_GENERATION keeps the member id; UNKNOWN_MEMBER_ID and leaving give it up. Both errors count only if the
  generation of the request is still the current one.
- When the connection ends, everything that waits fails. An error that Java does not know to retry ends the process.
- If no heartbeat is answered for a session timeout, the client drops the connection. If the thread above does not take
  its turn for a rebalance timeout, the client leaves by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import TypeAlias

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.sim.classic_worker.actions import Action, Seek, Send
from kcoord.sim.classic_worker.setup import ClientSetup

NO_GENERATION = -1
NEVER_MS = 1 << 62
CLOSED = "the consumer is being closed"
POLL_TIMEOUT = "worker poll timeout has expired."
JOIN_LAPSE_MS = 5_000
"""How much longer than the rebalance timeout a JoinGroup may wait."""


class ClientState(Enum):
    """The state of the member."""

    UNJOINED = auto()
    PREPARING = auto()
    COMPLETING = auto()
    STABLE = auto()


@frozen(slots=True)
class Generation:
    """The member's identity in a round."""

    number: int = NO_GENERATION
    member_id: str = ""
    protocol: str | None = None


class Fate(Enum):
    """How a round ended."""

    SYNCED = "an assignment"
    AGAIN = "join again at once"
    LATER = "join again after a back-off"
    FATAL = "the process ends"


@frozen(slots=True)
class Outcome:
    """The result of JoinGroup and SyncGroup."""

    fate: Fate
    text: str = ""
    """The text of an error."""
    asked_again: bool = False
    """The coordinator has given out a member id. That is not a failure."""
    assignment: bytes = b""


_Call: TypeAlias = tuple[type[Request], Generation, int]
"""The type of the request, the identity that it was sent with, and when it is given up."""

# error → how a round ends that meets it; all other errors are fatal
_JOIN_FATES = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Fate.LATER,
    ErrorCode.UNKNOWN_MEMBER_ID: Fate.AGAIN,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Fate.LATER,
    ErrorCode.NOT_COORDINATOR: Fate.LATER,
    ErrorCode.MEMBER_ID_REQUIRED: Fate.AGAIN,
    ErrorCode.REBALANCE_IN_PROGRESS: Fate.AGAIN,
}
_SYNC_FATES = {
    ErrorCode.REBALANCE_IN_PROGRESS: Fate.AGAIN,
    ErrorCode.UNKNOWN_MEMBER_ID: Fate.AGAIN,
    ErrorCode.ILLEGAL_GENERATION: Fate.AGAIN,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Fate.LATER,
    ErrorCode.NOT_COORDINATOR: Fate.LATER,
}
_LOST_COORDINATOR = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR)
_THROWN_OUT = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)


class GroupClient:
    """The client of one member."""

    def __init__(
        self,
        setup: ClientSetup,
        metadata: Callable[[], list[JoinGroupRequestProtocol]],
        elected: Callable[[JoinGroupResponse], dict[str, bytes]],
    ) -> None:
        self._setup = setup
        self._metadata = metadata
        self._elected = elected
        self.state = ClientState.UNJOINED
        self.generation = Generation()
        self.up = False
        """Whether there is a connection to the coordinator."""
        self.rejoin = True
        """A round has failed, or there has been none yet."""
        self.needs_prepare = True
        self.outcome: Outcome | None = None
        """The result of the current round, or of the last one if nobody has looked at it yet."""
        self.under_way = False
        self.broken: str = ""
        """What ends the process. The thread above finds it when it takes its turn."""
        self.wants_rejoin: bool = False
        """Whether the member was asked to join again."""
        self.polled_ms = NEVER_MS
        """When the thread above last took its turn. NEVER_MS while it waits for work."""
        self.joins = 0
        """How many JoinGroups were sent that could complete a round. Those that ask for a member id do not count."""
        self._reason = ""
        self._calls: dict[int, _Call] = {}
        self._numbers = 0
        self._beats = False
        self._beat_ms = 0
        """When the next heartbeat is due."""
        self._session_ms = 0
        """When nothing will have been answered for too long."""
        self._failures = 0
        self.out: list[Action] = []
        self.now_ms = 0

    # The way to the coordinator

    def seek(self) -> None:
        """Find the coordinator, for the first time or again. Everything on its way has failed."""
        self.out.append(Seek())
        self._lose()

    def connected(self) -> None:
        """There is a connection."""
        self.up = True
        self._session_ms = self.now_ms + self._setup.session_timeout_ms

    def disconnected(self) -> None:
        """The connection has ended."""
        if self.up:
            self.seek()

    def _lose(self) -> None:
        self.up = False
        calls, self._calls = self._calls, {}
        for kind, _, _ in calls.values():
            if kind is HeartbeatRequest:
                self._beat_failed()
            elif kind is not LeaveGroupRequest:
                self._ends(Outcome(Fate.LATER, "DisconnectException"))

    def _send(self, request: Request, version: int, within_ms: int) -> None:
        self._numbers += 1
        self._calls[self._numbers] = (type(request), self.generation, self.now_ms + within_ms)
        self.out.append(Send(self._numbers, request, version))

    # Rounds

    def join(self) -> None:
        """Begin a round."""
        setup = self._setup
        self.state = ClientState.PREPARING
        self.under_way, self.outcome = True, None
        self.joins += self.generation.member_id != ""
        request = JoinGroupRequest(
            group_id=setup.group_id,
            session_timeout_ms=setup.session_timeout_ms,
            rebalance_timeout_ms=setup.rebalance_timeout_ms,
            member_id=self.generation.member_id,
            group_instance_id=setup.instance_id,
            protocol_type=setup.protocol_type,
            protocols=self._metadata(),
            reason=self._reason,
        )
        within_ms = max(setup.request_timeout_ms, setup.rebalance_timeout_ms + JOIN_LAPSE_MS)
        self._send(request, setup.join_version, within_ms)

    def failed(self, outcome: Outcome) -> None:
        """The thread above has seen that its round failed."""
        self.under_way, self.outcome = False, None
        if not outcome.asked_again:
            self._reason = f"rebalance failed due to {outcome.text}"
            self.rejoin = True

    def completed(self) -> None:
        """The thread above has processed its assignment."""
        self.under_way, self.outcome = False, None
        self.needs_prepare = True

    def _ends(self, outcome: Outcome) -> None:
        if self.under_way:
            self.outcome = outcome

    def _joined(self, response: JoinGroupResponse, asked: Generation) -> None:
        error = response.error_code
        if error == ErrorCode.NONE:
            self._joined_well(response)
            return
        name = ErrorCode(error).name
        if error == ErrorCode.MEMBER_ID_REQUIRED:
            self.generation = Generation(NO_GENERATION, response.member_id)
            self.wants_rejoin = True
            self._ends(Outcome(Fate.AGAIN, name, asked_again=True))
            return
        if error == ErrorCode.UNKNOWN_MEMBER_ID and self.generation == asked:
            self.reset(forget_id=True)
        elif error in _LOST_COORDINATOR:
            self.seek()
        self._ends(Outcome(_JOIN_FATES.get(ErrorCode(error), Fate.FATAL), name))

    def _joined_well(self, response: JoinGroupResponse) -> None:
        if response.protocol_type not in (None, self._setup.protocol_type):
            self._ends(Outcome(Fate.FATAL, f"protocol type {response.protocol_type}"))
            return
        if self.state is not ClientState.PREPARING:
            self._ends(Outcome(Fate.LATER, "UnjoinedGroupException"))
            return
        self.state = ClientState.COMPLETING
        self._beats = True
        self.polled_ms = self.now_ms
        self._beat_ms = self.now_ms + self._setup.heartbeat_interval_ms
        self._session_ms = self.now_ms + self._setup.session_timeout_ms
        self.generation = Generation(response.generation_id, response.member_id, response.protocol_name)
        told: dict[str, bytes] = {}
        if response.leader == response.member_id:
            try:
                told = self._elected(response)
            except ValueError as error:
                self._ends(Outcome(Fate.FATAL, str(error)))
                return
        setup, generation = self._setup, self.generation
        request = SyncGroupRequest(
            group_id=setup.group_id,
            generation_id=generation.number,
            member_id=generation.member_id,
            group_instance_id=setup.instance_id,
            protocol_type=setup.protocol_type,
            protocol_name=generation.protocol,
            assignments=[SyncGroupRequestAssignment(name, each) for name, each in told.items()],
        )
        self._send(request, setup.sync_version, setup.request_timeout_ms)

    def _synced(self, response: SyncGroupResponse, asked: Generation) -> None:
        error = response.error_code
        if error == ErrorCode.NONE:
            self._synced_well(response)
            return
        if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            if self.generation == asked:
                self.reset(forget_id=error == ErrorCode.UNKNOWN_MEMBER_ID)
        elif error in _LOST_COORDINATOR:
            self.seek()
        self._ends(Outcome(_SYNC_FATES.get(ErrorCode(error), Fate.FATAL), ErrorCode(error).name))

    def _synced_well(self, response: SyncGroupResponse) -> None:
        if self.state is not ClientState.COMPLETING or self.generation.number == NO_GENERATION:
            self._ends(Outcome(Fate.AGAIN, "IllegalGenerationException"))
        elif (
            response.protocol_name not in (None, self.generation.protocol)
            or response.protocol_type not in (None, self._setup.protocol_type)
        ):  # fmt: skip
            self._ends(Outcome(Fate.FATAL, f"protocol {response.protocol_type} {response.protocol_name}"))
        else:
            self.state = ClientState.STABLE
            self._reason = ""
            self.rejoin = False
            self._ends(Outcome(Fate.SYNCED, assignment=response.assignment))

    def reset(self, *, forget_id: bool) -> None:
        """Not a member any more, as far as this side knows."""
        self.state = ClientState.UNJOINED
        self.generation = Generation(NO_GENERATION, "" if forget_id else self.generation.member_id)
        self.wants_rejoin = self.needs_prepare = True

    def leave(self, reason: str) -> None:
        """Leave, if there is anything to leave. A static member says nothing: its place is kept."""
        setup, member_id = self._setup, self.generation.member_id
        if self.up and self.state is not ClientState.UNJOINED and member_id and setup.instance_id is None:
            members = [MemberIdentity(member_id, None, reason)]
            request = LeaveGroupRequest(setup.group_id, members=members)
            self._send(request, setup.leave_version, setup.request_timeout_ms)
        self.reset(forget_id=True)

    # Responses and time

    def received(self, number: int, response: Response) -> None:
        """A response has come."""
        call = self._calls.pop(number, None)
        if call is None:
            return
        asked = call[1]
        match response:
            case HeartbeatResponse():
                self._beaten(response.error_code, asked)
            case JoinGroupResponse():
                self._joined(response, asked)
            case SyncGroupResponse():
                self._synced(response, asked)

    def _beaten(self, error: int, asked: Generation) -> None:
        if error in _LOST_COORDINATOR:
            self.seek()
            self._beat_failed()
            return
        if error == ErrorCode.REBALANCE_IN_PROGRESS:
            self.wants_rejoin = self.wants_rejoin or self.state is ClientState.STABLE
        elif error in _THROWN_OUT and self.generation == asked:
            self.reset(forget_id=error != ErrorCode.ILLEGAL_GENERATION)
            self._beat_failed()
            return
        elif error and error not in _THROWN_OUT:
            if error == ErrorCode.FENCED_INSTANCE_ID:
                self.broken = "FencedInstanceIdException"
            self._beat_failed()
            return
        self._failures = 0
        self._session_ms = self.now_ms + self._setup.session_timeout_ms

    def _beat_failed(self) -> None:
        setup = self._setup
        self._beat_ms = self.now_ms + min(setup.retry_backoff_ms << self._failures, setup.retry_backoff_max_ms)
        self._failures = min(self._failures + 1, 10)

    def tick(self) -> None:
        """Do what the heartbeat thread does at this time."""
        for _, _, until_ms in self._calls.values():
            if until_ms <= self.now_ms:
                self.seek()
                break
        if self._beats and self.state in (ClientState.UNJOINED, ClientState.PREPARING):
            self._beats = False
        if not self._beats or not self.up:
            return
        if self._session_ms <= self.now_ms:
            self.seek()
        elif self.polled_ms + self._setup.rebalance_timeout_ms <= self.now_ms:
            self.leave(POLL_TIMEOUT)
            self._beats = False
        elif self._beat_ms <= self.now_ms:
            setup, generation = self._setup, self.generation
            self._beat_ms = self.now_ms + setup.heartbeat_interval_ms
            request = HeartbeatRequest(setup.group_id, generation.number, generation.member_id, setup.instance_id)
            self._send(request, setup.heartbeat_version, setup.request_timeout_ms)

    def wake_at(self) -> int:
        """When `tick` next has something to do."""
        at_ms = NEVER_MS
        for _, _, until_ms in self._calls.values():
            if until_ms < at_ms:
                at_ms = until_ms
        if self._beats and self.up:
            at_ms = min(at_ms, self._session_ms, self._beat_ms, self.polled_ms + self._setup.rebalance_timeout_ms)
        return at_ms

    def close(self) -> None:
        """The heartbeat thread ends, and the member leaves."""
        self._beats = False
        self.leave(CLOSED)
