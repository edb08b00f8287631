"""How is a membership driven by hand? A clock that only the test moves, short words for what goes in and comes out."""

from __future__ import annotations

from typing import TypeVar

from kcoord.assign import CONNECTOR, Assignment, Resource
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_response as heartbeat_response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    Response,
)
from kcoord.protocol.resources import pack, unpack
from kcoord.worker.actions import Action, Grant, Joined, Seek, Send, Told
from kcoord.worker.membership import Membership
from kcoord.worker.setup import Setup

A = TypeVar("A")

INTERVAL = 5_000
SESSION = 45_000
MARGIN = SESSION // 6
"""A worker stops everything this long before its session ends."""
SETUP = Setup("g", "w1", url="http://w1")


def resources(text: str) -> frozenset[Resource]:
    """`a a-0 a-1`: a connector and two tasks of it."""
    words = (word.partition("-") for word in text.split())
    return frozenset(Resource(name, int(task) if task else CONNECTOR) for name, _, task in words)


def told(owned: frozenset[Resource]) -> str:
    """The other way round."""
    return " ".join(name if task < 0 else f"{name}-{task}" for name, task in sorted(owned))


class Driver:
    """One worker without a world: the test is its coordinator, its network and its listener."""

    def __init__(self, setup: Setup = SETUP, *, now: int = 0, random: float = 0.0) -> None:
        self.worker = Membership(setup, lambda: random)
        self.now = now
        self.actions: list[Action] = []
        """What came out and was not taken yet."""

    # In

    def start(self) -> Driver:
        """Start, find the coordinator, connect."""
        self.put(self.worker.start(self.now))
        self.connect()
        return self

    def connect(self) -> None:
        """Give the connection that is asked for."""
        self.take(Seek)
        self.put(self.worker.connected(self.now))

    def at(self, now: int) -> Driver:
        """Let time pass; poll whenever the worker wants to wake."""
        while (wake := self.worker.wake_at()) is not None and wake <= now:
            before = self.now
            self.now = max(self.now, wake)
            self.put(self.worker.poll(self.now))
            if self.now == before and self.worker.wake_at() == wake:
                raise AssertionError(f"at {self.now} it wants to wake at {wake} again: it would spin")
        self.now = now
        return self

    def later(self, ms: int) -> Driver:
        """Let so much time pass."""
        return self.at(self.now + ms)

    def answer(
        self,
        epoch: int = 0,
        assigned: str | None = None,
        *,
        error: ErrorCode = ErrorCode.NONE,
        session: int = SESSION,
        interval: int = INTERVAL,
        number: int | None = None,
    ) -> None:
        """Answer the heartbeat that was sent (or that of `number`)."""
        if number is None:
            number = self.take(Send).number
        response = ConnectGroupHeartbeatResponse(
            error_code=error, member_epoch=epoch, heartbeat_interval_ms=interval, session_timeout_ms=session
        )
        if assigned is not None:
            entries = pack(
                resources(assigned), heartbeat_response.ConnectorsAndTasks, heartbeat_response.ConnectorTaskId
            )
            response.assignment = heartbeat_response.Assignment(connectors_and_tasks=entries)
        self.give(number, response)

    def give(self, number: int, response: Response) -> None:
        """Any answer."""
        self.put(self.worker.answered(self.now, number, response))

    def prepared(self, number: int, *, error: ErrorCode = ErrorCode.NONE, group_epoch: int = 1) -> None:
        """Answer a Prepare."""
        self.give(
            number,
            ConnectGroupPrepareAssignmentResponse(error_code=error, group_epoch=group_epoch, assignor_name="eager"),
        )

    def installed(self, number: int, *, error: ErrorCode = ErrorCode.NONE) -> None:
        """Answer an Install."""
        self.give(number, ConnectGroupInstallAssignmentResponse(error_code=error))

    def computed(self, number: int, assignment: Assignment | None) -> None:
        """The assignor is done."""
        self.put(self.worker.computed(self.now, number, assignment))

    def released(self, number: int) -> None:
        """`on_revoked` has returned."""
        self.put(self.worker.released(self.now, number))

    def abandoned(self, number: int) -> None:
        """All has stopped."""
        self.put(self.worker.abandoned(self.now, number))

    def disconnect(self) -> None:
        """The connection ends."""
        self.put(self.worker.disconnected(self.now))

    def update(self, **changes: object) -> None:
        """The worker says something new of itself."""
        self.put(self.worker.update(self.now, **changes))

    def leave(self, *, permanent: bool = False) -> None:
        """Leave."""
        self.put(self.worker.leave(self.now, permanent=permanent))

    # Out

    def put(self, actions: list[Action]) -> None:
        """Keep what is to be done until the test takes it."""
        self.actions += actions

    def take(self, kind: type[A]) -> A:
        """The next thing to be done, which must be of that kind."""
        assert self.actions, f"nothing is to be done, but {kind.__name__} was expected"
        action = self.actions.pop(0)
        assert isinstance(action, kind), f"{action} came where {kind.__name__} was expected"
        return action

    def heartbeat(self) -> tuple[int, ConnectGroupHeartbeatRequest]:
        """The next thing to be done, which must be a heartbeat."""
        send = self.take(Send)
        assert isinstance(send.request, ConnectGroupHeartbeatRequest)
        return send.number, send.request

    def prepare(self) -> tuple[int, ConnectGroupPrepareAssignmentRequest]:
        """The next thing to be done, which must be a Prepare."""
        send = self.take(Send)
        assert isinstance(send.request, ConnectGroupPrepareAssignmentRequest)
        return send.number, send.request

    def install(self) -> tuple[int, ConnectGroupInstallAssignmentRequest]:
        """The next thing to be done, which must be an Install."""
        send = self.take(Send)
        assert isinstance(send.request, ConnectGroupInstallAssignmentRequest)
        return send.number, send.request

    def nothing(self) -> None:
        """There is nothing to be done."""
        assert not self.actions, self.actions


def owned_in(request: ConnectGroupHeartbeatRequest) -> str | None:
    """What a heartbeat says of what is owned; None where it says nothing."""
    return None if request.connectors_and_tasks is None else told(unpack(request.connectors_and_tasks))


def member(owned: str = "", setup: object = SETUP, epoch: int = 1) -> Driver:
    """A worker that has joined and runs that, all said."""
    assert isinstance(setup, type(SETUP))
    driver = Driver(setup).start()
    driver.answer(epoch, owned)
    driver.take(Joined)
    driver.take(Told)
    if owned:
        driver.take(Grant)
    if setup.max_wait_ms:
        return driver
    driver.later(INTERVAL).answer(epoch)
    driver.nothing()
    return driver
