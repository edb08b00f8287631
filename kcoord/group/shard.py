"""The shard: the coordinator of all groups of one partition. It routes requests, and what falls due, to their handlers.

A shard does no I/O, reads no clock and draws no random number. Its shell hands in requests and the time, appends the
records of each step in order, and sends the step's replies once everything that was appended by then is committed
(CG-24).

Life: `replay` the log, `loaded`, then `handle` and `advance` until `drop`. If an append fails, the shell drops the
shard and a new one loads the log. So what was not committed never happened, for instance a static member's replacement
(GW-23). A part of a step that breaks off is undone, and only its request or its group suffers (`isolation`). If the
shard raises an error all the same, it must be dropped too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from kcoord.group.api_handlers_and_rights import ALL_APIS, Handler, Writes
from kcoord.group.apis.delete_groups import check_delete
from kcoord.group.apis.list_groups import listed_among
from kcoord.group.apis.offset_delete import check_offset_delete, subscribed_among
from kcoord.group.classic.check_commit import check_commit
from kcoord.group.classic_consumers.classic_dialect import CLASSIC as CLASSIC_CONSUMERS
from kcoord.group.classic_consumers.individual_mode import is_led_alone
from kcoord.group.clock_pause import go_on, pause, paused, prolong_sessions, resume
from kcoord.group.connect.configured_set import forget_configured
from kcoord.group.connect.native_dialect import NATIVE, is_noop_heartbeat
from kcoord.group.connect.settle import settle
from kcoord.group.connect.timers import sweep_connect
from kcoord.group.consumer import native_dialect as consumer_dialect
from kcoord.group.consumer.offset_checks import Named
from kcoord.group.consumer.offset_checks import check_commit as check_consumer_commit
from kcoord.group.consumer.settle import settle as settle_consumer
from kcoord.group.consumer.timers import sweep_consumer
from kcoord.group.conversion.classic_dialect import CLASSIC_SIDE
from kcoord.group.conversion.conversion_trigger import follow, sweep_classic
from kcoord.group.error_responses import refuse
from kcoord.group.expiry import expire, surplus_groups
from kcoord.group.group_content_limits import creates_group, cut_client_id, excess, refuse_excess
from kcoord.group.group_facts import GroupFacts
from kcoord.group.isolation import Fits, Isolation, error_of, fits_every_log
from kcoord.group.modern.held_replies import flush_held_reply, hold_is_over, hold_is_over_unwritten
from kcoord.group.multi_group_requests import named_group
from kcoord.group.shard_facts import facts_of
from kcoord.group.shard_metrics import metrics_of
from kcoord.group.state.connect_settings import misfits
from kcoord.group.state.consumer_settings import adjusted
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.modern_group import LONG_AGO_MS, AnyGroup
from kcoord.group.state.groups.modern_member import AnyMember
from kcoord.group.state.journal import Journal
from kcoord.group.state.metrics import Metrics
from kcoord.group.state.records.connect_records import configuration
from kcoord.group.state.records.connect_replay import settle_load
from kcoord.group.state.records.consumer_replay import settle_load as settle_consumer_load
from kcoord.group.state.replay import replay
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext, Step, Token
from kcoord.group.state.topic import Topic
from kcoord.group.state.transition import ConnectKind, ConsumerKind, Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kcoord.protocol.records import Record

HANDLERS: dict[type[Request], Handler] = {row.request: row.handler for row in ALL_APIS if row.handler is not None}
WRITES = frozenset(row.request for row in ALL_APIS if row.writes is Writes.ALWAYS)
"""The requests that may write whenever they come. Of the others, only heartbeats of the new protocols may write."""
CONNECT_KIND = ConnectKind(NATIVE, CLASSIC_SIDE, settle, sweep_connect)
"""What the rules of all groups without a barrier ask of connect groups. It has no state."""
CONSUMER_KIND = ConsumerKind(consumer_dialect.NATIVE, CLASSIC_CONSUMERS, settle_consumer, sweep_consumer)
"""The same of consumer groups."""


class Shard:
    """The groups of one partition. `ids` makes the unique part of member ids. Not thread-safe.

    `elder` is the previous shard of this partition, which was dropped while its connections stayed open. It alone knew
    which connection was a member's newest, so members of connect groups must come by new connections (CG-4).
    """

    def __init__(
        self,
        settings: GroupSettings,
        ids: Callable[[], str],
        predecessor: Shard | None = None,
        fits: Fits = fits_every_log,
    ) -> None:
        """`fits` says whether a record fits the log."""
        self.state = ShardState(settings, ids)
        self._fits = fits
        if predecessor is not None:
            before = predecessor.state
            self.state.predecessor_connection = max(before.newest_connection, before.predecessor_connection)

    @property
    def record_level(self) -> int:
        """The highest level of records that the shard may write: every living instance can read it."""
        return self.state.record_level

    @record_level.setter
    def record_level(self, level: int) -> None:
        self.state.record_level = level

    # -- life ---------------------------------------------------------------------------------------------------------

    def replay(self, record: Record) -> None:
        """Apply one record of the log, before `loaded`. (`handle`, `advance` and `loaded` apply their own.)"""
        replay(self.state, record)

    def loaded(self, now_ms: int, wall_ms: int, lease_ms: int = 0) -> Step:
        """Finish the load: open fresh sessions (GW-23, GW-24). They are longer by `lease_ms`, the time for which a
        previous owner elsewhere may still answer (CG-27).
        """
        isolation = self._isolation(now_ms, wall_ms)
        self.state.live = True
        self.state.loaded_ms, self.state.loaded_wall_ms = now_ms, wall_ms
        self.state.alone_since_ms = now_ms if lease_ms else LONG_AGO_MS
        self.state.expiry_due_ms = now_ms + self.state.settings.offsets_retention_check_interval_ms
        settle_load(self.state)
        settle_consumer_load(self.state)
        for group_id in self.group_ids():
            isolation.open_loaded(group_id)
        prolong_sessions(self.state, lease_ms)
        return isolation.transition.step

    def drop(self) -> list[Token]:
        """Drop the shard: nothing may be answered for it any more, not even by the hot path. Return the tokens that
        still wait.
        """
        state = self.state
        tokens = [token for token, _ in state.waiting.values()]
        for group in state.groups.values():
            group.close()
        for modern_group in self.state.modern():
            modern_group.close()
        state.groups.clear()
        state.connect.clear()
        state.consumer.clear()
        state.declared.clear()
        state.waiting.clear()
        state.held.clear()
        state.holds.clear()
        state.deadlines.clear()
        state.quarantine.clear()
        state.expiry_due_ms = NEVER_MS
        return tokens

    # -- steps --------------------------------------------------------------------------------------------------------

    def handle(self, request: Request, context: RequestContext, token: Token, now_ms: int) -> Step:
        """Handle one request. Its reply is in the returned step, or in a later one if the request has to wait. Each
        token is answered once.

        `now_ms` is monotonic. A request that breaks off is undone, and answered with an error (`isolation`).
        Raises KeyError for a request of an API that is not in HANDLERS.
        """
        handler = HANDLERS[type(request)]
        state, connection = self.state, context.connection
        isolation = self._isolation(now_ms, context.wall_ms)
        transition, step = isolation.transition, isolation.transition.step
        if connection > state.newest_connection:
            state.newest_connection = connection
        state.connections.use(connection)
        if connection in state.held:
            self._flush_held_reply(isolation, connection)
        group_id = named_group(request)
        if state.quarantine and self.is_closed(group_id):
            transition.answer(token, self._refuse_closed(request))
            return step
        work = partial(self._answer, handler, transition, request, context, token)
        faults = len(step.faults)
        if not isolation.carry_out(group_id, type(request).__name__, work, own=token):
            transition.answer(token, refuse(request, error_of(step.faults[faults])))
            step.failed = True
        elif token is not None and group_id is not None and id(token) not in [id(each.token) for each in step.replies]:
            state.waiting[id(token)] = token, group_id
        return step

    def _answer(
        self, handler: Handler, transition: Transition, request: Request, context: RequestContext, token: Token
    ) -> None:
        over = excess(self.state, request)
        if over is not None:
            self.state.counters.over_limit[over.what] += 1
            transition.step.excess = over.text
            transition.answer(token, refuse_excess(request, over))
            return
        handler(transition, request, cut_client_id(context, self.state.settings.limits), token)

    def flush_held_reply(self, connection: int, now_ms: int, wall_ms: int) -> Step:
        """Send the held answers of `connection`, because another request of it arrives, here or elsewhere (CG-26).
        `handle` does so by itself.
        """
        isolation = self._isolation(now_ms, wall_ms)
        self._flush_held_reply(isolation, connection)
        return isolation.transition.step

    def closed(self, connection: int, now_ms: int, wall_ms: int) -> Step:
        """Note that a client's connection is closed. Members that used it last cannot be reached until they return."""
        isolation = self._isolation(now_ms, wall_ms)
        if self.state.connections.close(connection):
            self._flush_held_reply(isolation, connection)
        return isolation.transition.step

    def knows_connection(self, connection: int) -> bool:
        """Whether that connection has brought a request here and is open. Then the shard must be told of its end
        (`closed`).
        """
        return self.state.connections.knows(connection)

    def _flush_held_reply(self, isolation: Isolation, connection: int) -> None:
        transition = isolation.transition
        for group, member in list(self.state.held.get(connection, {}).values()):
            isolation.carry_out(group.group_id, "a held answer", partial(_flush_one, transition, group, member))

    def advance(self, now_ms: int, wall_ms: int) -> Step:
        """Do everything that is due: sessions, rebalances, expiry of offsets. If nothing is due, nothing happens."""
        isolation = self._isolation(now_ms, wall_ms)
        transition = isolation.transition
        for group in self.state.deadlines.due(now_ms):
            if isinstance(group, ClassicGroup):
                sweep = partial(sweep_classic, transition, group)
            else:
                sweep = partial(transition.kind(group).sweep, transition, group)
            isolation.fell_due(group, "a look at the group", sweep)
        for member in self.state.holds.due(now_ms):
            group_id = self._held_in(member)
            if group_id is not None:
                isolation.carry_out(group_id, "a held answer", partial(hold_is_over, transition, member))
        if self.state.expiry_due_ms <= now_ms:
            self.state.expiry_due_ms = now_ms + self.state.settings.offsets_retention_check_interval_ms
            surplus = surplus_groups(self.state)
            for group_id in self.group_ids():
                if group_id not in self.state.quarantine:
                    work = partial(expire, transition, group_id, group_id in surplus)
                    isolation.carry_out(group_id, "expiry of offsets", work)
            self.state.newcomers.sweep(now_ms)
            for group_id in self.state.quarantine.keys() - set(self.group_ids()):
                del self.state.quarantine[group_id]
        return transition.step

    def give_held(self, now_ms: int, wall_ms: int) -> Step:
        """Call this in place of `advance` while nothing can be written. Time stands still, except for held answers. The
        step has no records.
        """
        isolation = self._isolation(now_ms, wall_ms)
        for member in self.state.holds.due(now_ms):
            group_id = self._held_in(member)
            if group_id is not None:
                work = partial(hold_is_over_unwritten, isolation.transition, member)
                isolation.carry_out(group_id, "a held answer", work)
        return isolation.transition.step

    def _held_in(self, member: AnyMember) -> str | None:
        """The group in which the member has a held answer; None: it has none."""
        if member.held is None:
            return None
        return self.state.held[member.held.connection][member.member_id][0].group_id

    def go_on(self, stood_ms: int, now_ms: int) -> None:
        """Continue after time stood still for `stood_ms`. Nobody was answered in that time, so it ends no session."""
        go_on(self.state, stood_ms, now_ms)

    def took(self, step: Step, ms: int) -> None:
        """Note how long a step took that has made assignments of consumer groups (`computed`), in ms. The next ones of
        these groups come the later, the longer it was (KG-7).
        """
        for group_id in step.computed:
            group = self.state.consumer.get(group_id)
            if group is not None:
                group.took_ms = ms // len(step.computed)

    def next_deadline(self) -> int | None:
        """When to call `advance` next, in ms on the clock of `now_ms`; None: not before the next request."""
        earliest = self.state.expiry_due_ms
        for at_ms in (self.state.deadlines.next_ms(), self.state.holds.next_ms()):
            if at_ms is not None and at_ms < earliest:
                earliest = at_ms
        return None if earliest == NEVER_MS else earliest

    def _isolation(self, now_ms: int, wall_ms: int) -> Isolation:
        transition = Transition(self.state, now_ms, wall_ms, Step(), Journal(), CONNECT_KIND, CONSUMER_KIND)
        return Isolation(transition, self._fits)

    def _refuse_closed(self, request: Request) -> Response:
        response = refuse(request, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if isinstance(response, DescribeGroupsResponse | ConnectGroupDescribeResponse | ConsumerGroupDescribeResponse):
            for described in response.groups:
                described.error_message = self.state.quarantine[described.group_id].text()
        return response

    def is_closed(self, group_id: str | None) -> bool:
        """Whether the group is not served, because it could not be opened after a fault (`quarantine`)."""
        known = self.state.quarantine.get(group_id or "")
        return known is not None and known.closed

    # -- calls of the gateway and the server --------------------------------------------------------------------------

    def check_commit(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        generation: int,
        transactional: bool,
        now_ms: int,
        api_version: int = 0,
        partitions: Sequence[Named] = (),
    ) -> ErrorCode:
        """The error for a commit of offsets by this member now; NONE if it may commit, and then its session is
        refreshed (GW-12, GW-22), but not in a consumer group (KG-5). `api_version` is the version of OffsetCommit;
        `partitions`: what is to be committed.
        """
        if self.is_closed(group_id):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        consumer = self.state.consumer.get(group_id)
        if consumer is not None:
            return check_consumer_commit(consumer, member_id, generation, partitions, transactional=transactional)
        return check_commit(
            self.state, group_id, member_id, instance_id, generation, transactional, now_ms, api_version
        )

    def may_write(self, request: Request) -> bool:
        """Whether `request` may write records."""
        if isinstance(request, ConnectGroupHeartbeatRequest):
            return not is_noop_heartbeat(self.state, request)
        if isinstance(request, ConsumerGroupHeartbeatRequest):
            return not consumer_dialect.is_noop_heartbeat(self.state, request)
        return type(request) in WRITES

    def creates_group(self, request: Request) -> bool:
        """Whether `request` may create a group."""
        return creates_group(self.state, request)

    def config(self, group_id: str) -> Mapping[str, str]:
        """The own settings of the group of that name, whether the group exists or not."""
        return self.state.configurations.get(group_id, {})

    def adjusted_settings(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The groups whose stored settings contradict the server's, each with the values in force by name."""
        connect, consumer = self.state.settings.connect, self.state.settings.consumer
        for group_id, own in self.state.configurations.items():
            if in_force := {**misfits(connect, own), **adjusted(consumer, own)}:
                yield group_id, in_force

    def alter_config(
        self, group_id: str, values: Mapping[str, str], now_ms: int, wall_ms: int, forgets_configured: bool = False
    ) -> Step:
        """Replace a group's own settings with `values`, which the caller has checked. They hold from each member's next
        heartbeat; a setting about the group's protocol or its assignments holds at once. `forgets_configured`: also
        forget the offset of the configured set. The step has `failed` set if this could not be done.
        """
        isolation = self._isolation(now_ms, wall_ms)
        work = partial(self._alter_config, isolation.transition, group_id, values, forgets_configured)
        closed = self.is_closed(group_id)
        isolation.transition.step.failed = closed or not isolation.carry_out(group_id, "a change of settings", work)
        return isolation.transition.step

    def _alter_config(
        self, transition: Transition, group_id: str, values: Mapping[str, str], forgets_configured: bool
    ) -> None:
        if values != self.config(group_id):
            transition.write(configuration(group_id, values))
        if forgets_configured and group_id in self.state.connect:
            forget_configured(transition, self.state.connect[group_id])
        if group_id in self.state.groups:
            if is_led_alone(self.state, group_id):
                self.state.groups[group_id].forget_answers()  # a heartbeat converts it
            follow(transition, self.state.groups[group_id])
        elif group_id in self.state.connect:
            settle(transition, self.state.connect[group_id])
        elif group_id in self.state.consumer:
            self.state.consumer[group_id].forget_all()
            settle_consumer(transition, self.state.consumer[group_id])

    def patterns(self) -> set[str]:
        """The regular expressions by which members subscribe."""
        members = (member for group in self.state.consumer.values() for member in group.members.values())
        return {pattern for member in members if (pattern := member.metadata.subscribed_topic_regex)}

    def learn_topics(
        self,
        topics: Mapping[str, Topic],
        now_ms: int,
        wall_ms: int,
        resolutions: Mapping[str, frozenset[str]] | None = None,
    ) -> Step:
        """From now on these topics exist, by name, and these names match regular expressions. Consumer groups whose
        topics have changed get a new assignment.
        """
        isolation = self._isolation(now_ms, wall_ms)
        self.state.topics = topics
        self.state.topic_names = {topic.id: name for name, topic in topics.items()}
        if resolutions is not None:
            self.state.resolutions = resolutions
        for group in list(self.state.consumer.values()):
            if group.group_id not in self.state.quarantine:
                work = partial(settle_consumer, isolation.transition, group)
                isolation.carry_out(group.group_id, "a change of topics", work)
        return isolation.transition.step

    def check_delete(self, group_id: str) -> ErrorCode:
        """The error for deleting the group (GW-13): NONE, NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND;
        COORDINATOR_NOT_AVAILABLE if the group is not served.
        """
        if self.is_closed(group_id):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return check_delete(self.state, group_id)

    def check_offset_delete(self, group_id: str) -> ErrorCode:
        """The error for deleting any offsets of the group; NONE if that is allowed (GW-13)."""
        if self.is_closed(group_id):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return check_offset_delete(self.state, group_id)

    def subscribed_among(self, group_id: str, topics: list[str]) -> frozenset[str]:
        """The topics among `topics` that the group is subscribed to. Their offsets must stay (GW-13)."""
        return subscribed_among(self.state, group_id, topics)

    def pause_session(self, group_id: str, member_id: str, until_ms: int) -> None:
        """Pause a member's session until `until_ms`, or until its next sign of life if that is earlier (GW-10)."""
        group = self.state.any_group(group_id)
        if group is not None:
            pause(group, member_id, until_ms)

    def resume_session(self, group_id: str, member_id: str, now_ms: int) -> None:
        """Start a fresh session of a member (GW-10)."""
        group = self.state.any_group(group_id)
        if group is not None:
            resume(group, member_id, now_ms)

    def paused_sessions(self, now_ms: int) -> dict[tuple[str, str], int]:
        """Until when, in ms, each session that stands still at `now_ms` does so, by group and member id."""
        return paused(self.state, now_ms)

    def list_groups(self, request: ListGroupsRequest, group_ids: Iterable[str]) -> ListGroupsResponse:
        """The answer to a ListGroups for those of `group_ids` that are here. Changes nothing."""
        return listed_among(self.state, request, group_ids)

    def offset_partitions(self, group_id: str) -> dict[str, list[int]]:
        """The partitions for which the group has an offset, by topic."""
        return {topic: list(offsets) for topic, offsets in self.state.offsets.of_group(group_id).items()}

    def group_ids(self) -> list[str]:
        """All groups that are known here."""
        return [*self.state.groups, *self.state.connect, *self.state.consumer]

    def has_any_members(self) -> bool:
        """Whether any group here has members. In a classic group, clients that were given a member id count too."""
        modern = any(group.members for group in self.state.modern())
        return modern or any(group.members or group.pending for group in self.state.groups.values())

    def metrics(self) -> Metrics:
        """Numbers of groups and members, and counts of what has happened since the load."""
        return metrics_of(self.state)

    def facts(self, group_id: str, *, loaded: bool = True) -> GroupFacts:
        """What is known here of a group, which may not exist. `loaded`: the shard serves."""
        return facts_of(self.state, group_id, loaded=loaded)


def _flush_one(transition: Transition, group: AnyGroup, member: AnyMember) -> None:
    flush_held_reply(transition, group, member)
    transition.kind(group).settle(transition, group)
