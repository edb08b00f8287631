"""Whatever members, admins, time and crashes do, in any order.

Random histories of well-behaved clients (`clients.py`) among silent deaths, doubles, strangers, lost appends and
crashes. `World` checks after each step what must always hold, and clients check what they are told. At the end the
faults stop, and everybody settles.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from kcoord.group.state.settings import MINUTE_MS, GroupSettings
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    HeartbeatRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    Request,
    SyncGroupRequest,
)
from tests.group.clients import HEARTBEAT_MS, Client, Phase, settle
from tests.group.sabotage import Saboteur
from tests.group.world import World
from tests.light import fewer

GROUPS = st.sampled_from(["g", "g", "g", "h"])
PROTOCOLS = st.sampled_from(
    [
        (("range", b"m"),),
        (("range", b"n"),),
        (("range", b"m"), ("rr", b"m")),
        (("rr", b"m"), ("range", b"m")),
    ]
)
WAITS_MS = st.sampled_from([1, 500, 3_000, 3_000, 6_000, 10_000, 30_000, 6 * MINUTE_MS])
NUMBERS = st.integers(0, 1_000)


class History(RuleBasedStateMachine):
    """One random history."""

    sabotaged = False
    """Whether each step breaks off on a copy first (`test_any_fault.py`)."""

    @initialize(
        delay_ms=st.sampled_from([0, 3_000]),
        max_size=st.sampled_from([100, 100, 5, 2]),
        instances=st.lists(st.sampled_from([None, None, "s1", "s2"]), min_size=1, max_size=4),
    )
    def begin(self, delay_ms: int, max_size: int, instances: list[str | None]) -> None:
        self.world = World(GroupSettings(initial_rebalance_delay_ms=delay_ms, max_size=max_size))
        if self.sabotaged:
            self.world.saboteur = Saboteur(self.world.settings)
        self.clients = [Client(f"c{at}", "g", instance) for at, instance in enumerate(instances)]
        self.a_while_goes_by()

    # -- members ------------------------------------------------------------------------------------------------------

    @rule(
        group_id=GROUPS,
        protocols=PROTOCOLS,
        instance=st.sampled_from([None, None, None, "s1", "s2"]),
        version=st.sampled_from([3, 5, 8, 9, 9]),
        session_ms=st.sampled_from([6_000, 10_000, 45_000]),
        rebalance_ms=st.sampled_from([3_001, 5_000, 30_000]),  # below the heartbeat interval a group need never settle
    )
    def somebody_starts(
        self,
        group_id: str,
        protocols: tuple[tuple[str, bytes], ...],
        instance: str | None,
        version: int,
        session_ms: int,
        rebalance_ms: int,
    ) -> None:
        self.clients.append(
            Client(
                f"c{len(self.clients)}",
                group_id,
                instance if version >= 5 else None,
                protocols,
                session_timeout_ms=session_ms,
                rebalance_timeout_ms=rebalance_ms,
                join_version=version,
            )
        )

    @precondition(lambda self: self.clients)
    @rule(number=NUMBERS)
    def somebody_acts(self, number: int) -> None:
        self._pick(number).act(self.world)

    @rule()
    def everybody_acts(self) -> None:
        for client in self.clients:
            client.act(self.world)

    @rule()
    def a_while_goes_by(self) -> None:
        """Everybody has the time to join, sync and heartbeat a few times."""
        for _ in range(4):
            for _ in range(4):
                self.everybody_acts()
            self.world.advance_to(self.world.now_ms + HEARTBEAT_MS)

    @precondition(lambda self: self.clients)
    @rule(number=NUMBERS)
    def somebody_dies(self, number: int) -> None:
        self._pick(number).phase = Phase.OUT

    @precondition(lambda self: self.clients)
    @rule(number=NUMBERS)
    def somebody_leaves(self, number: int) -> None:
        client = self._pick(number)
        client.phase = Phase.OUT
        self.world.call(client.leave_request(), 5)

    @precondition(lambda self: self.clients)
    @rule(number=NUMBERS, protocols=PROTOCOLS)
    def somebody_joins_again(self, number: int, protocols: tuple[tuple[str, bytes], ...]) -> None:
        client = self._pick(number)
        if client.phase is Phase.BEAT:
            client.phase, client.protocols = Phase.JOIN, protocols

    @precondition(lambda self: self.clients)
    @rule(number=NUMBERS)
    def somebody_asks_twice(self, number: int) -> None:
        """The client has given up waiting, and asks again on another connection; nobody reads the first answer."""
        client = self._pick(number)
        if client.ticket is not None and client.phase in (Phase.JOIN, Phase.SYNC):
            client.ticket, client.phase = None, Phase.JOIN

    # -- others -------------------------------------------------------------------------------------------------------

    @rule(group_id=GROUPS, number=NUMBERS, generation=st.integers(-1, 9), instance=st.sampled_from([None, "s1", "s3"]))
    def a_stranger_asks(self, group_id: str, number: int, generation: int, instance: str | None) -> None:
        """A client of the past, or a wrong one: under a member's id but of another generation, or under no member's
        id.
        """
        group = self.world.state.groups.get(group_id)
        members = [*group.members, *group.pending] if group is not None else []
        member_id = [*members, "ghost-1"][number % (len(members) + 1)]
        if group is not None and generation == group.generation and member_id in group.members:
            return
        topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, number)])]
        strange: list[tuple[Request, int]] = [
            (HeartbeatRequest(group_id, generation, member_id, instance), 4),
            (SyncGroupRequest(group_id, generation, member_id, instance, "consumer", "range"), 5),
            (OffsetCommitRequest(group_id, generation, member_id, instance, topics=topics), 9),
            (LeaveGroupRequest(group_id, members=[MemberIdentity("ghost-1", instance)]), 5),
        ]
        request, version = strange[number % len(strange)]
        ticket, _ = self.world.call(request, version)
        assert not ticket.is_open

    @rule(group_id=GROUPS, number=NUMBERS)
    def an_admin_acts(self, group_id: str, number: int) -> None:
        acts: list[tuple[Request, int]] = [
            (DescribeGroupsRequest([group_id]), 6),
            (ListGroupsRequest(), 5),
            (DeleteGroupsRequest([group_id]), 2),
            (LeaveGroupRequest(group_id, members=[MemberIdentity("", "s1"), MemberIdentity("", "s2")]), 5),
            (OffsetDeleteRequest(group_id), 0),
        ]
        request, version = acts[number % len(acts)]
        self.world.call(request, version, "admin")

    @precondition(lambda self: self.clients)
    @rule(number=NUMBERS, pause_ms=WAITS_MS)
    def the_way_to_the_cluster_is_cut(self, number: int, pause_ms: int) -> None:
        client = self._pick(number)
        self.world.shard.pause_session(client.group_id, client.member_id, self.world.now_ms + pause_ms)

    # -- time and faults ----------------------------------------------------------------------------------------------

    @rule(wait_ms=WAITS_MS)
    def time_passes(self, wait_ms: int) -> None:
        self.world.advance_to(self.world.now_ms + wait_ms)

    @rule()
    def the_coordinator_crashes(self) -> None:
        self.world.crash()

    @precondition(lambda self: self.clients)
    @rule(number=NUMBERS)
    def an_append_fails(self, number: int) -> None:
        client = self._pick(number)
        if client.phase is Phase.JOIN and client.ticket is None:
            client.ticket = self.world.call_in_vain(client.join_request(), client.join_version, client.name)
        elif client.phase is Phase.BEAT:
            self.world.call_in_vain(client.leave_request(), 5, client.name)

    # -- the end ------------------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        settle(self.world, self.clients)

    # -- tools --------------------------------------------------------------------------------------------------------

    def _pick(self, number: int) -> Client:
        return self.clients[number % len(self.clients)]


TestAnyHistory = History.TestCase
TestAnyHistory.settings = settings(
    max_examples=fewer(70, 20), stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
