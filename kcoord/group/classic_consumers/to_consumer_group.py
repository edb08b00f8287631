"""A classic group of consumers becomes a consumer group, when a consumer of the new protocol joins it, or when its
members are to be led one by one (`individual_mode.py`).

The group epoch is the generation, or 1 if no rebalance has ended yet. Each member is assigned, and its target is, what
it was told in that generation; if nobody was told anything yet, what it said in its JoinGroup that it goes on
consuming. What it said and was not told again, it must let go of: it may be in the middle of that (KG-23). A member
that waits for an answer is told to join again. Nobody else is disturbed: the generation that a member knows stays
valid. Offsets stay.

The fence epoch moves: somebody may have left the classic group in this very generation (KG-19).

In front of a cluster the heartbeat that joins says what was seen of the members' topics, too
(`gateway/handlers/consumer_topics.py`). A member may be consuming a topic of which nothing was seen. Then the group
waits: else what that member has would be given to others once the topic is seen. It waits no longer when looks agree
that there is no such topic, if the first of them was made after that member was told of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import attrs

from kcoord.group.classic.answers import release_join, release_sync
from kcoord.group.classic_consumers.individual_mode import is_individual
from kcoord.group.classic_consumers.member_metadata import metadata_of
from kcoord.group.classic_consumers.rejoin import call
from kcoord.group.consumer.reasons import Reason
from kcoord.group.consumer.settle import settle
from kcoord.group.modern import history
from kcoord.group.modern.epochs import bump_epoch
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.groups.classic_group import ClassicGroup, recorded_state
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.consumer_group import (
    FIRST_EPOCH,
    PROTOCOL_TYPE,
    ConsumerGroup,
    ConsumerMember,
    Partitions,
    Stage,
    Target,
)
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, NO_EPOCH
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.records.classic_records import tombstone
from kcoord.group.state.replay import replay
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext
from kcoord.group.state.topic import Topic
from kcoord.group.state.transition import Transition
from kcoord.protocol.consumer_embedded import (
    Subscription,
    decode_assignment,
    decode_subscription,
)
from kcoord.protocol.embedded import EmbeddedError
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.records import Record

NEED_NO_DATA = frozenset(("range", "roundrobin", "sticky", "cooperative-sticky"))
"""The libraries' own assignors: what consumers need of an assignment are its partitions. (librdkafka's sticky ones add
the data of each member's subscription.)
"""


@attrs.frozen
class _Named:
    """A member of the classic group, and what it may be consuming, by names of topics."""

    member: ClassicMember
    said: Subscription
    assigned: AbstractSet[tuple[str, int]]
    pending: AbstractSet[tuple[str, int]]


@attrs.frozen
class Holding:
    """A member of the classic group, and what it may be consuming."""

    member: ClassicMember
    said: Subscription
    assigned: Partitions
    pending: Partitions
    """What it must let go of."""


def preview(transition: Transition, classic: ClassicGroup, context: RequestContext) -> ConsumerGroup:
    """The consumer group that a classic group with members would become, for checks. Raises Refused."""
    scratch, topics = ShardState(transition.state.settings, transition.state.ids), _known(transition.state, context)
    for record in _records(transition, classic, _holdings(transition, classic, topics, context), topics):
        replay(scratch, record)
    return scratch.consumer[classic.group_id]


def to_consumers(transition: Transition, classic: ClassicGroup, context: RequestContext) -> ConsumerGroup:
    """Convert the group. The caller settles it. Raises Refused, and then has changed nothing."""
    topics = _known(transition.state, context)
    holdings = _holdings(transition, classic, topics, context)
    waiting = [each.member.member_id for each in holdings if _waits(classic, each.member)]
    for each in holdings:
        release_join(transition, classic, each.member, ErrorCode.REBALANCE_IN_PROGRESS, each.member.member_id)
        release_sync(transition, each.member, ErrorCode.REBALANCE_IN_PROGRESS)
    transition.state.counters.conversions["to consumer"] += 1
    transition.write(tombstone(classic.group_id))
    for record in _records(transition, classic, holdings, topics):
        transition.write(record)
    group = transition.state.consumer[classic.group_id]
    group.learned_ms = dict.fromkeys(group.topics, transition.now_ms)
    history.began(transition, group)
    history.installed(transition, group, {})
    for each in holdings:
        _open_session(transition, group, each.member, classic)
    for member_id in waiting:
        call(transition, group, group.members[member_id])
    return group


def lead_alone(transition: Transition, classic: ClassicGroup, context: RequestContext) -> None:
    """Convert a group that is to be led one by one, once it is stable and what there is of its members' topics is
    known, so that nobody is called a second time.
    """
    if classic.state is not ClassicState.STABLE or classic.unsynced:
        return
    try:
        group = to_consumers(transition, classic, context)
    except Refused:
        return  # the next heartbeat may bring what was lacking
    bump_epoch(transition, group, Reason.MIGRATED)  # what the leader assigned may not be all that there is
    settle(transition, group)


def _waits(classic: ClassicGroup, member: ClassicMember) -> bool:
    """Whether the member is on its way to an assignment that it does not have yet."""
    return member.parked_join is not None or member.parked_sync is not None or member.member_id in classic.unsynced


def _known(state: ShardState, context: RequestContext) -> Mapping[str, Topic]:
    """What is known of topics: without a cluster all of them, in front of one what was seen for this request."""
    if state.topics is not None:
        return state.topics
    seen = context.seen
    if seen is None:
        return {}
    return {**seen.there, **{name: topic for name, topic in seen.certain.items() if topic is not None}}


def _gone(transition: Transition, classic: ClassicGroup, context: RequestContext) -> AbstractSet[str]:
    """The topics that are not there any more: looks agree, and all of them were made since the group's last record."""
    seen = context.seen
    if seen is None or transition.wall_ms - seen.agreed_ms <= classic.record.current_state_timestamp:
        return frozenset()
    return {name for name, topic in seen.certain.items() if topic is None}


