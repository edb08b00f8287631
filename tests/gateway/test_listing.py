"""What do listing, describing and deleting say of groups here and there? GW-13, GW-17, GW-18."""

import itertools
import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kcoord.gateway.handlers.listing import _in_turns
from kcoord.group.request_slices import ROWS
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.list_groups_response import ListedGroup
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    OffsetFetchRequest,
)
from tests.gateway.scripted import ScriptedMember, ask, connect, describe, forgetting, subscription, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:
    """kcoord that takes groups whose name has "-own" in it."""
    return start_kcoord(kafka, ".*-own.*")


async def stable(kcoord: Kcoord, group: str, **options: Any) -> ScriptedMember:
    member = await ScriptedMember.at(kcoord.bootstrap, group, **options)
    await member.join_and_sync()
    return member


async def listed(
    client: Client, version: int = 5, states: tuple[str, ...] = (), types: tuple[str, ...] = ()
) -> dict[str, tuple[str, str, str]]:
    """Protocol type, state and type of the groups that are listed; those are distinct."""
    answer = await ask(client, ListGroupsRequest(states_filter=[*states], types_filter=[*types]), version)
    assert answer.error_code == ErrorCode.NONE
    names = [each.group_id for each in answer.groups]
    assert len(names) == len(set(names))
    return {each.group_id: (each.protocol_type, each.group_state, each.group_type) for each in answer.groups}


async def test_rule_17_an_owned_group_is_listed_once_with_its_own_state(
    kcoord: Kcoord, direct: Client, name: str
) -> None:
    own, other = f"{name}-own", f"{name}-other"
    member = await stable(kcoord, own, protocol_type="connect")
    await stable(kcoord, other)
    seen = await listed(member.client)
    assert (seen[own], seen[other]) == (("connect", "Stable", "classic"), ("consumer", "Stable", "classic"))
    assert (await listed(direct))[own] == ("connect", "Stable", "classic")
    for version in range(6):
        assert (await listed(member.client, version))[own][0] == "connect"

    await member.join()  # between join and sync: only kcoord knows that
    assert (await listed(member.client))[own] == ("connect", "CompletingRebalance", "classic")
    assert (await listed(direct))[own][1] == "Stable"


async def test_rule_17_filters_are_about_kcoords_view(kcoord: Kcoord, name: str) -> None:
    own, other = f"{name}-own", f"{name}-other"
    member = await stable(kcoord, own)
    await stable(kcoord, other)
    await member.join()
    for states, types, expected in (
        (("CompletingRebalance",), (), {own}),
        (("completingrebalance",), (), {own}),
        (("Stable",), (), {other}),
        (("Stable", "CompletingRebalance"), (), {own, other}),
        (("Dead",), (), set()),
        ((), ("classic",), {own, other}),
        ((), ("Consumer",), set()),
        (("Empty",), ("Classic",), set()),
    ):
        seen = await listed(member.client, states=states, types=types)
        assert seen.keys() & {own, other} == expected, (states, types)


async def test_others_have_their_turn_while_a_long_list_is_put_together() -> None:
    ticks = itertools.count()
    turns = TurnQueue(clock=lambda: float(next(ticks)))  # by this clock each look at it is longer than a turn may be
    groups = [ListedGroup(f"g{at}") for at in range(3 * ROWS + 1)]
    parts = [part async for part in _in_turns(turns, groups)]
    assert [len(part) for part in parts] == [ROWS, ROWS, ROWS, 1]
    assert [each for part in parts for each in part] == groups
    assert turns.slices > 0


@pytest.mark.parametrize("version", range(7))
async def test_rule_18_describing_groups_of_both_kinds_at_once(kcoord: Kcoord, name: str, version: int) -> None:
    own, second, other, nobody = f"{name}-own", f"{name}-own-2", f"{name}-other", f"{name}-own-nobody"
    member = await stable(kcoord, own)
    await stable(kcoord, second, protocol_type="connect")
    await stable(kcoord, other)
    wanted = [other, own, nobody, second]
    request = DescribeGroupsRequest(groups=wanted, include_authorized_operations=version >= 3)
    answer = await ask(member.client, request, version)
    assert [each.group_id for each in answer.groups] == wanted
    by_name = {each.group_id: each for each in answer.groups}
    assert [(each.group_state, each.protocol_type) for each in (by_name[own], by_name[second], by_name[other])] == [
        ("Stable", "consumer"),
        ("Stable", "connect"),
        ("Stable", "consumer"),
    ]
    assert by_name[nobody].group_state == "Dead"
    if version >= 3:
        assert by_name[own].authorized_operations == by_name[other].authorized_operations != -(2**31)


