"""Does the scripted classic worker behave as Connect's does? Fleets of it in a classic group, which is the classic one.

What Connect does is taken from its sources and from real workers (`docs/rules/classic-members.md`); nothing here is
about kcoord.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.embedded import COMPATIBLE, EAGER, NAMES, SESSIONED, decode_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kcoord.sim.classic_worker import ClassicSetup, ClassicWorker, Close, ConfigTopic, Seek, Send
from kcoord.sim.classic_worker.client import CLOSED, POLL_TIMEOUT
from kcoord.sim.classic_worker.configs import Configs, news
from kcoord.sim.classic_worker.worker import TOO_LONG
from tests.sim.classic_worker.house import GROUP, Host, House

SETTLED_MS = 15_000
DELAY_MS = 20_000


def fleet(count: int, **settings: int) -> tuple[House, list[Host]]:
    """Workers that run two connectors with 3 and 4 tasks."""
    house = House(GroupSettings(initial_rebalance_delay_ms=100))
    house.configure(a=3, b=4)
    hosts = [house.worker(f"w{at}", **{"max_delay_ms": DELAY_MS, **settings}) for at in range(count)]
    house.run(SETTLED_MS)
    assert_well(house)
    return house, hosts


def assert_well(house: House) -> None:
    """All runs once, never ran twice, and one worker leads and knows who runs what."""
    assert house.all_run_once()
    assert not house.doubles
    assert all(host.worker.stable for host in house.alive)
    assert len({host.worker.generation for host in house.alive}) == 1
    leaders = [host for host in house.alive if host.worker.leads]
    assert len(leaders) == 1
    assert not leaders[0].worker.leads_blindly


# -- a fleet of them is a classic group --------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [EAGER, COMPATIBLE, SESSIONED], ids=NAMES)
def test_workers_share_the_work_and_go_on_sharing_it(protocol: int) -> None:
    house, hosts = fleet(3, protocol=protocol)
    assert all(host.runs for host in hosts)
    house.worker("w3", protocol=protocol, max_delay_ms=DELAY_MS)
    house.run(2 * SETTLED_MS)
    assert_well(house)
    assert all(host.runs for host in house.alive)
    assert {host.worker.version for host in house.alive} == {protocol}


def test_a_newcomer_asks_for_a_member_id_first() -> None:
    house, _ = fleet(1)
    first, second = [request for _, request in house.metadata if isinstance(request, JoinGroupRequest)]
    assert (first.member_id, bool(second.member_id)) == ("", True)
    assert [each.name for each in second.protocols] == ["sessioned", "compatible", "default"]
    states = [decode_state(each.metadata) for each in second.protocols]
    assert [state.version for state in states] == [2, 1, 0]
    assert all(state.allocation is None for state in states)
    assert {(state.url, state.config_offset) for state in states} == {("http://w0", house.topic.newest.offset)}


def test_what_is_revoked_is_stopped_before_the_worker_rejoins_and_nothing_else_is() -> None:
    house, hosts = fleet(2)
    house.worker("w2", max_delay_ms=DELAY_MS)
    house.run(2 * SETTLED_MS)
    assert_well(house)
    moved = house.hosts[2].runs
    assert moved == frozenset(each for host in hosts for each in host.stops)
    assert house.joins() == {"w0": 3, "w1": 3, "w2": 2}


def test_under_default_everything_stops_for_every_round() -> None:
    house, hosts = fleet(2, protocol=EAGER)
    ran = [sorted(host.runs) for host in hosts]
    house.worker("w2", protocol=EAGER)
    house.run(SETTLED_MS)
    assert_well(house)
    assert [sorted(host.stops) for host in hosts] == ran


def test_a_worker_that_dies_is_waited_for_and_then_its_work_moves() -> None:
    house, hosts = fleet(3)
    lost = hosts[2].runs
    hosts[2].kill()
    house.run(11_000 + DELAY_MS - 5_000)
    assert frozenset().union(*(host.runs for host in house.alive)).isdisjoint(lost)
    house.run(SETTLED_MS)
    assert_well(house)
    assert not any(host.stops for host in house.alive)


def test_a_worker_that_leaves_stops_all_and_says_why() -> None:
    house, hosts = fleet(2)
    hosts[1].slow_to_stop_ms = 4_000
    ran = hosts[1].runs
    hosts[1].do(hosts[1].worker.leave(house.events.now_ms))
    house.run(3_000)
    assert not house.leave_reasons()
    house.run(2_000)
    assert hosts[1].closed == ""
    assert frozenset(hosts[1].stops) == ran
    assert house.leave_reasons() == [CLOSED]
    house.run(DELAY_MS + SETTLED_MS)
    assert_well(house)


# -- configuration -----------------------------------------------------------------------------------------------------


def test_a_new_connector_makes_everybody_rejoin_once() -> None:
    house, hosts = fleet(3)
    house.configure(c=2)
    house.run(SETTLED_MS)
    assert_well(house)
    assert house.joins() == {"w0": 2, "w1": 2, "w2": 2}
    assert not any(host.stops for host in hosts)


def test_reconfigured_tasks_are_stopped_before_the_worker_rejoins_and_started_anew() -> None:
    house, hosts = fleet(3)
    running = {
        host.name: {each for each in host.runs if each.connector == "a" and not each.is_connector} for host in hosts
    }
    for host in hosts:
        host.started.clear()
    house.configure(a=3)
    house.run(SETTLED_MS)
    assert_well(house)
    for host in hosts:
        assert set(host.stops) == set(host.started) == running[host.name]


def test_a_removed_connector_is_stopped_by_whom_the_leader_tells() -> None:
    house, hosts = fleet(3)
    house.topic.remove("b")
    house.tell()
    house.run(2 * SETTLED_MS)
    assert_well(house)
    assert {each.connector for host in hosts for each in host.runs} == {"a"}


def test_a_session_key_alone_makes_nobody_rejoin() -> None:
    """CM-7: an offset difference is no news."""
    house, _ = fleet(2)
    house.topic.put_session_key()
    house.tell()
    house.run(SETTLED_MS)
    assert house.joins() == {"w0": 1, "w1": 1}
    house.hosts[1].lose()
    house.run(SETTLED_MS)
    assert house.joins() == {"w0": 1, "w1": 1}, "a short break alone costs no round"


def test_who_cannot_read_the_config_topic_leaves_and_runs_on() -> None:
    """CM-12, CM-13: it comes back under another id, with what it runs."""
    house, hosts = fleet(2)
    before, ran = hosts[1].worker.member_id, hosts[1].runs
    hosts[1].reads = False
    house.configure(c=1)
    house.run(6_000)
    assert house.leave_reasons() == [TOO_LONG]
    assert hosts[1].runs == ran
    hosts[1].reads = True
    house.run(SETTLED_MS)
    assert hosts[1].worker.member_id != before
    assert house.all_run_once()
    assert not house.doubles


def test_after_five_back_offs_it_stops_what_it_runs() -> None:
    house, hosts = fleet(2)
    hosts[1].reads = False
    house.configure(c=1)
    house.run(6_000 + 5 * 3_000 + DELAY_MS // 10 * 3)
    assert not hosts[1].runs
    assert hosts[1].stops


# -- the way to the coordinator ----------------------------------------------------------------------------------------


def test_a_break_below_a_heartbeat_interval_stops_nothing() -> None:
    house, hosts = fleet(2)
    hosts[1].cut_off = True
    hosts[1].lose()
    house.run(2_500)
    hosts[1].cut_off = False
    house.run(SETTLED_MS)
    assert_well(house)
    assert house.joins() == {"w0": 1, "w1": 1}
    assert not hosts[1].stops


def test_a_longer_break_stops_all_and_it_joins_with_a_null_allocation() -> None:
    """CM-29."""
    house, hosts = fleet(2)
    ran, member_id = hosts[1].runs, hosts[1].worker.member_id
    hosts[1].cut_off = True
    hosts[1].lose()
    house.run(3_500)
    assert frozenset(hosts[1].stops) == ran
    hosts[1].cut_off = False
    house.run(2_000)
    rejoined = [request for name, request in house.metadata if name == "w1" and isinstance(request, JoinGroupRequest)][
        2
    ]
    assert rejoined.member_id == member_id
    assert decode_state(rejoined.protocols[0].metadata).allocation is None


def test_a_worker_cut_off_while_it_waits_in_a_round_stops_nothing() -> None:
    """Connect looks for the coordinator for ever then: an exception of the classic protocol."""
    house, hosts = fleet(2)
    hosts[0].slow_to_stop_ms = 0
    hosts[1].reads = True
    house.configure(c=1)
    house.run(15)
    ran = hosts[0].runs
    assert hosts[0].worker.client.under_way
    hosts[0].cut_off = True
    hosts[0].lose()
    house.run(8_000)
    assert hosts[0].runs == ran


def test_a_silent_coordinator_is_given_up_after_the_session_timeout() -> None:
    house, hosts = fleet(1)
    hosts[0].cut_off = True  # no answer, and no end of the connection
    house.run(9_000)
    assert hosts[0].runs
    house.run(6_000)
    assert not hosts[0].runs
    assert hosts[0].connection == 0


def test_stopping_for_longer_than_the_rebalance_timeout_makes_it_leave() -> None:
    house, hosts = fleet(2, rebalance_timeout_ms=6_000)
    hosts[0].slow_to_stop_ms = hosts[1].slow_to_stop_ms = 10_000
    house.worker("w2", max_delay_ms=DELAY_MS)
    house.run(2 * SETTLED_MS)
    assert POLL_TIMEOUT in house.leave_reasons()


def test_heartbeats_go_on_while_it_stops_what_is_revoked() -> None:
    house, hosts = fleet(2)
    hosts[0].slow_to_stop_ms = hosts[1].slow_to_stop_ms = 14_000
    ids = [host.worker.member_id for host in hosts]
    house.worker("w2", max_delay_ms=DELAY_MS)
    house.run(3 * SETTLED_MS)
    assert_well(house)
    assert [host.worker.member_id for host in hosts] == ids


def test_a_mixed_fleet_speaks_what_all_speak() -> None:
    """CM-16."""
    house, _ = fleet(2)
    late = house.worker("w2", protocol=COMPATIBLE, max_delay_ms=DELAY_MS)
    house.run(2 * SETTLED_MS)
    assert_well(house)
    assert {host.worker.version for host in house.alive} == {COMPATIBLE}
    late.do(late.worker.leave(house.events.now_ms))
    house.run(DELAY_MS + 2 * SETTLED_MS)
    assert_well(house)
    assert {host.worker.version for host in house.alive} == {SESSIONED}


# -- errors, one by one ------------------------------------------------------------------------------------------------


def lone() -> tuple[ClassicWorker, list[Send]]:
    """A worker that has sent its first JoinGroup with a member id."""
    worker = ClassicWorker(ClassicSetup(GROUP, "http://w"), Configs(1, {"a": 1}))
    assert worker.start(0) == [Seek()]
    (first,) = [each for each in worker.connected(0) if isinstance(each, Send)]
    answer = JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m")
    return worker, [each for each in worker.received(first.number, answer, 1) if isinstance(each, Send)]


@pytest.mark.parametrize(
    ("error", "becomes"),
    [
        (ErrorCode.UNKNOWN_MEMBER_ID, "joins as nobody"),
        (ErrorCode.REBALANCE_IN_PROGRESS, "joins as itself"),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "joins as itself, later"),
        (ErrorCode.NOT_COORDINATOR, "seeks"),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, "seeks"),
        (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "dies"),
        (ErrorCode.GROUP_MAX_SIZE_REACHED, "dies"),
        (ErrorCode.UNKNOWN_SERVER_ERROR, "dies"),
    ],
)
def test_errors_of_join_group(error: ErrorCode, becomes: str) -> None:
    worker, sent = lone()
    wanted = worker.received(sent[0].number, JoinGroupResponse(error_code=error), 2)
    later = worker.poll(102)
    assert _told(wanted, later) == becomes


def _told(wanted: Sequence[object], later: Sequence[object]) -> str:
    for each in (*wanted, *later):
        if isinstance(each, Close):
            return "dies" if each.died_of else "leaves"
        if isinstance(each, Seek):
            return "seeks"
        if isinstance(each, Send) and isinstance(each.request, JoinGroupRequest):
            return ("joins as itself" if each.request.member_id else "joins as nobody") + (
                "" if each in wanted else ", later"
            )
    return "nothing"


def stable() -> ClassicWorker:
    """A worker that is the only one of its group."""
    house, hosts = fleet(1)
    house.run(1)
    return hosts[0].worker


@pytest.mark.parametrize(
    ("error", "member_id_stays", "rejoins"),
    [
        (ErrorCode.NONE, True, False),
        (ErrorCode.REBALANCE_IN_PROGRESS, True, True),
        (ErrorCode.ILLEGAL_GENERATION, True, True),
        (ErrorCode.UNKNOWN_MEMBER_ID, False, True),
        (ErrorCode.UNKNOWN_SERVER_ERROR, True, False),
    ],
)
def test_errors_of_heartbeats_reset_what_they_must(error: ErrorCode, member_id_stays: bool, rejoins: bool) -> None:
    worker = stable()
    member_id, now_ms = worker.member_id, worker.client.now_ms
    ran = worker.running
    while True:
        now_ms += 500
        beats = [each for each in worker.poll(now_ms) if isinstance(each, Send)]
        if beats:
            break
    wanted = worker.received(beats[0].number, HeartbeatResponse(error_code=error), now_ms)
    joins = [each.request for each in wanted if isinstance(each, Send)]
    assert bool(joins) == rejoins
    for join in joins:
        assert isinstance(join, JoinGroupRequest)
        assert join.member_id == (member_id if member_id_stays else "")
        allocation = decode_state(join.protocols[0].metadata).allocation
        assert allocation is not None, "it runs on, and says so (CM-12)"
        assert allocation.assigned == ran
    assert worker.running == ran


def test_a_leader_that_is_not_shown_dies_of_it() -> None:
    """CM-3: never an empty member list with itself as leader."""
    worker, sent = lone()
    answer = JoinGroupResponse(generation_id=1, protocol_name="sessioned", leader="m", member_id="m", members=[])
    (close,) = worker.received(sent[0].number, answer, 2)
    assert isinstance(close, Close)
    assert "no members" in close.died_of


def test_a_sync_group_that_nobody_answers_is_left_by_poll_timeout() -> None:
    worker, sent = lone()
    answer = JoinGroupResponse(generation_id=1, protocol_name="sessioned", leader="other", member_id="m")
    (sync,) = worker.received(sent[0].number, answer, 2)
    assert isinstance(sync, Send)
    assert isinstance(sync.request, SyncGroupRequest)
    left: list[str] = []
    now_ms = 2
    while not left:
        at_ms = worker.wake_at()
        assert at_ms is not None
        assert now_ms < at_ms <= 62_000
        now_ms = at_ms
        for each in worker.poll(now_ms):
            if isinstance(each, Send) and isinstance(each.request, LeaveGroupRequest):
                left.append(each.request.members[0].reason or "")
            elif isinstance(each, Send) and not isinstance(each.request, JoinGroupRequest):
                worker.received(each.number, HeartbeatResponse(), now_ms)
            elif isinstance(each, Seek):
                return  # the request's own timeout of 40 s comes first with the defaults
    raise AssertionError(f"{left} before the request's timeout")


# -- the config topic --------------------------------------------------------------------------------------------------


def test_the_topic_counts_as_connects_does() -> None:
    topic = ConfigTopic()
    assert topic.put_connector("a").offset == 1
    assert topic.put_tasks("a", 3).offset == 5
    assert topic.remove("a").offset == 7
    assert topic.put_session_key().offset == 8
    assert topic.read(6).task_counts == {"a": 3}
    assert topic.read(0) == Configs()


def test_news_are_what_workers_act_on() -> None:
    topic = ConfigTopic()
    empty = topic.newest
    named = topic.put_connector("a")
    tasks = topic.put_tasks("a", 2)
    again = topic.put_tasks("a", 2)
    key = topic.put_session_key()
    gone = topic.remove("a")
    assert news(empty, empty, named).rebalance
    assert news(named, named, tasks).reconfigured == {"a"}
    assert news(tasks, tasks, again).reconfigured == {"a"}
    assert not news(again, again, key).rebalance
    assert news(key, key, gone).rebalance
    assert not news(key, key, gone).reconfigured