def _holdings(
    transition: Transition, classic: ClassicGroup, topics: Mapping[str, Topic], context: RequestContext
) -> list[Holding]:
    """The members, and what each may be consuming. Raises Refused if the group cannot become a consumer group."""
    state = transition.state
    limits = state.consumer_settings(classic.group_id)
    may_upgrade = limits.migration_policy.upgrades or is_individual(state, classic.group_id)
    for wrong, why in (
        (not may_upgrade, f"its migration policy is {limits.migration_policy}"),
        (classic.protocol_type != PROTOCOL_TYPE, "its members are no consumers"),
        (len(classic.members) > limits.max_size, f"it has more than {limits.max_size} members"),
    ):
        if wrong:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"the group speaks the classic protocol: {why}")
    try:
        named = list(_read(classic))
    except EmbeddedError as wrong:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"the group speaks the classic protocol: {wrong}") from wrong
    consumed = {name for each in named for name, _ in each.assigned | each.pending}
    unseen = sorted(consumed - topics.keys() - _gone(transition, classic, context))
    if unseen and state.topics is None:
        message = f"the cluster has not shown topic {bounded_name(unseen[0])}, of which a member has partitions"
        raise Refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, message)
    return [
        Holding(each.member, each.said, _with_ids(each.assigned, topics), _with_ids(each.pending, topics))
        for each in named
    ]


def _read(classic: ClassicGroup) -> Iterator[_Named]:
    was_assigned = recorded_state(classic.record) is not ClassicState.COMPLETING
    told = {each.member_id: decode_assignment(each.assignment) for each in classic.members.values()}
    if classic.protocol_name not in NEED_NO_DATA and any(each.user_data for each in told.values()):
        raise EmbeddedError("its assignor adds data of its own to assignments, which would be lost")
    taken = set[tuple[str, int]]().union(*(each.partitions for each in told.values())) if was_assigned else set()
    dealt: set[tuple[str, int]] = set()
    for member in classic.members.values():
        said, given = decode_subscription(member.protocols[0][1]), frozenset(told[member.member_id].partitions) - dealt
        dealt |= given  # a leader that gives something to two is wrong
        goes_on = said.owned - taken
        taken |= goes_on
        assigned, pending = (given, goes_on) if was_assigned else (goes_on, frozenset())
        yield _Named(member, said, assigned, pending)


def _with_ids(partitions: AbstractSet[tuple[str, int]], topics: Mapping[str, Topic]) -> Partitions:
    return frozenset((topics[name].id, number) for name, number in partitions if name in topics)


def _records(
    transition: Transition, classic: ClassicGroup, holdings: list[Holding], known: Mapping[str, Topic]
) -> Iterator[Record]:
    group_id, epoch = classic.group_id, max(classic.generation, FIRST_EPOCH)
    scratch = ConsumerGroup(group_id, epoch=epoch)
    yield records.group_epoch(scratch, epoch, Reason.MIGRATED, transition.wall_ms, fence_epoch=epoch)
    names = {name for each in holdings for name in each.said.topics}
    has = {topic for each in holdings for topic, _ in each.assigned | each.pending}
    seen = [topic for name, topic in sorted(known.items()) if name in names or topic.id in has]
    yield records.topics(group_id, seen)
    for each in holdings:
        member_id, metadata = each.member.member_id, metadata_of(each.member, each.said)
        yield records.member_metadata(group_id, member_id, metadata)
        at = max(JOINING_EPOCH, classic.record.lowest_generation) if classic.was_converted else epoch
        since = dict.fromkeys(each.assigned | each.pending, at)
        stage = Stage.UNREVOKED if each.pending else Stage.STABLE
        member = ConsumerMember(member_id, metadata)
        yield records.told(scratch, member, each.assigned, each.pending, stage, at, NO_EPOCH, since)
        yield records.member_target(group_id, member_id, Target(each.assigned))
    yield records.target_assignment(group_id, epoch, "", transition.wall_ms)


def _open_session(transition: Transition, group: ConsumerGroup, classic: ClassicMember, former: ClassicGroup) -> None:
    """Carry on the member's session. If the group was a consumer group just before, each member knows a generation of
    its own.
    """
    member = group.members[classic.member_id]
    waited = classic.is_new or _waits(former, classic)
    member.last_seen_ms = max(classic.last_seen_ms, transition.now_ms) if waited else classic.last_seen_ms
    member.session_timeout_ms = classic.session_timeout_ms
    member.connection, member.opened = classic.connection, classic.opened
    member.generation, member.epoch_unsure = former.generation, former.was_converted
    if member.stage is Stage.UNREVOKED:
        member.releasing, member.release_due_ms = member.pending, transition.now_ms + classic.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)
    transition.wake(group, max(member.last_seen_ms + member.session_timeout_ms, transition.now_ms + 1))