async def test_rule_18_finding_and_fetching_for_groups_of_both_kinds_at_once(
    kcoord: Kcoord, kafka: KafkaCluster, name: str, topic: str
) -> None:
    own, other = f"{name}-own", f"{name}-other"
    member, upstreams = await stable(kcoord, own), await stable(kcoord, other)
    assert [await member.commit(topic, 11), await upstreams.commit(topic, 12)] == [ErrorCode.NONE] * 2
    found = await ask(member.client, FindCoordinatorRequest(key_type=0, coordinator_keys=[other, own]))
    assert [(each.key, each.error_code) for each in found.coordinators] == [(other, 0), (own, 0)]
    for member_id, epoch in ((None, -1), (member.member_id, member.generation)):
        groups = [
            OffsetFetchRequestGroup(group_id=own, member_id=member_id, member_epoch=epoch, topics=None),
            OffsetFetchRequestGroup(group_id=other, topics=None),
        ]
        fetched = await ask(member.client, OffsetFetchRequest(groups=groups, require_stable=True), 9)
        offsets = {each.group_id: each.topics[0].partitions[0].committed_offset for each in fetched.groups}
        assert offsets == {own: 11, other: 12}


async def test_rule_13_and_18_deleting_groups_of_both_kinds_at_once(
    kcoord: Kcoord, direct: Client, kafka: KafkaCluster, name: str, topic: str
) -> None:
    own, busy, other, nobody = f"{name}-own", f"{name}-own-busy", f"{name}-other", f"{name}-own-nobody"
    leaver, upstreams = await stable(kcoord, own), await stable(kcoord, other)
    await leaver.commit(topic, 3)
    await leaver.leave()  # its sentinel may still be there
    await upstreams.leave()
    member = await stable(kcoord, busy)
    request = DeleteGroupsRequest(groups_names=[other, busy, own, nobody])
    answer = await ask(member.client, request)
    assert {each.group_id: ErrorCode(each.error_code) for each in answer.results} == {
        own: ErrorCode.NONE,
        busy: ErrorCode.NON_EMPTY_GROUP,
        other: ErrorCode.NONE,
        nobody: ErrorCode.GROUP_ID_NOT_FOUND,
    }
    assert kafka.committed(own) == {}
    assert [(await describe(direct, group)).group_state for group in (own, other)] == ["Dead", "Dead"]
    assert await member.heartbeat() == ErrorCode.NONE


async def test_rule_13_deleting_offsets_of_a_group_with_members(
    kcoord: Kcoord, kafka: KafkaCluster, direct: Client, name: str, topic: str
) -> None:
    """Those that members subscribe to stay; for the others the sentinel steps aside, and comes back."""
    own = f"{name}-own"
    unused = kafka.create_topic(f"unused-{name}")
    member = await stable(kcoord, own, metadata=subscription(topic))
    assert [await member.commit(topic, 3), await member.commit(unused, 4)] == [ErrorCode.NONE] * 2

    answer = await ask(member.client, forgetting(own, topic, unused))
    assert {each.name: ErrorCode(each.partitions[0].error_code) for each in answer.topics} == {
        topic: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        unused: ErrorCode.NONE,
    }
    assert kafka.committed(own) == {(topic, 0): 3}
    assert await member.heartbeat() == ErrorCode.NONE
    assert await member.commit(topic, 5) == ErrorCode.NONE
    assert [each.group_instance_id for each in (await describe(direct, own)).members] == ["kcoord"]
    assert kafka.committed(own) == {(topic, 0): 5}

    worker = await stable(kcoord, f"{own}-connect", protocol_type="connect")
    refused = await ask(worker.client, forgetting(f"{own}-connect", topic))
    assert ErrorCode(refused.error_code) == ErrorCode.NON_EMPTY_GROUP


