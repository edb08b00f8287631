"""Are others left alone where a member of a classic group joins again and again, and nothing comes of it?
(`kcoord/group/state/repeated_rebalances.py`)
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import pack

import attrs
import pytest

from kcoord.group.classic.rebalance_input import rebalance_input
from kcoord.group.state.groups.subscription import without_generation
from kcoord.group.state.metrics import CLASSIC
from kcoord.group.state.repeated_rebalances import FREE
from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.group.world import Ticket, World

AGAIN = ErrorCode.REBALANCE_IN_PROGRESS
MINUTES = 20
QUICKLY = 1 + FREE + 6
"""So many rebalances come before there is one a minute."""


def text(value: str) -> bytes:
    return pack(">h", len(value)) + value.encode()


def subscription(
    version: int = 3, topics: Iterable[str] = ("t",), owned: Iterable[int] = (), generation: int = -1, data: bytes = b""
) -> bytes:
    """ConsumerProtocolSubscription, as clients write it."""
    names, numbers = list(topics), list(owned)
    found = pack(">hi", version, len(names)) + b"".join(map(text, names)) + pack(">i", len(data) or -1) + data
    if version >= 1:
        found += pack(">i", 1) + text("t") + pack(">i", len(numbers)) + b"".join(pack(">i", each) for each in numbers)
    if version >= 2:
        found += pack(">i", generation)
    return found + (text("rack") if version >= 3 else b"")


class LongWorld(World):
    """A world of many steps, few of which are checked."""

    _steps = 0

    def _check(self) -> None:
        self._steps += 1
        if self._steps % 50 == 0:
            super()._check()


@attrs.define(eq=False)
class Consumer:
    """A member that does what clients do. `restless`: it joins again at each heartbeat, whatever that says."""

    world: World
    name: str
    restless: bool = False
    owned: tuple[int, ...] = ()
    rebalance_ms: int = 300_000
    protocol_type: str = "consumer"
    member_id: str = ""
    generation: int = -1
    assignment: bytes = b"0"
    """What it gives to everybody when it leads."""
    join: Ticket | None = None
    sync: Ticket | None = None
    in_peace: int = 0
    """Heartbeats after which it had not to join."""

    def send_join(self) -> None:
        metadata = subscription(owned=self.owned, generation=self.generation)
        request = JoinGroupRequest(
            group_id="g",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.member_id,
            protocol_type=self.protocol_type,
            protocols=[JoinGroupRequestProtocol("range", metadata)],
        )
        self.join, _ = self.world.call(request, 3, self.name)

    def tick(self) -> None:
        """What has been answered, and what follows."""
        if self.join is not None:
            self._joined()
        elif self.sync is not None:
            self._synced()
        elif self.generation < 0 or self.restless:
            self.send_join()
        else:
            self._beat()

    def _joined(self) -> None:
        assert self.join is not None
        joined = self.join.response
        if isinstance(joined, JoinGroupResponse):
            self.join = None
            assert joined.error_code == ErrorCode.NONE
            self.member_id, self.generation = joined.member_id, joined.generation_id
            given = [SyncGroupRequestAssignment(each.member_id, self.assignment) for each in joined.members]
            request = SyncGroupRequest("g", self.generation, self.member_id, assignments=given)
            self.sync, _ = self.world.call(request, 3, self.name)

    def _synced(self) -> None:
        assert self.sync is not None
        synced = self.sync.response
        if isinstance(synced, SyncGroupResponse):
            self.sync = None
            if synced.error_code:
                self.send_join()

    def _beat(self) -> None:
        beat, _ = self.world.call(HeartbeatRequest("g", self.generation, self.member_id), 3, self.name)
        assert isinstance(beat.response, HeartbeatResponse)
        if beat.response.error_code == AGAIN:
            self.send_join()
        else:
            assert beat.response.error_code == ErrorCode.NONE
            self.in_peace += 1


def live(world: World, members: Iterable[Consumer], seconds: int) -> None:
    """Time passes, a second at a time."""
    for _ in range(seconds):
        world.advance_to(world.now_ms + 1_000)
        for member in members:
            member.tick()


def fleet(**leader: object) -> tuple[World, list[Consumer]]:
    """A leader that is like this, and two others."""
    world = LongWorld(GroupSettings(initial_rebalance_delay_ms=0))
    first = Consumer(world, "A", **leader)  # type: ignore[arg-type]
    others = [Consumer(world, name, protocol_type=first.protocol_type) for name in ("B", "C")]
    restless, first.restless = first.restless, False
    live(world, [first, *others], 10)
    first.restless = restless
    return world, [first, *others]


def test_a_leader_that_joins_for_nothing_disturbs_the_others_once_a_minute() -> None:
    world, members = fleet(restless=True)
    before = world.shard.facts("g").generation
    assert before is not None
    live(world, members, MINUTES * 60)
    after = world.shard.facts("g").generation
    assert after is not None
    assert after - before <= QUICKLY + MINUTES
    assert members[1].in_peace > 50 * MINUTES
    counters = world.state.counters
    assert 0 < counters.slowed[CLASSIC] <= counters.repeated[CLASSIC]
    assert "rebalances changed nothing: the next one waits 60 s" in (world.state.groups["g"].record.reason or "")


def stormy() -> tuple[World, list[Consumer]]:
    """The leader waits with its JoinGroup, and the others run."""
    world, members = fleet(restless=True)
    live(world, members, 600)
    while world.state.groups["g"].repetition.due_ms > world.now_ms + 60_000 or members[0].join is None:
        live(world, members, 1)
    assert members[0].join.is_open
    return world, members


def test_what_is_not_read_is_another_thing_where_a_byte_differs() -> None:
    world, members = fleet(restless=True, protocol_type="other")
    live(world, members, 60)
    assert not world.state.counters.slowed


def test_a_member_that_comes_is_not_slowed_down() -> None:
    world, members = stormy()
    newcomer = Consumer(world, "D")
    live(world, [*members, newcomer], 5)
    assert newcomer.generation > 0
    assert newcomer.sync is None


def test_a_member_that_says_something_new_is_not_slowed_down() -> None:
    world, members = stormy()
    generation = members[1].generation
    members[1].owned = (1,)
    members[1].send_join()
    live(world, members, 5)
    assert members[1].generation > generation
    assert members[1].join is None


def test_a_leader_that_waits_and_loses_its_connection_waits_on() -> None:
    world, members = stormy()
    first = members[0].join
    assert first is not None
    members[0].send_join()
    assert isinstance(first.response, JoinGroupResponse)
    assert first.response.error_code == AGAIN
    assert members[0].join is not None
    assert members[0].join.is_open
    live(world, members, 70)
    assert members[2].generation == members[1].generation


def test_a_leader_that_waits_may_leave() -> None:
    world, members = stormy()
    first = members[0].join
    assert first is not None
    world.call(LeaveGroupRequest(group_id="g", member_id=members[0].member_id), 2, "A")
    assert not first.is_open
    live(world, members[1:], 5)
    assert {each.join for each in members[1:]} == {None}


def test_a_load_forgets_that_somebody_waits() -> None:
    world, members = stormy()
    world.crash()
    members[0].join = None
    members[0].restless = False
    live(world, members, 10)
    assert world.state.groups["g"].repetition.times == 0


def test_nobody_waits_longer_than_half_its_rebalance_timeout() -> None:
    world, members = fleet(restless=True, rebalance_ms=6_000)
    for _ in range(60):
        waits = members[0].join
        live(world, members, 4)
        assert waits is None or waits is not members[0].join or not waits.is_open


@pytest.mark.parametrize("rounds", [10])
def test_cooperative_rounds_are_never_slowed_down(rounds: int) -> None:
    """A follower joins again with less, as after a revocation, and with more."""
    world, members = fleet()
    for owned in range(rounds):
        members[1].owned = tuple(range(owned))
        members[1].send_join()
        live(world, members, 3)
        assert members[1].join is None
    assert not world.state.counters.slowed


@pytest.mark.parametrize("answers", ["the same", "others"])
def test_a_leader_that_assigns_otherwise_each_time_is_obeyed(answers: str) -> None:
    """Partitions that come one after the other: what it says of itself stays the same."""
    world, members = fleet()
    for number in range(8):
        members[0].assignment = b"0" if answers == "the same" else b"%d" % number
        members[0].send_join()
        live(world, members, 3)
    assert bool(world.state.counters.slowed) == (answers == "the same")


# -- what a consumer says ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_the_generation_is_left_out_of_what_a_consumer_says(version: int) -> None:
    one, other = (without_generation("range", subscription(version, generation=each)) for each in (3, 4))
    assert one == other
    assert one != without_generation("range", subscription(version, ("u",)))
    assert (version == 0) == (one == without_generation("range", subscription(version, owned=(7,))))
    assert one != without_generation("range", subscription(version, data=b"x"))


def test_user_data_of_sticky_assignors_is_left_out() -> None:
    one, other = (without_generation("sticky", subscription(data=each)) for each in (b"x", b"y"))
    assert one == other


@pytest.mark.parametrize("cut", range(0, 33, 3))
def test_what_cannot_be_read_stays_as_it_is(cut: int) -> None:
    broken = subscription(owned=(1, 2))[:cut]
    assert without_generation("range", broken) == broken
    negative = pack(">hi", 3, 0) + pack(">i", -7)
    assert without_generation("range", negative) == negative


def test_members_are_known_by_their_static_names() -> None:
    world = World(GroupSettings(initial_rebalance_delay_ms=0))
    given = []
    for _ in range(2):
        request = JoinGroupRequest(
            group_id="g",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=60_000,
            group_instance_id="i",
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol("range", subscription())],
        )
        world.call(request, 5, "A")
        given.append(rebalance_input(world.state.groups["g"]))
    assert given[0] == given[1]
