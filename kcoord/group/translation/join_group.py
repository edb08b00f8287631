"""JoinGroup (11) of a worker in a connect group: it joins, or joins again, and says what it runs.

The sender can be:

1. A newcomer (KIP-394: it must come a second time with the member id that it was given).
2. A newcomer at the url of a dead worker, whose place it takes (CM-18 to CM-20).
3. A stranger, which runs what this group did not give it (CM-12).
4. A member.

Connect has no static members: group.instance.id is ignored (CM-17).
"""

from __future__ import annotations

import attrs

from kcoord.group.classic.join_and_sync_calls import Join
from kcoord.group.connect.configured_set import can_share_configurations
from kcoord.group.connect.departed_workers import is_one
from kcoord.group.connect.membership import drop_dead, join
from kcoord.group.connect.settle import settle
from kcoord.group.modern.held_replies import refuse_all
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT, elect
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Metadata, Resources, Target
from kcoord.group.state.groups.modern_member import NO_EPOCH
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.replaced_groups import replace_by_connect
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import refuse_join, session_of
from kcoord.group.translation.delivery.join_answers import call_leader, park_join
from kcoord.group.translation.embedded_join import Spoken, Unreadable, read
from kcoord.group.translation.member_checks import check_newest_connection
from kcoord.group.translation.rounds.config_round import (
    expect_config_round,
    is_opened_by,
    may_be_opened_by,
    open_config_round,
)
from kcoord.group.translation.rounds.existence_looks import doubt_memory
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_worker_group_member_metadata_value import ClassicMemberMetadata

NEEDS_ID_VERSION = 4
NOTHING: Resources = frozenset()
COLD_START_MS = 5_000
"""How long a new group whose first workers already run something waits for the others. Longer than their heartbeat
interval, within which they find out that they must join (CM-28).
"""


def join_translated(
    transition: Transition, group: ConnectGroup, call: Join, context: RequestContext, is_new: bool
) -> None:
    """Handle a JoinGroup; `group` may be new and not yet in the shard's state. `is_new`: the request has no member
    id.
    """
    try:
        spoken = read(call.protocols)
    except Unreadable:
        refuse_join(transition, call.token, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, call.member_id)
        return
    member = None if is_new else group.members.get(call.member_id)
    if member is not None and member.classic is not None and not member.evicted:
        _rejoin(transition, group, member, call, spoken, context)
    else:
        _come(transition, group, call, spoken, context, is_new)


# -- newcomers --------------------------------------------------------------------------------------------------------


def _come(
    transition: Transition, group: ConnectGroup, call: Join, spoken: Spoken, context: RequestContext, is_new: bool
) -> None:
    dead = _whose_place(transition, group, spoken, context)
    error = _may_come(transition, group, call, spoken, dead, is_new)
    if error:
        refuse_join(transition, call.token, error, call.member_id)
        return
    transition.state.newcomers.forget(group.group_id, call.member_id)
    replace_by_connect(transition, group.group_id)
    if dead is not None:
        drop_dead(transition, group, dead, spoken.reported)
    is_first = not group.members and dead is None
    group = join(transition, group, call.member_id, _first_metadata(call, spoken))
    member = group.members[call.member_id]
    if dead is not None and group.computed_by == dead.member_id:
        transition.write(records.computed_by_successor(group, call.member_id))
    _open_session(transition, group, member, context)
    if spoken.reported:
        _adopt(transition, group, member, spoken.reported)
    if is_first or (group.classic.gathering_due_ms != NEVER_MS and _reports_first(group, member)):
        _gather(transition, group, spoken)
    park_join(transition, group, member, call.token)
    settle(transition, group)


