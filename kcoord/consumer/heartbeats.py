"""The heartbeats of a consumer: what is in one, and when it is sent.

- One heartbeat is under way at a time, as in Java's consumer. Only a farewell does not wait for its answer.
- The next one is due an interval after the last one was sent; at once if the coordinator does not have the list of what
  the consumer owns, or if somebody hurries it. None is sent during a back-off.
- A heartbeat says everything at a join, after an error, and on a new connection. Otherwise it has the list of owned
  partitions and the client-side assignors if these have changed, and nothing else.
- The list has what was granted from the moment of its receipt. A list that is older than a grant could be taken for
  letting go of it (KG-8).
"""

from __future__ import annotations

from kcoord.consumer.actions import Partition
from kcoord.consumer.state import Call, Link, MembershipState, Phase
from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor, TopicPartitions
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest
from kcoord.worker.setup import Offer

NEVER_MS = 1 << 62


def due_ms(state: MembershipState) -> int:
    """When `speak` has something to send, if nothing else happens; NEVER_MS: not before something else does."""
    if state.link is not Link.UP:
        return NEVER_MS
    if state.phase is Phase.PARTING:
        return NEVER_MS if state.waits_for(Call.FAREWELL) else state.not_before_ms
    if state.phase not in (Phase.JOINING, Phase.MEMBER, Phase.LEAVING) or state.waits_for(Call.HEARTBEAT):
        return NEVER_MS
    if state.phase is Phase.JOINING or state.hurried or _has_news(state):
        return state.not_before_ms
    return max(state.next_ms, state.not_before_ms)


def speak(state: MembershipState, now_ms: int) -> None:
    """Send what is due, as `due_ms` says."""
    if state.phase is Phase.PARTING:
        say_farewell(state, now_ms)
        return
    state.hurried = False
    owned = state.owned if state.said != state.owned else None
    offers = state.offers if state.said is None or state.said_offers != state.offers else None
    state.send(Call.HEARTBEAT, now_ms, _heartbeat(state, owned, offers), owned, offers)


def say_farewell(state: MembershipState, now_ms: int) -> None:
    """Tell the coordinator that the consumer leaves: epoch -1, or -2 for a static member that will be back."""
    setup = state.setup
    request = ConsumerGroupHeartbeatRequest(setup.group_id, setup.member_id, state.leave_epoch, setup.instance_id)
    state.send(Call.FAREWELL, now_ms, request)


def _has_news(state: MembershipState) -> bool:
    return state.said != state.owned or state.said_offers != state.offers


def _heartbeat(
    state: MembershipState, owned: frozenset[Partition] | None, offers: tuple[Offer, ...] | None
) -> ConsumerGroupHeartbeatRequest:
    setup = state.setup
    request = ConsumerGroupHeartbeatRequest(setup.group_id, setup.member_id, state.epoch, setup.instance_id)
    if owned is not None:
        request.topic_partitions = _by_topic(owned)
    if offers:
        request.client_assignors = assignors_of(offers)
    if state.said is None:
        request.rack_id = setup.rack_id
        request.rebalance_timeout_ms = setup.max_poll_ms
        request.subscribed_topic_names = list(setup.topics)
        request.subscribed_topic_regex = setup.pattern
        request.server_assignor = setup.server_assignor
    return request


def assignors_of(offers: tuple[Offer, ...]) -> list[Assignor]:
    """Client-side assignors as a heartbeat has them."""
    return [
        Assignor(each.name, each.minimum_version, each.maximum_version, each.reason, each.version, each.metadata)
        for each in offers
    ]


def _by_topic(partitions: frozenset[Partition]) -> list[TopicPartitions]:
    topics: dict[bytes, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    return [TopicPartitions(topic, numbers) for topic, numbers in topics.items()]
