"""A leader that joins again and again for nothing waits, and the others of its group are left alone."""

from __future__ import annotations

import asyncio

from kcoord.group.repetition import FREE
from kcoord.protocol.errors import ErrorCode
from tests.gateway.scripted import ScriptedMember, until
from tests.kafka.kcoord_process import Kcoord

GROUP = "storm"


async def follow(member: ScriptedMember) -> None:
    """Heartbeat, and join whenever that says so, as clients do."""
    while True:
        error = await member.heartbeat()
        if error == ErrorCode.REBALANCE_IN_PROGRESS:
            await member.join()
            await member.sync()
        await asyncio.sleep(0.05)


async def joins_for_nothing(leader: ScriptedMember) -> None:
    while True:
        await leader.join()
        await leader.sync()


async def test_a_leader_that_joins_for_nothing_waits_alone(kcoord: Kcoord) -> None:
    leader = await ScriptedMember.at(kcoord.bootstrap, GROUP)
    await leader.join_and_sync()
    follower = await ScriptedMember.at(kcoord.bootstrap, GROUP)
    joins = asyncio.create_task(follower.join())
    rejoins = asyncio.create_task(follow(leader))  # it hears of the newcomer
    await joins
    await follower.sync()
    rejoins.cancel()
    assert leader.leads
    both = [asyncio.create_task(follow(follower)), asyncio.create_task(joins_for_nothing(leader))]

    async def is_told() -> bool:
        return f"group {GROUP}: the last {FREE} rebalances changed nothing" in kcoord.log.read_text()

    await until(is_told, "the storm is in the log")
    generation = leader.generation
    assert generation <= 2 + FREE + 4, "it was noticed soon"
    for task in both:
        assert not task.done(), task
        task.cancel()
    assert await follower.heartbeat() in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
