"""The worker as programs use it, against kcoord as users run it: shares, callbacks that hang, errors, the end."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from typing import Any, cast

import pytest

from kcoord.assign import Assignment, ConnectAssignor, Group, Metadata, Resource
from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.model import MemberAssignment
from kcoord.client.connection import Connection
from kcoord.client.security import Security
from kcoord.protocol.generated.heartbeat_request import HeartbeatRequest
from kcoord.worker import Configured, Worker, WorkerError
from kcoord.worker.watchdog import BLOCKED_MS
from tests.gateway.scripted import until
from tests.kafka.kcoord_process import Kcoord
from tests.worker.driver import resources
from tests.worker.house import House, Listening
from tests.worker.stepped import Observer

ALL = "a a-0 a-1 b b-0 b-1"
PROTOCOLS = pytest.mark.parametrize("protocol", ["connect", "classic"])


def worker(kcoord: Kcoord, group: str, listener: Listening, protocol: str = "connect", **options: Any) -> Worker:
    """A worker of that name."""
    if protocol == "classic":
        options = {"heartbeat_interval": 0.3, "scheduled_rebalance_max_delay": 0.5} | options
    options = {"configured": Configured(1, resources(ALL))} | options
    options |= {"url": f"http://{listener.name}", "group_protocol": protocol}
    return Worker(kcoord.bootstrap, group, listener=listener, **options)


@PROTOCOLS
async def test_workers_share_what_there_is_and_hand_it_over_when_it_has_stopped(
    kcoord: Kcoord, group: str, protocol: str
) -> None:
    """CG-2, CG-3, CG-9"""
    house = House()
    async with worker(kcoord, group, house.listener("w1", 0.5), protocol) as first:
        await first.joined()
        await house.shared_by("w1", all_of=ALL)
        async with worker(kcoord, group, house.listener("w2", 0.5), protocol):
            await house.shared_by("w1", "w2", all_of=ALL)
            async with worker(kcoord, group, house.listener("w3", 0.5), protocol):
                await house.shared_by("w1", "w2", "w3", all_of=ALL)
        await house.shared_by("w1", all_of=ALL)
        assert all(first.may_run(resource) for resource in resources(ALL))
    assert not house.running
    assert not house.twice
    assert not first.may_run(("a", 0))


async def test_with_eager_everything_stops_before_a_round(kcoord: Kcoord, group: str) -> None:
    house = House()
    listener = house.listener("w1", 0.2)
    async with worker(kcoord, group, listener, "classic", connect_protocol="default"):
        await house.shared_by("w1", all_of=ALL)
        async with worker(kcoord, group, house.listener("w2"), "classic", connect_protocol="default"):
            await house.shared_by("w1", "w2", all_of=ALL)
    assert house.starts["w1"] > 6
    assert not house.twice


@PROTOCOLS
async def test_what_comes_to_be_is_run_and_what_is_gone_is_not(kcoord: Kcoord, group: str, protocol: str) -> None:
    """CG-21"""
    house = House()
    there = [Configured(1, resources("a b"))]
    options: dict[str, Any] = {"configured": lambda: there[-1]}
    first = worker(kcoord, group, house.listener("w1"), protocol, **options)
    second = worker(kcoord, group, house.listener("w2"), protocol, **options)
    async with first, second:
        await house.shared_by("w1", "w2", all_of="a b")
        there.append(Configured(2, resources("a a-0 b b-0")))
        first.configured_changed()
        await house.shared_by("w1", "w2", all_of="a a-0 b b-0")
        there.append(Configured(3, resources("b b-0")))
        await house.until(lambda house: house.running.keys() == resources("b b-0"))
    assert not house.twice


class Counting(ConnectAssignor):
    """Gives all to the member whose id comes first, says so in metadata, and notes what it hears."""

    name = "counting"

    def __init__(self) -> None:
        self.heard: list[MemberAssignment] = []
        self.threads: set[int] = set()
        self.returns: object = None
        """What `assign` returns in place of an assignment, unless it is None; an exception is raised."""
        self.reason = 0

    def metadata(self) -> Metadata:
        return Metadata(self.reason, 0, b"mine")

    def assign(self, group: Group) -> Assignment:
        self.threads.add(threading.get_ident())
        if isinstance(self.returns, Exception):
            raise self.returns
        if self.returns is not None:
            return cast(Assignment, self.returns)
        assert all(member.metadata == b"mine" for member in group.members)
        first = min(member.member_id for member in group.members)
        return Assignment((MemberAssignment(first, group.configured or frozenset(), 0, b"all is yours"),))

    def on_assignment(self, assignment: MemberAssignment) -> None:
        self.heard.append(assignment)


async def test_a_client_side_assignor_computes_beside_the_loop_and_hears_of_each_epoch_once(
    kcoord: Kcoord, group: str, observer: Observer
) -> None:
    """CG-15, CG-17, CG-31"""
    house, assignor = House(), Counting()
    async with worker(kcoord, group, house.listener("w1"), assignors=[assignor]) as first:
        await house.shared_by("w1", all_of=ALL)
        assert (await observer.describe()).assignor_name == "counting"
        assignor.reason = 1  # its metadata is looked at each second
        while first.epoch < 2:
            await asyncio.sleep(0.05)
    assert [(each.metadata, each.resources) for each in assignor.heard[-2:]] == [(b"all is yours", resources(ALL))] * 2
    assert threading.get_ident() not in assignor.threads


NO_TASKS = cast(frozenset[Resource], frozenset([3]))


@pytest.mark.parametrize(
    ("returns", "complaint"),
    [
        pytest.param(ValueError("cannot"), "ValueError: cannot", id="raises"),
        pytest.param(False, "it returned False, which is no Assignment", id="returns something else"),
        pytest.param(Assignment((MemberAssignment("w1", NO_TASKS),)), "assignor counting failed", id="no tasks"),
    ],
)
async def test_where_an_assignor_fails_another_worker_computes(
    kcoord: Kcoord, group: str, observer: Observer, returns: object, complaint: str, caplog: pytest.LogCaptureFixture
) -> None:
    """CG-20. The worker's log says what was wrong."""
    house, bad, good = House(), Counting(), Counting()
    bad.returns = returns
    async with worker(kcoord, group, house.listener("w1"), assignors=[bad]) as first:
        await first.joined()
        async with worker(kcoord, group, house.listener("w2"), assignors=[good]):
            await house.until(lambda house: house.running.keys() == resources(ALL))
    assert bad.threads
    assert good.threads
    assert complaint in caplog.text