async def test_rule_13_offsets_of_an_empty_group_are_as_on_kafka(
    kcoord: Kcoord, kafka: KafkaCluster, name: str, topic: str
) -> None:
    own = f"{name}-own"
    member = await stable(kcoord, own)
    await member.commit(topic, 3)
    await member.leave()

    async def deleted() -> bool:
        answer = await ask(member.client, forgetting(own, topic))
        return not answer.error_code and not answer.topics[0].partitions[0].error_code

    assert await until(deleted, "offsets deleted")
    assert kafka.committed(own) == {}


async def test_a_group_call_that_is_cut_or_lies_ends_its_own_connection_only(kcoord: Kcoord, name: str) -> None:
    member = await stable(kcoord, f"{name}-own")
    liar = await connect(kcoord.bootstrap)
    header = struct.pack(">hhih", 12, 4, 1, -1) + b"\0"  # Heartbeat v4
    body = b"\xff\xff\xff\xff\x0f"  # a group id of 4 GiB
    liar.writer.write(struct.pack(">i", len(header + body)) + header + body)
    assert await liar.read_frame() == b""
    assert await member.heartbeat() == ErrorCode.NONE


MANY = 40
"""Groups of one request: kcoord carries out so many in slices."""
GROUP, DELAY = 32, "connect.rebalance.delay.ms"


def changes(groups: Sequence[str], value: str = "7000") -> IncrementalAlterConfigsRequest:
    """Sets one of kcoord's settings of each group."""
    setting = AlterableConfig(name=DELAY, config_operation=0, value=value)
    return IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=GROUP, resource_name=each, configs=[setting]) for each in groups]
    )


@pytest.mark.parametrize("own", [None, 0, 17, MANY - 1])
async def test_many_groups_are_described_in_their_order_whoever_has_them(
    kcoord: Kcoord, name: str, own: int | None
) -> None:
    """A batch goes in slices as soon as one of its groups is kcoord's; else the cluster answers all of it."""
    groups = [f"{name}-{at}" for at in range(MANY)]
    if own is not None:
        groups[own] = f"{name}-own"
        await stable(kcoord, groups[own])
    answer = await ask(await connect(kcoord.bootstrap), DescribeGroupsRequest(groups=groups))
    states = {each.group_id: each.group_state for each in answer.groups}
    assert states.keys() == set(groups)
    assert [group for group in groups if states[group] == "Stable"] == ([] if own is None else [groups[own]])
    assert own is None or [*states] == groups


async def delays(client: Client, groups: Sequence[str]) -> dict[str, str | None]:
    """What `changes` changes, by group."""
    asked = [
        DescribeConfigsResource(resource_type=GROUP, resource_name=each, configuration_keys=[DELAY]) for each in groups
    ]
    told = await ask(client, DescribeConfigsRequest(resources=asked))
    return {each.resource_name: config.value for each in told.results for config in each.configs}


async def test_who_changes_many_groups_hears_which_were_named_twice(kcoord: Kcoord, name: str) -> None:
    groups = [f"{name}-own-{at}" for at in range(MANY)]
    client = await connect(kcoord.bootstrap)
    answer = await ask(client, changes([*groups, groups[3]]))
    errors = {each.resource_name: ErrorCode(each.error_code) for each in answer.responses}
    assert errors.pop(groups[3]) == ErrorCode.INVALID_REQUEST
    assert set(errors.values()) == {ErrorCode.NONE}
    values = await delays(client, groups)
    assert values.pop(groups[3]) != "7000"
    assert set(values.values()) == {"7000"}


async def test_a_change_of_many_groups_that_names_too_much_changes_nothing(kcoord: Kcoord, name: str) -> None:
    groups = [f"{name}-own-{at}" for at in range(MANY)]
    request = changes(groups)
    request.resources[-1].configs *= 20_001
    client = await connect(kcoord.bootstrap)
    with pytest.raises(AssertionError, match="the server closed the connection"):
        await ask(client, request)
    values = await delays(await connect(kcoord.bootstrap), groups)
    assert "7000" not in values.values()
