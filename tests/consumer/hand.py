"""How is a consumer's membership driven by hand? A clock that only the test moves, short words for what goes in and
comes out.
"""

from __future__ import annotations

from typing import TypeVar

from kcoord.assign.consumer import ConsumerAssignment
from kcoord.consumer.actions import Action, Grant, Joined, Partition, Seek, Send, TellAssignor
from kcoord.consumer.membership import Membership
from kcoord.consumer.setup import Setup
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import consumer_group_heartbeat_response as heartbeat_response
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupInstallAssignmentResponse,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
)
from kcoord.worker.setup import Offer

A = TypeVar("A")

INTERVAL = 5_000
SETUP = Setup("g", "c1", topics=("work",))
STATIC = Setup("g", "c1", topics=("work",), instance_id="i1")
OFFERS = (Offer("own", 0, 2, reason=0, version=1, metadata=b"m"),)


def partitions(text: str) -> frozenset[Partition]:
    """`a0 a1 b0`: two partitions of a topic, one of another."""
    return frozenset((word[0].encode() * 16, int(word[1:])) for word in text.split())


def told(owned: frozenset[Partition]) -> str:
    """The other way round."""
    return " ".join(f"{topic[:1].decode()}{number}" for topic, number in sorted(owned))


def owned_in(request: ConsumerGroupHeartbeatRequest) -> str | None:
    """What a heartbeat says of what is owned; None where it says nothing."""
    if request.topic_partitions is None:
        return None
    return told(frozenset((topic.topic_id, each) for topic in request.topic_partitions for each in topic.partitions))


def says_everything(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether a heartbeat says all that a join says."""
    return request.rebalance_timeout_ms == SETUP.max_poll_ms and request.subscribed_topic_names == ["work"]


class Hand:
    """One consumer without a world: the test is its coordinator, its network, its application and its callbacks."""

    def __init__(self, setup: Setup = SETUP) -> None:
        self.consumer = Membership(setup, lambda: 0.5)
        self.now = 0
        self.actions: list[Action] = []
        """What came out and was not taken yet."""

    # In

    def offer(self, offers: tuple[Offer, ...]) -> Hand:
        """It has these client-side assignors."""
        self.put(self.consumer.offer(self.now, offers))
        return self

    def start(self) -> Hand:
        """Start, find the coordinator, connect. The application waits in a poll."""
        self.put(self.consumer.start(self.now))
        self.put(self.consumer.application_polled(self.now, waits=True))
        self.connect()
        return self

    def connect(self) -> None:
        """Give the connection that is asked for."""
        self.take(Seek)
        self.put(self.consumer.connected(self.now))

    def later(self, ms: int) -> Hand:
        """Let so much time pass; poll whenever the consumer wants to wake."""
        end = self.now + ms
        while (wake := self.consumer.wake_at()) is not None and wake <= end:
            before = self.now
            self.now = max(self.now, wake)
            self.put(self.consumer.poll(self.now))
            if self.now == before and self.consumer.wake_at() == wake:
                raise AssertionError(f"at {self.now} it wants to wake at {wake} again: it would spin")
        self.now = end
        return self

    def answer(
        self,
        epoch: int = 0,
        assigned: str | None = None,
        *,
        error: ErrorCode = ErrorCode.NONE,
        interval: int = INTERVAL,
        throttle: int = 0,
        number: int | None = None,
        computes: bool = False,
        told: tuple[int, bytes] = (0, b""),
    ) -> None:
        """Answer the request that was sent (or that of `number`). `computes`: it is to compute. `told`: version and
        metadata of the assignment.
        """
        if number is None:
            number = self.take(Send).number
        response = ConsumerGroupHeartbeatResponse(
            error_code=error,
            member_epoch=epoch,
            heartbeat_interval_ms=interval,
            throttle_time_ms=throttle,
            should_compute_assignment=computes,
        )
        if assigned is not None:
            topics: dict[bytes, list[int]] = {}
            for topic, each in sorted(partitions(assigned)):
                topics.setdefault(topic, []).append(each)
            listed = [heartbeat_response.TopicPartitions(topic, each) for topic, each in topics.items()]
            response.assignment = heartbeat_response.Assignment(listed, *told)
        self.put(self.consumer.answered(self.now, number, response))

    def prepared(self, number: int, response: ConsumerGroupPrepareAssignmentResponse) -> None:
        """Answer the preparation."""
        self.put(self.consumer.answered(self.now, number, response))

    def computed(self, number: int, assignment: ConsumerAssignment | None) -> None:
        """The assignor is done; None: it has failed."""
        self.put(self.consumer.computed(self.now, number, assignment))

    def installed(self, number: int, error: ErrorCode = ErrorCode.NONE, message: str | None = None) -> None:
        """Answer the install."""
        response = ConsumerGroupInstallAssignmentResponse(error_code=error, error_message=message)
        self.put(self.consumer.answered(self.now, number, response))

    def polls(self, *, waits: bool) -> None:
        """The application polls."""
        self.put(self.consumer.application_polled(self.now, waits=waits))

    def disconnect(self) -> None:
        """The connection ends."""
        self.put(self.consumer.disconnected(self.now))

    def reconnect(self) -> None:
        """The connection ends, and there is a new one after the back-off."""
        self.disconnect()
        self.later(200)
        self.connect()

    def released(self, number: int) -> None:
        """`on_revoked` has returned."""
        self.put(self.consumer.released(self.now, number))

    def lost(self, number: int) -> None:
        """`on_lost` has returned."""
        self.put(self.consumer.lost(self.now, number))

    def leave(self, *, permanent: bool = False) -> None:
        """Leave."""
        self.put(self.consumer.leave(self.now, permanent=permanent))

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

    def heartbeat(self) -> tuple[int, ConsumerGroupHeartbeatRequest]:
        """The next thing to be done, which must be a heartbeat or a farewell."""
        send = self.take(Send)
        assert isinstance(send.request, ConsumerGroupHeartbeatRequest)
        return send.number, send.request

    def prepare(self) -> tuple[int, ConsumerGroupPrepareAssignmentRequest]:
        """The next thing to be done, which must be a preparation."""
        send = self.take(Send)
        assert isinstance(send.request, ConsumerGroupPrepareAssignmentRequest)
        return send.number, send.request

    def install(self) -> tuple[int, ConsumerGroupInstallAssignmentRequest]:
        """The next thing to be done, which must be an install."""
        send = self.take(Send)
        assert isinstance(send.request, ConsumerGroupInstallAssignmentRequest)
        return send.number, send.request

    def nothing(self) -> None:
        """There is nothing to be done."""
        assert not self.actions, self.actions


def member(owned: str = "", setup: Setup = SETUP, epoch: int = 1, offers: tuple[Offer, ...] = ()) -> Hand:
    """A consumer that has joined and has that, all said."""
    hand = Hand(setup).offer(offers).start()
    hand.answer(epoch, owned)
    hand.take(Joined)
    if offers:
        hand.take(TellAssignor)
    if owned:
        hand.take(Grant)
        hand.answer(epoch)
    hand.nothing()
    return hand