class FailsFirst(Listening):
    """Its first call raises."""

    fails = True

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        await super().on_assigned(resources)
        if self.fails:
            self.fails = False
            raise ValueError("no such file")


async def test_what_goes_wrong_in_a_worker_is_seen_by_who_looks_at_the_group(
    kcoord: Kcoord, group: str, observer: Observer
) -> None:
    house, there = House(), [Configured(1, resources("a"))]

    async def shown(trouble: str | None) -> None:
        while [each.trouble for each in (await observer.describe()).members] != [trouble]:
            await asyncio.sleep(0.05)

    def configured() -> Configured:
        if there:
            return there[-1]
        raise OSError("the disk is gone")

    async with worker(kcoord, group, FailsFirst(house, "w1", 0), configured=configured) as first:
        failed = "on_assigned failed for a: ValueError: no such file"
        await shown(failed)
        first.trouble("job a", "is behind\nby an hour")
        await shown(f"{failed}; job a is behind by an hour")
        first.trouble("job a", None)
        there[:] = [Configured(2, resources("a b"))]
        await shown(None)
        there[:] = [Configured(2, resources("a b c"))]
        await shown("`configured` has changed, but its offset has not grown: it is 2, and was 2")
        there[:] = [Configured(3, resources("a b"))]
        await shown(None)
        there.clear()
        await shown("`configured` or an assignor's metadata failed: OSError: the disk is gone")
        there[:] = [Configured(2, resources("a b"))]
        await shown(None)


async def test_an_event_loop_that_was_blocked_is_seen_by_who_looks_at_the_group(
    kcoord: Kcoord, group: str, observer: Observer
) -> None:
    async with worker(kcoord, group, House().listener("w1"), configured=lambda: Configured(1, resources("a"))) as first:
        await first.joined()
        time.sleep(BLOCKED_MS / 1000 + 1.5)  # it counts from the next look on, which is due within a second

        async def is_shown() -> bool:
            [member] = (await observer.describe()).members
            return "the event loop was blocked for " in (member.trouble or "")

        await until(is_shown, "describe shows that the loop was blocked")


async def test_a_static_worker_leaves_its_place_behind_unless_it_is_to_go_for_good(
    kcoord: Kcoord, group: str, observer: Observer
) -> None:
    """CG-28"""
    house = House()
    async with worker(kcoord, group, house.listener("w1"), instance_id="i1") as first:
        await first.joined()
    (left,) = (await observer.describe()).members
    assert left.instance_id == "i1"
    async with worker(kcoord, group, house.listener("w1"), instance_id="i1") as again:
        await again.joined()
        with pytest.raises(WorkerError, match="UNRELEASED_INSTANCE_ID"):
            async with worker(kcoord, group, house.listener("w2"), instance_id="i1") as other:
                await other.wait()
        await again.close(permanent=True)
    assert (await observer.describe()).members == []