def _may_come(
    transition: Transition, group: ConnectGroup, call: Join, spoken: Spoken, dead: ConnectMember | None, is_new: bool
) -> ErrorCode:
    """NONE if the newcomer is accepted; MEMBER_ID_REQUIRED tells it its id. `dead`: the member that makes room."""
    if elect({**group.classic.offers, spoken.protocols: 1}) is None:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if not can_share_configurations(group, spoken.config_offset):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if len(group.members) - (dead is not None) >= transition.state.effective(group.group_id).max_size:
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    newcomers = transition.state.newcomers
    if not is_new:
        known = newcomers.has(group.group_id, call.member_id, transition.now_ms)
        return ErrorCode.NONE if known else ErrorCode.UNKNOWN_MEMBER_ID
    if call.api_version < NEEDS_ID_VERSION:
        return ErrorCode.NONE
    newcomers.expect(group.group_id, call.member_id, transition.now_ms, transition.now_ms + call.session_timeout_ms)
    return ErrorCode.MEMBER_ID_REQUIRED


def _whose_place(
    transition: Transition, group: ConnectGroup, spoken: Spoken, context: RequestContext
) -> ConnectMember | None:
    """The dead member that this worker was: it has the same url, which identifies one worker, and its connection is
    closed or is this one (CM-19, CM-46). A member whose connection is open may be alive.
    """
    for member_id in group.classic.members if is_one(transition, group, spoken.url, context.connection) else ():
        member = group.members[member_id]
        if member.metadata.url == spoken.url and (
            member.connection == context.connection or transition.state.is_closed(member.connection)
        ):
            return member
    return None


def _first_metadata(call: Join, spoken: Spoken) -> Metadata:
    return Metadata(
        client_id=call.client_id,
        client_host=call.client_host,
        url=spoken.url or None,
        rebalance_timeout_ms=call.rebalance_timeout_ms,
        session_timeout_ms=call.session_timeout_ms,
        classic=ClassicMemberMetadata(list(spoken.protocols), spoken.config_offset),
    )


def _open_session(transition: Transition, group: ConnectGroup, member: ConnectMember, context: RequestContext) -> None:
    member.use(context)
    member.last_seen_ms = transition.now_ms
    member.session_timeout_ms = member.metadata.session_timeout_ms
    transition.wake(group, transition.now_ms + member.session_timeout_ms)


def _adopt(transition: Transition, group: ConnectGroup, member: ConnectMember, reported: Resources) -> None:
    """Adopt what a stranger reports (CM-12). It is to have what no target names, and what waits for it. It alone gives
    up what other targets name. It also gives up what is not configured any more: the leader does not remember that, and
    would let it run for ever. Others may have run meanwhile what did not wait for the stranger: unless the group is
    new, it stops that, and starts it once more if it is to have it at all.
    """
    mine = frozenset([each for each in reported if group.claimants.get(each, member.member_id) == member.member_id])
    if group.configured is not None:
        mine &= group.configured.resources
    waited = group.target_of(member) or NOTHING
    mine |= waited
    doubtful = reported - waited if group.assignment_epoch else NOTHING
    epoch = member.recorded_epoch
    transition.write(records.current_assignment(group, member, reported, epoch, NO_EPOCH, doubtful=doubtful))
    if not group.assignment_epoch:
        _doubt_shared(transition, group, reported)
    transition.write(records.member_target(group.group_id, member.member_id, Target(mine, url=member.metadata.url)))


def _doubt_shared(transition: Transition, group: ConnectGroup, reported: Resources) -> None:
    """If several strangers run the same resource, nobody knows which of them started it last."""
    shared = reported & group.also_owned.keys()
    members = [group.members[member_id] for member_id in group.classic.members] if shared else []
    for member in [each for each in members if shared & each.current]:
        epoch = max(session_of(member).generation, member.recorded_epoch)
        doubtful = member.doubtful | shared  # the record keeps only what the member may be running
        transition.write(
            records.current_assignment(group, member, member.current, epoch, NO_EPOCH, member.evicted, doubtful)
        )


