"""Is nobody kept waiting in a release: by members that start again, or that come by another instance? AD-15."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kcoord.protocol.errors import ErrorCode
from tests.gateway.entries import Entry, entries
from tests.gateway.scripted import ScriptedMember, connect, coordinator_port, until
from tests.gateway.test_adoption import assigned, entry, goes, owned_by, stable  # noqa: F401 (`entry` is a fixture)
from tests.gateway.test_taking import is_27
from tests.kafka.cluster import KafkaCluster

PATIENT_MS = 3_600_000
"""A rebalance timeout: so long kcoord's member waits for all of them."""


async def test_a_static_member_that_starts_again_in_a_release_is_not_waited_for(
    entry: Entry,  # noqa: F811
    name: str,
) -> None:
    """It comes without an id, by its instance id alone; two newcomers come meanwhile."""
    patient = {"rebalance_ms": PATIENT_MS}
    first, second = [await ScriptedMember.at(entry.bootstrap, name, instance=each, **patient) for each in ("a", "b")]
    await stable(first, second)
    await owned_by(await connect(entry.port), name, "cluster")

    async def is_open() -> bool:
        return entry.gateway.releases.is_open(name)

    await until(is_open, "the release has begun")
    again = await ScriptedMember.at(entry.bootstrap, name, instance="b", **patient)
    newcomers = [await ScriptedMember.at(entry.bootstrap, name) for _ in range(2)]
    await asyncio.gather(*(each.join() for each in (again, *newcomers)), goes(first))
    assert len({each.generation for each in (first, again, *newcomers)}) == 1


async def test_members_by_two_instances_are_released_together(kafka: KafkaCluster, tmp_path: Path, name: str) -> None:
    """No instance sees the other one's JoinGroups; the sentinel leaves once the cluster has as many as there were."""
    async with entries(kafka, tmp_path, at={1: 0}) as both:
        members = []
        for each in both:
            await coordinator_port(each.bootstrap, name)
            await until(lambda each=each: has_port(each), "the port of the broker is open")  # type: ignore[misc]
            members.append(await each.member(name, rebalance_ms=PATIENT_MS))
        first, second = members
        await first.join_and_sync()
        joining = asyncio.create_task(second.join())
        await until(lambda: is_27(first), "the first is told of the second")
        await asyncio.gather(joining, first.join())
        given = {each.member_id: assigned(each) for each in members}
        await asyncio.gather(*(each.sync(given if each.leads else {}) for each in members))
        await owned_by(await connect(both[0].port), name, "cluster")
        await asyncio.gather(*map(goes, members))
        assert first.generation == second.generation
        await asyncio.gather(*(each.sync(given if each.leads else {}) for each in members))
        assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2


async def has_port(of: Entry) -> bool:
    return of.gateway.brokers.has_port(1)