async def test_a_revocation_that_hangs_is_cut_short_when_the_coordinator_puts_the_worker_out(
    kcoord: Kcoord, group: str
) -> None:
    """CG-5, CG-7"""
    house = House()
    slow = house.listener("w1", stops_in=3600)
    async with worker(kcoord, group, slow, rebalance_timeout=1.0, close_timeout=1.0) as first:
        await house.shared_by("w1", all_of=ALL)
        async with worker(kcoord, group, house.listener("w2"), close_timeout=1.0):
            await house.until(lambda _: bool(slow.lost))
            assert slow.lost == [" ".join(sorted(ALL.split()))]
            await first.joined()
            await house.shared_by("w1", "w2", all_of=ALL)
    assert not house.twice


async def test_a_close_that_takes_too_long_abandons(kcoord: Kcoord, group: str) -> None:
    house = House()
    slow = house.listener("w1", stops_in=3600)
    async with worker(kcoord, group, slow, close_timeout=0.5):
        await house.shared_by("w1", all_of=ALL)
    assert slow.lost
    assert not house.running


async def test_the_last_resort_is_called_where_a_blocked_loop_cannot_stop_anything(kcoord: Kcoord, group: str) -> None:
    """CG-8: the limit of what a library can do."""
    house, called = House(), list[tuple[frozenset[Resource], int]]()

    def last_resort(resources: frozenset[Resource]) -> None:
        called.append((resources, threading.get_ident()))

    async with worker(kcoord, group, house.listener("w1"), last_resort=last_resort, close_timeout=1.0) as first:
        await house.shared_by("w1", all_of=ALL)
        deadline = time.monotonic() + 60
        while not called and time.monotonic() < deadline:
            time.sleep(0.1)  # blocks the loop, and with it the heartbeats
        assert [what for what, _ in called] == [resources(ALL)]
        assert called[0][1] != threading.get_ident()
        assert not first.may_run(("a", 0))
        await house.until(lambda house: not house.running)


@pytest.mark.parametrize("kcoord", [{"group.connect.max.size": 1}], indirect=True)
async def test_who_may_not_be_a_member_is_told_why(kcoord: Kcoord, group: str) -> None:
    house = House()
    async with worker(kcoord, group, house.listener("w1")) as first:
        await first.joined()
        with pytest.raises(WorkerError, match="GROUP_MAX_SIZE_REACHED: the group has 1 members already"):
            async with worker(kcoord, group, house.listener("w2")) as second:
                await second.joined()
    with pytest.raises(WorkerError, match="UNSUPPORTED_ASSIGNOR: there is no assignor best"):
        async with worker(kcoord, f"{group}-other", house.listener("w3"), server_assignor="best") as third:
            await third.joined()


@pytest.mark.parametrize("kcoord", [{"group.connect.enable": "false"}], indirect=True)
async def test_a_broker_without_connect_groups_is_named(kcoord: Kcoord, group: str) -> None:
    with pytest.raises(WorkerError, match="UNSUPPORTED_VERSION: the broker does not speak this protocol"):
        async with worker(kcoord, group, House().listener("w1")) as first:
            await first.joined()


async def test_what_cannot_be_right_is_refused_at_once() -> None:
    listener = House().listener("w1")
    for options, message in (
        ({"bootstrap_servers": "nowhere"}, "bootstrap_servers: 'nowhere' is no HOST:PORT"),
        ({"security": {"security.protocol": "SSLL"}}, "security.protocol=SSLL"),
        ({"assignors": [CooperativeAssignor()], "server_assignor": "uniform"}, "cannot be used together"),
        ({"group_protocol": "legacy"}, "'legacy' is neither 'connect' nor 'classic'"),
    ):
        arguments: dict[str, Any] = {"bootstrap_servers": "localhost:9092", "listener": listener} | options
        with pytest.raises(WorkerError, match=message):
            Worker(group_id="g", **arguments)


async def test_the_former_name_of_a_protocol_works_with_a_warning(kcoord: Kcoord, group: str) -> None:
    house = House()
    with pytest.warns(DeprecationWarning, match="write group_protocol='classic'"):
        former = worker(kcoord, group, house.listener("w1"), "generic")
    async with former, worker(kcoord, group, house.listener("w2"), "classic", connect_protocol="default"):
        await house.shared_by("w1", "w2", all_of=ALL)
    assert not house.twice


async def test_requests_posted_together_are_answered_in_order(kcoord: Kcoord) -> None:
    """What the worker counts on: a release may be posted behind a held heartbeat."""
    connection = await Connection.open("127.0.0.1", kcoord.port, Security())
    order: list[int] = []
    futures = [connection.post(HeartbeatRequest(group_id="none", member_id=str(number))) for number in range(20)]
    for number, future in enumerate(futures):
        future.add_done_callback(partial(_note, order, number))
    await asyncio.gather(*futures)
    assert order == list(range(20))
    await connection.close()


def _note(order: list[int], number: int, _: object) -> None:
    order.append(number)
