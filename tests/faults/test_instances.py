"""Do several instances over one topic keep what was acknowledged, whatever happens to one of them?

Each case runs under the load of `load.py`; in the end the checker judges what the clients wrote down.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.faults.history import Expired
from tests.faults.instances import INSTANCES_SESSION_MS, Instances, loaded, make_instance
from tests.faults.length import has_long_form, rounds
from tests.faults.stage import Stage
from tests.faults.wire import Wire
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port
from tests.kafka.wait import eventually


async def some_owner(on: Stage, all_: Instances) -> Kcoord:
    """Who coordinates a group, chosen at random."""
    group = on.random.choice(on.load.groups).onlooker.caller.group
    return await all_.owner(group)


@has_long_form
async def test_kill_9_of_the_owner(kafka: KafkaCluster, tmp_path: Path) -> None:
    async with loaded(kafka, tmp_path, reload=True) as (all_, on):
        for number in range(rounds(3, 50)):
            await on.go_on()
            owner = await some_owner(on, all_)
            on.history.note(f"kill {number}: {owner.folder.name}")
            owner.kill()
            if on.random.random() < 0.5:  # it comes back to its own ghost
                await on.go_on()
            await all_.start(owner)
        await on.go_on()


@has_long_form
async def test_the_owner_stands_still_for_longer_than_its_session(kafka: KafkaCluster, tmp_path: Path) -> None:
    """The zombie's answers do not lie: nothing that it acknowledges after the take-over is missing."""
    async with loaded(kafka, tmp_path) as (all_, on):
        for number in range(rounds(1, 10)):
            await on.go_on()
            owner = await some_owner(on, all_)
            on.history.note(f"freeze {number}: {owner.folder.name}")
            owner.process.freeze()
            await asyncio.sleep(INSTANCES_SESSION_MS / 1000 * (1.2 + on.random.random()))
            if on.random.random() < 0.5:
                await on.go_on()
            on.history.note(f"thaw {number}")
            owner.process.thaw()
        await on.go_on()


@has_long_form
async def test_the_ways_between_instances_are_cut_silent_and_refused(kafka: KafkaCluster, tmp_path: Path) -> None:
    """They go on with Kafka and with their clients. Who is refused is taken for dead, and is not; the fence decides."""
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(Wire.opened(free_port())) for _ in range(2)]

        def own(instance: int) -> dict[str, object]:
            wire = wires[instance]
            return {"internal.listen": f"127.0.0.1:{wire.to}", "internal.advertise": wire.address}

        _, on = await stack.enter_async_context(loaded(kafka, tmp_path, own=own, reload=True))
        for number in range(rounds(3, 50)):
            await on.go_on()
            hit = wires if on.random.random() < 0.3 else [on.random.choice(wires)]
            how = ("refused", "cut", "silent")[number % 3]
            with on.history.during(f"{how} {number}: {[wires.index(wire) for wire in hit]}"):
                for wire in hit:
                    if how == "cut":
                        await wire.cut()
                    elif how == "silent":
                        wire.silence()
                    else:
                        await wire.refuse()
                await asyncio.sleep(on.random.choice([0.2, 1.0, 4.0]))
                await on.go_on()
                for wire in hit:
                    await wire.mend()
        await on.go_on()


async def test_two_instances_of_one_id(kafka: KafkaCluster, tmp_path: Path) -> None:
    """The elder has the id; the newer gets nothing, and says why, until the elder is gone."""
    async with loaded(kafka, tmp_path) as (all_, on):
        await on.go_on()
        predecessor = all_.kcoords[0]
        name = str(predecessor.settings["log.topic"]).removeprefix("topic-")
        newer = make_instance(kafka, tmp_path, 0, name)
        try:
            newer.start(wait=False)
            await asyncio.to_thread(
                eventually, lambda: "ERROR" in newer.log.read_text(), "the newer says what is wrong"
            )
            await on.go_on()
            on.history.note("kill the elder")
            predecessor.kill()
            all_.kcoords[0] = newer
            on.load.bootstrap.append(all_.bootstrap[0])
            await on.go_on()
            async with asyncio.timeout(180):
                while not {await all_.owner_port(group.onlooker.caller.group) for group in on.load.groups} >= {
                    newer.port
                }:
                    await asyncio.sleep(0.2)
            await on.go_on()
        finally:
            newer.remove()


@pytest.mark.proof
async def test_a_rolling_restart_costs_nobody_anything(kafka: KafkaCluster, tmp_path: Path) -> None:
    """Planned stops: no member's session ends, and no client sees an error that its user would see.

    At each commit `tests/release/test_rolling_upgrade.py` asks the same of two instances, from release to release.
    """
    async with loaded(kafka, tmp_path, 3) as (all_, on):
        await on.go_on()
        for number in range(5):
            for kcoord in all_.kcoords:
                on.history.note(f"stop {number}: {kcoord.folder.name}")
                assert await asyncio.to_thread(kcoord.stop) == 0
                await on.go_on(5)
                await all_.start(kcoord)
                await on.go_on(5)
        assert not [event for event in on.history.events if isinstance(event, Expired)]
