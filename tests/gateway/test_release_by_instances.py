"""Is a group whose members come by several instances given back to the cluster? AD-15."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from kcoord.gateway.ownership.sentinel.admission import LetIn, Terms
from kcoord.gateway.ownership.sentinel.appearance import Appearance
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.upstream import Asker
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from tests.gateway.entries import Entry, entries
from tests.gateway.moving_groups import PATIENT_MS, assigned, goes, owned_by, stable
from tests.gateway.scripted import connect, coordinator_port, until
from tests.gateway.test_taking import is_27
from tests.kafka.cluster import KafkaCluster


async def test_members_by_two_instances_are_released_together(kafka: KafkaCluster, tmp_path: Path, name: str) -> None:
    """No instance sees the other one's JoinGroups; the sentinel leaves once the cluster has as many as there were."""
    async with entries(kafka, tmp_path, at={1: 0}) as both:
        members = []
        for each in both:
            await coordinator_port(each.bootstrap, name)
            await until(partial(has_port, each), "the port of the broker is open")
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


async def test_15_an_instance_whose_sentinel_was_taken_over_lets_its_members_in(
    kafka: KafkaCluster, tmp_path: Path, name: str
) -> None:
    """The other one has joined as a new member since, as after a death. The cluster fenced the former member at each
    attempt, and members that came by that instance, and only tried to join, waited for ever.
    """
    async with entries(kafka, tmp_path, at={1: 0}) as both:
        for each in both:
            await coordinator_port(each.bootstrap, name)
            await until(partial(has_port, each), "the port of the broker is open")
        first, second = [await each.member(name, rebalance_ms=PATIENT_MS) for each in both]
        await stable(first, second)
        for each in both:
            sentinel = each.sentinel(name)
            assert (
                await each.gateway.sentinels.speak(sentinel, partial(joins_as_a_new_member, sentinel)) == ErrorCode.NONE
            )
        assert both[0].sentinel(name).member_id != both[1].sentinel(name).member_id

        async def terms() -> LetIn:
            offered = JoinGroupRequestProtocol(name=first.protocol, metadata=first.metadata)
            return LetIn([offered], first.generation, {first.member_id, second.member_id})

        for each in both:
            sentinel = each.sentinel(name)
            letting_in = each.gateway.sentinels.speak(sentinel, partial(lets_in, sentinel, terms))
            assert await letting_in == ErrorCode.NONE


async def lets_in(sentinel: Sentinel, terms: Terms, asker: Asker) -> ErrorCode:
    return await sentinel.let_in(asker, terms)


async def joins_as_a_new_member(sentinel: Sentinel, asker: Asker) -> ErrorCode:
    """Join as a new member, by which it takes the sentinel over from the others."""
    return await sentinel.take(asker, sentinel.mark or 0, Appearance("consumer", {"some-topic": 1}))


async def has_port(of: Entry) -> bool:
    return of.gateway.brokers.has_port(1)
