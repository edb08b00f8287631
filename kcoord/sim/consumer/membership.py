"""What a consumer says in its heartbeats, and what it makes of the answers, as Java's consumer 4.3 does.

1. It has one heartbeat under way at a time. The next one goes out an interval after the last one was sent, at once when
   it joins or has to confirm something. Only its farewell does not wait.
2. It repeats nothing: names, assignor, timeout and what it owns are in a heartbeat only if they have changed since the
   last one that was sent. After an error, a timeout or a lost connection it says all of it, at its epoch. librdkafka's
   consumer says all of it only after an error or a lost connection. After a timeout of its own it repeats what had no
   answer, and nothing else.
3. What it says that it owns is the last assignment that it has followed in full. So it confirms once, when it has let
   go of all that was taken away and has taken all that is new.
4. Fenced or unknown, it drops all that it has, and joins again with epoch 0 under the same member id.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

import attrs

from kcoord.group.state.groups.consumer_group import NOTHING, Partitions, by_topic
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH, LEAVING_EPOCH
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor, TopicPartitions
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

FENCED = frozenset((ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID))
ELSEWHERE = frozenset((ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE))
"""Errors after which it looks for its coordinator again."""


NOT_SAID = object()
"""What a heartbeat said that had no answer."""


def flat(topics: Iterable[Any]) -> Partitions:
    """What a message names, as a set of partitions."""
    return frozenset((each.topic_id, number) for each in topics for number in each.partitions)


class Heard(Enum):
    """What an answer means for the consumer."""

    FINE = "it is a member"
    AGAIN = "it is to ask again, a little later"
    ELSEWHERE = "it is to look for its coordinator"
    FENCED = "it is a member no longer, and joins again"
    FATAL = "its process ends"


@attrs.define(eq=False)
class ConsumerMembership:
    """One consumer in its group."""

    group_id: str
    member_id: str
    instance_id: str | None
    subscribed: frozenset[str]
    assignor: str | None
    rebalance_timeout_ms: int
    interval_ms: int
    """The time between two heartbeats. The answers say it."""
    epoch: int = JOINING_EPOCH
    target: Partitions = NOTHING
    """The assignment that it was told last."""
    owned: Partitions = NOTHING
    """The last assignment that it has followed in full."""
    listed: tuple[Assignor, ...] = ()
    """The assignors of its own that it lists. They no longer count when it has wished for one of the coordinator's."""
    _sent: tuple[object, object, object, object] | None = None
    """What its last heartbeat said or implied. None: the next one says all."""
    _answered: tuple[object, object, object, object] | None = None
    """The same of the last one that was answered."""
    _in_vain: set[int] = attrs.Factory(set)
    """The places of what was said since then, without an answer. A heartbeat that lies somewhere may still say it."""

    @property
    def fetches_as(self) -> tuple[str | None, int]:
        """The member id and the epoch with which it asks for offsets."""
        return self.member_id, self.epoch

    def forget_sent(self) -> None:
        """An answer was lost or was an error: the next heartbeat says all."""
        self._sent = self._answered = None

    def repeat_unanswered(self) -> None:
        """No answer came in time: the next heartbeat speaks of what was said in vain, and of nothing else."""
        if self._sent is None or self._answered is None:
            self._sent = None
            return
        pairs = enumerate(zip(self._sent, self._answered, strict=True))
        self._in_vain |= {place for place, (said, answered) in pairs if said != answered}
        names, assignor, listed, owned = (
            NOT_SAID if place in self._in_vain else said for place, said in enumerate(self._sent)
        )
        self._sent = names, assignor, listed, owned

    @property
    def has_to_say(self) -> bool:
        """Whether the next heartbeat says something new."""
        return self._sent != (self.subscribed, self.assignor, self.listed, self.owned)

    @property
    def has_to_confirm(self) -> bool:
        """Whether it owns something else than it has said, or than it was told."""
        return self._sent is not None and not self._sent[3] == self.owned == self.target

    def heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        """The next heartbeat."""
        known = None if self.epoch == JOINING_EPOCH else self._sent
        self._sent = (self.subscribed, self.assignor, self.listed, self.owned)
        names = sorted(self.subscribed) if known is None or known[0] != self.subscribed else None
        return ConsumerGroupHeartbeatRequest(
            self.group_id,
            self.member_id,
            self.epoch,
            self.instance_id,
            rebalance_timeout_ms=self.rebalance_timeout_ms if known is None else -1,
            subscribed_topic_names=names,
            server_assignor=self.assignor if known is None or known[1] != self.assignor else None,
            topic_partitions=_listed(self.owned) if known is None or known[3] != self.owned else None,
            client_assignors=list(self.listed) if self.listed and (known is None or known[2] != self.listed) else None,
        )

    def wish(self, assignor: str) -> None:
        """Wish for an assignor of the coordinator's from now on."""
        self.assignor, self.listed = assignor, ()

    def say_more(self) -> None:
        """Say something else for its own assignors."""
        self.listed = tuple(attrs.evolve(each, reason=(each.reason + 1) % 100) for each in self.listed)

    def farewell(self, permanent: bool) -> ConsumerGroupHeartbeatRequest:
        """The last heartbeat. A static member that does not leave for good keeps its place."""
        away = self.instance_id is not None and not permanent
        epoch = AWAY_EPOCH if away else LEAVING_EPOCH
        return ConsumerGroupHeartbeatRequest(self.group_id, self.member_id, epoch, self.instance_id)

    def drop(self) -> None:
        """It is a member no longer."""
        self.epoch, self.target, self.owned = JOINING_EPOCH, NOTHING, NOTHING
        self.forget_sent()

    def heard(self, response: ConsumerGroupHeartbeatResponse) -> Heard:
        """Take an answer in."""
        error = response.error_code
        if not error:
            self.epoch, self._answered = response.member_epoch, self._sent
            self._in_vain.clear()
            self.interval_ms = response.heartbeat_interval_ms
            if response.assignment is not None:
                self.target = flat(response.assignment.topic_partitions)
            return Heard.FINE
        self.forget_sent()
        if error in FENCED:
            self.drop()
            return Heard.FENCED
        if error in ELSEWHERE:
            return Heard.ELSEWHERE
        return Heard.AGAIN if error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS else Heard.FATAL


def _listed(partitions: Partitions) -> list[TopicPartitions]:
    """Partitions as a heartbeat carries them."""
    return [TopicPartitions(topic, numbers) for topic, numbers in by_topic(partitions).items()]