def _reports_first(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether it is the first member that reports running work. Then the coordinator had forgotten the members."""
    return bool(member.current) and all(each == member.member_id for each in group.owners.values())


def _gather(transition: Transition, group: ConnectGroup, spoken: Spoken) -> None:
    """The first worker of an empty group waits for others. The wait is longer once a worker reports that it runs
    something.
    """
    delay_ms = transition.state.settings.initial_rebalance_delay_ms
    if spoken.reported:
        delay_ms = max(delay_ms, COLD_START_MS)
    if delay_ms > 0:
        group.classic.gathering_due_ms = transition.now_ms + delay_ms
        transition.wake(group, group.classic.gathering_due_ms)


# -- members ----------------------------------------------------------------------------------------------------------


def _rejoin(
    transition: Transition,
    group: ConnectGroup,
    member: ConnectMember,
    call: Join,
    spoken: Spoken,
    context: RequestContext,
) -> None:
    error = check_newest_connection(member, context)
    if not error and _may_flush(member, spoken) and transition.state.is_of_before_load(group, context):
        error = ErrorCode.NOT_COORDINATOR  # it may have been given more since, on a connection that is not known here
    if error:
        refuse_join(transition, call.token, error, member.member_id)
        return
    if elect(_offers_then(group, member, spoken)) is None:
        refuse_join(transition, call.token, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member.member_id)
        return
    opens = is_opened_by(transition, group, member, spoken)
    may_open = not opens and may_be_opened_by(group, member, spoken)
    refuse_all(transition, group, member, ErrorCode.REBALANCE_IN_PROGRESS)
    is_other_connection = member.use(context)
    if is_other_connection:
        group.forget(member)
    doubt_memory(group, member, is_other_connection)
    member.last_seen_ms = transition.now_ms
    _note_metadata(transition, group, member, call, spoken)
    session_of(member).listed = spoken.reported
    _note_reported(transition, group, member, NOTHING if _has_stopped_all(group, member) else spoken.reported)
    if opens:
        open_config_round(transition, group, spoken.config_offset)
    elif may_open:
        expect_config_round(transition, group, spoken.config_offset)
    call_leader(transition, group, member)
    park_join(transition, group, member, call.token)
    settle(transition, group)


def _offers_then(group: ConnectGroup, member: ConnectMember, spoken: Spoken) -> dict[tuple[str, ...], int]:
    offers = dict(group.classic.offers)
    mine = group.classic.members[member.member_id]
    offers[mine] -= 1
    offers[spoken.protocols] = offers.get(spoken.protocols, 0) + 1
    return {protocols: count for protocols, count in offers.items() if count}


def _note_metadata(
    transition: Transition, group: ConnectGroup, member: ConnectMember, call: Join, spoken: Spoken
) -> None:
    known = member.metadata.classic
    assert known is not None
    metadata = attrs.evolve(
        member.metadata,
        client_id=call.client_id,
        client_host=call.client_host,
        url=spoken.url or None,
        rebalance_timeout_ms=call.rebalance_timeout_ms,
        session_timeout_ms=call.session_timeout_ms,
        classic=attrs.evolve(known, protocols=list(spoken.protocols), config_offset=spoken.config_offset),
    )
    if metadata != member.metadata:
        transition.write(records.member_metadata(group.group_id, member.member_id, metadata))
        member.session_timeout_ms = call.session_timeout_ms


def _may_flush(member: ConnectMember, spoken: Spoken) -> bool:
    """Whether the worker reports that it runs less than it may be running."""
    classic = member.metadata.classic
    stops_all = classic is not None and classic.known_protocol == DEFAULT
    return bool(member.current) if stops_all else not member.current <= spoken.reported


def _has_stopped_all(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the worker runs nothing, whatever it reports. Under `default` it stops everything before it joins. But a
    worker that speaks more than `default` still lists its last assignment, and runs that again if the next answer
    allows it.
    """
    classic = member.metadata.classic
    return classic is not None and classic.known_protocol == DEFAULT == group.classic.protocol


def _note_reported(transition: Transition, group: ConnectGroup, member: ConnectMember, reported: Resources) -> None:
    """The worker runs exactly what it reports: before it joined it stopped what it was told to stop (CM-5)."""
    if reported != member.current:
        epoch = max(session_of(member).generation, member.recorded_epoch)
        transition.write(records.current_assignment(group, member, reported, epoch, NO_EPOCH))
    member.releasing, member.release_due_ms = NOTHING, NEVER_MS
