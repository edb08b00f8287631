"""A leader that joins again and again for nothing waits, and the others of its group are left alone."""

from __future__ import annotations

import asyncio

from kcoord.group.state.repeated_rebalances import FREE
from kcoord.protocol.errors import ErrorCode
from tests.gateway.scripted import ScriptedMember, until
from tests.kafka.kcoord_process import Kcoord

GROUP = "storm"


async def follow(member: ScriptedMember, done: asyncio.Event) -> None:
    """Heartbeat, and join whenever that says so, as clients do; the last request is answered before it ends."""
    while not done.is_set():
        error = await member.heartbeat()
        assert error in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
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
    both_are_in, has_stormed = asyncio.Event(), asyncio.Event()
    joins = asyncio.create_task(follower.join())
    rejoins = asyncio.create_task(follow(leader, both_are_in))  # it hears of the newcomer
    await joins
    await follower.sync()
    both_are_in.set()
    await rejoins
    assert leader.leads
    follows, storms = (asyncio.create_task(each) for each in (follow(follower, has_stormed), joins_for_nothing(leader)))

    async def is_told() -> bool:
        return f"group {GROUP}: the last {FREE} rebalances changed nothing" in kcoord.log.read_text()

    await until(is_told, "the storm is in the log")
    generation = leader.generation
    assert generation <= 2 + FREE + 4, "it was noticed soon"
    for task in (follows, storms):
        assert not task.done(), task
    has_stormed.set()
    await follows
    assert await follower.heartbeat() in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
    storms.cancel()
