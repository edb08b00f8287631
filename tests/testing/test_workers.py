"""Does what a test does to workers do to them what it says?"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import threading
from pathlib import Path

import pytest

from kcoord.assign import Assignment, Group, Resource
from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.testing import Kcoord, TestingError, run
from kcoord.worker import Worker
from kcoord.worker.runner.runner import Runner
from tests.testing.listening import Listening, in_virtual_time

SESSION_S = 45
ALL = frozenset(("job", number) for number in range(4))


async def two(kcoord: Kcoord, **options: object) -> tuple[Listening, Listening]:
    """Two workers that share four jobs."""
    kcoord.configure({"job": 4})
    listeners = Listening(kcoord), Listening(kcoord)
    for name, listener in zip("ab", listeners, strict=True):
        await kcoord.start(name, listener, **options)
    await kcoord.settled()
    return listeners


@in_virtual_time
async def test_two_workers_share_what_is_configured(kcoord: Kcoord) -> None:
    a, b = await two(kcoord)
    assert kcoord.runs().keys() == {"a", "b"}
    assert kcoord.runs()["a"] | kcoord.runs()["b"] == ALL
    assert [len(each) for each in kcoord.runs().values()] == [2, 2]
    assert a.tasks.keys() == kcoord.runs()["a"]
    assert b.tasks.keys() == kcoord.runs()["b"]
    assert kcoord.now_s == 0, "what happens takes no time"


@in_virtual_time
async def test_an_assignment_moves_to_a_worker_that_joins(kcoord: Kcoord) -> None:
    a, _ = await two(kcoord)
    kcoord.configure({"job": 6})
    await kcoord.settled(within_s=5)
    before = kcoord.runs()
    assert [len(each) for each in before.values()] == [3, 3]
    c = Listening(kcoord)
    await kcoord.start("c", c)
    await kcoord.settled()
    assert [len(each) for each in kcoord.runs().values()] == [2, 2, 2]
    assert kcoord.runs()["a"] < before["a"]
    assert a.calls()[-1] == "revoked"


@in_virtual_time
async def test_what_is_configured_no_more_is_revoked(kcoord: Kcoord) -> None:
    await two(kcoord)
    kcoord.configure({("job", 0), ("other", -1)})
    await kcoord.settled(within_s=5)
    assert frozenset().union(*kcoord.runs().values()) == {("job", 0), ("other", -1)}


@in_virtual_time
async def test_virtual_time_passes(kcoord: Kcoord) -> None:
    a, _ = await two(kcoord)
    await kcoord.pass_s(300)
    assert kcoord.now_s == 300
    assert a.seconds == 2 * 300
    assert a.heard[-1][0] == 0, "nobody is disturbed, through many sessions"


@in_virtual_time
async def test_a_worker_that_stops_leaves_in_order(kcoord: Kcoord) -> None:
    a, _ = await two(kcoord)
    await kcoord.stop("a")
    await kcoord.settled()
    assert kcoord.now_s == 0
    assert kcoord.runs() == {"b": ALL}
    assert a.calls()[-1] == "revoked"
    assert not a.tasks
    await kcoord.stop("a")  # for the second time: nothing happens


def _runner(kcoord: Kcoord, folder: str, connector: str) -> Runner:
    """Two tasks of that connector, and the connector itself."""
    config = {"class": f"tests.worker.connectors:{connector}", "tasks": 2, "notes": os.devnull}
    file = Path(folder) / "connectors.toml"
    file.write_text("[one]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in config.items()))
    return Runner(file, kcoord.bootstrap_servers, kcoord.group)


# Killed


@in_virtual_time
async def test_nothing_of_a_killed_worker_runs(kcoord: Kcoord) -> None:
    a, _ = await two(kcoord)
    await kcoord.pass_s(10)
    before = a.seconds, list(a.heard), a.ended
    kcoord.kill("a")
    await kcoord.pass_s(300)
    assert (a.seconds, a.heard, a.ended) == before
    assert kcoord.runs() == {"b": ALL}


@in_virtual_time
async def test_a_killed_worker_is_replaced_when_its_session_has_ended(kcoord: Kcoord) -> None:
    _, b = await two(kcoord)
    kcoord.kill("a")
    await kcoord.pass_s(SESSION_S - 1)
    assert len(b.tasks) == 2
    await kcoord.pass_s(1)
    assert b.tasks.keys() == ALL


@in_virtual_time
async def test_a_name_is_free_again_when_its_worker_was_killed(kcoord: Kcoord) -> None:
    await two(kcoord)
    kcoord.kill("a")
    listener = Listening(kcoord)
    await kcoord.start("a", listener)
    await kcoord.settled()
    assert kcoord.runs().keys() == {"a", "b"}
    with pytest.raises(TestingError, match="there is a worker a already"):
        await kcoord.start("a", listener)


def test_what_a_killed_worker_has_left_is_cancelled_when_the_test_ends() -> None:
    async def main() -> None:
        async with Kcoord() as kcoord:
            a, _ = await two(kcoord)
            kcoord.kill("a")
            await kcoord.pass_s(2 * SESSION_S)
            ended, heard = a.ended, list(a.heard)
        assert a.ended == ended + 2
        assert a.heard == heard, "nothing else is done"

    run(main())


# Frozen and blocked


@in_virtual_time
async def test_nothing_of_a_frozen_worker_runs_until_it_is_thawed(kcoord: Kcoord) -> None:
    a, b = await two(kcoord)
    heard = list(a.heard)
    kcoord.freeze("a")
    await kcoord.pass_s(SESSION_S)
    assert (a.seconds, a.heard) == (0, heard)
    assert b.tasks.keys() == ALL, "its session has ended"
    assert len(kcoord.runs()["a"]) == 2, "as it knows it"
    kcoord.thaw("a")
    await kcoord.settled(within_s=5)
    assert a.calls()[-2:] == ["lost", "assigned"]
    assert len(a.tasks) == 2


@in_virtual_time
async def test_a_frozen_worker_keeps_its_connection(kcoord: Kcoord) -> None:
    a, b = await two(kcoord)
    kcoord.freeze("a")
    await kcoord.pass_s(SESSION_S / 3)
    kcoord.thaw("a")
    await kcoord.pass_s(300)
    assert "lost" not in a.calls()
    assert b.calls().count("assigned") == 1


@in_virtual_time
async def test_a_frozen_worker_may_run_nothing_after_its_session(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 4})
    worker = (await kcoord.start("a", Listening(kcoord))).worker
    kcoord.freeze("a")
    (one, *_) = kcoord.runs()["a"]
    assert worker.may_run(one)
    await kcoord.pass_s(SESSION_S)
    assert not worker.may_run(one)


@in_virtual_time
async def test_the_watchdog_of_a_blocked_worker_acts(kcoord: Kcoord) -> None:
    overrun: list[tuple[float, frozenset[Resource]]] = []
    a, _ = await two(kcoord, last_resort=lambda resources: overrun.append((kcoord.now_s, resources)))
    had, heard = kcoord.runs()["a"], list(a.heard)
    kcoord.block("a")
    await kcoord.pass_s(SESSION_S + 1)
    assert a.heard == heard
    assert [resources for _, resources in overrun] == [had]
    assert SESSION_S - 10 < overrun[0][0] <= SESSION_S + 0.25
    kcoord.thaw("a")
    await kcoord.settled()


@in_virtual_time
async def test_the_watchdog_of_a_frozen_worker_is_frozen_too(kcoord: Kcoord) -> None:
    overrun: list[frozenset[Resource]] = []
    await two(kcoord, last_resort=overrun.append)
    kcoord.freeze("a")
    await kcoord.pass_s(2 * SESSION_S)
    assert not overrun


@in_virtual_time
async def test_a_timer_that_was_cancelled_while_its_worker_was_frozen_is_not_called(kcoord: Kcoord) -> None:
    called: list[str] = []
    timers: list[asyncio.TimerHandle] = []

    async def program() -> None:
        loop = asyncio.get_running_loop()
        timers.extend(loop.call_later(delay, called.append, name) for delay, name in ((1, "first"), (2, "second")))
        await asyncio.sleep(100)

    await kcoord.run("a", program)
    kcoord.freeze("a")
    await kcoord.pass_s(5)
    timers[0].cancel()
    kcoord.thaw("a")
    await kcoord.pass_s(1)
    assert called == ["second"]


@in_virtual_time
async def test_a_runner_that_cannot_stop_in_time_ends_its_process_and_no_other(kcoord: Kcoord) -> None:
    with tempfile.TemporaryDirectory() as folder:
        runner = _runner(kcoord, folder, "Stubborn")
        await kcoord.run("a", lambda: runner.run(asyncio.Event()))
        await kcoord.until(lambda: kcoord.runs()["a"])
        kcoord.cut("a")
        await kcoord.until(lambda: "a" not in kcoord.runs(), within_s=SESSION_S + 3)
        assert "a: has ended its process, exit code 75" in kcoord.describe()


# Cut off


@in_virtual_time
async def test_a_worker_that_is_cut_off_stops_before_others_begin(kcoord: Kcoord) -> None:
    a, b = await two(kcoord)
    kcoord.cut("a")
    await kcoord.until(lambda: b.tasks.keys() == ALL, within_s=SESSION_S)
    assert a.calls()[-1] == "lost"
    assert a.heard[-1][0] < b.heard[-1][0]
    kcoord.mend("a")
    await kcoord.settled(within_s=20)
    assert len(a.tasks) == 2


@in_virtual_time
async def test_a_short_cut_disturbs_nobody(kcoord: Kcoord) -> None:
    a, b = await two(kcoord)
    kcoord.cut("a")
    await kcoord.pass_s(8)
    kcoord.mend("a")
    await kcoord.pass_s(300)
    assert "lost" not in a.calls()
    assert b.calls().count("assigned") == 1


# The coordinator


@in_virtual_time
async def test_a_restart_of_the_coordinator_disturbs_nobody(kcoord: Kcoord) -> None:
    await kcoord.configure_group({"connect.rebalance.delay.ms": 60_000})
    a, b = await two(kcoord, server_assignor="cooperative")
    before, port = kcoord.runs(), kcoord.bootstrap_servers
    heard = len(a.heard), len(b.heard)
    await kcoord.restart(down_s=5)
    await kcoord.pass_s(60)
    assert (kcoord.runs(), kcoord.bootstrap_servers) == (before, port)
    assert (len(a.heard), len(b.heard)) == heard
    kcoord.kill("a")
    await kcoord.until(lambda: b.tasks.keys() == ALL)
    assert 60 + 65 < kcoord.now_s <= 60 + 65 + SESSION_S, "the group's own delay has outlived the restart"


@in_virtual_time
async def test_an_absence_longer_than_a_session_stops_everything(kcoord: Kcoord) -> None:
    a, b = await two(kcoord)
    await kcoord.restart(down_s=2 * SESSION_S)
    assert a.calls()[-1] == b.calls()[-1] == "lost"
    await kcoord.settled(within_s=20)


# Programs, assignors, protocols


@in_virtual_time
async def test_a_program_makes_its_workers_itself(kcoord: Kcoord) -> None:
    listener = Listening(kcoord)
    has_ended: list[str] = []

    async def program() -> None:
        servers, group = kcoord.bootstrap_servers, kcoord.group
        try:
            async with Worker(servers, group, listener=listener, configured=kcoord.configured) as worker:
                await worker.wait()
        finally:
            has_ended.append("in order")

    kcoord.configure({"job": 4})
    tested = await kcoord.run("a", program)
    await kcoord.settled()
    assert tested.runs == ALL
    kcoord.freeze(tested)
    await kcoord.pass_s(5)
    assert listener.seconds == 0
    kcoord.thaw(tested)
    await kcoord.stop(tested)
    assert has_ended == ["in order"]
    assert listener.calls()[-1] == "revoked"
    assert kcoord.runs() == {}


@in_virtual_time
async def test_a_runner_of_connectors_is_a_program_like_others(kcoord: Kcoord) -> None:
    with tempfile.TemporaryDirectory() as folder:
        runner = _runner(kcoord, folder, "Noting")
        await kcoord.run("a", lambda: runner.run(asyncio.Event()))
        await kcoord.until(lambda: len(kcoord.runs()["a"]) == 3)
        await kcoord.stop("a")


@in_virtual_time
async def test_an_assignor_of_a_worker_computes_in_a_thread_while_time_stands_still(kcoord: Kcoord) -> None:
    threads: list[str] = []

    class Noting(CooperativeAssignor):
        def assign(self, group: Group) -> Assignment:
            threads.append(threading.current_thread().name)
            return super().assign(group)

    await two(kcoord, assignors=[Noting()])
    assert threads
    assert "MainThread" not in threads
    assert kcoord.now_s == 0


@in_virtual_time
async def test_workers_of_the_classic_protocol_can_be_tested(kcoord: Kcoord) -> None:
    a, _ = await two(kcoord, group_protocol="classic", scheduled_rebalance_max_delay=30)
    kcoord.kill("b")
    await kcoord.until(lambda: a.tasks.keys() == ALL, within_s=60)
    assert 30 <= a.heard[-1][0] <= 60


@in_virtual_time
async def test_a_static_worker_has_its_share_again_after_a_restart(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 4})
    for name in "ab":
        await kcoord.start(name, Listening(kcoord), instance_id=name)
    await kcoord.settled()
    before = kcoord.runs()
    await kcoord.stop("a")
    await kcoord.pass_s(20)
    await kcoord.start("a", Listening(kcoord), instance_id="a")
    await kcoord.settled()
    assert kcoord.runs() == before
