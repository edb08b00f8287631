"""Do commands say that a group is the cluster's, and which members keep it there? AD-6."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.cli.calls.group_ownership import NAMED, Ownership
from kcoord.group_owner_words import DIRECT, ELSEWHERE, THROUGH_INSTANCE
from kcoord.protocol.generated.connect_group_describe_response import Member
from tests.cli.run_cli import Outcome, kcoord
from tests.gateway.scripted import ScriptedMember, close_all
from tests.gateway.test_cluster_groups import join_among
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord

GROUP, OTHER = "owner-fleet", "another-group"
SESSION_MS = 600_000
"""Nobody sends heartbeats while commands run."""


@pytest.fixture(scope="module")
def front(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A kcoord before Kafka that takes groups by one prefix."""
    settings = {"group.initial.rebalance.delay.ms": 0, "gateway.sentinel.grace.ms": 200}
    process = Kcoord(tmp_path_factory.mktemp("front"), kafka.bootstrap, ("owner-.*",), settings).start()
    yield process
    process.remove()


async def run(bootstrap: str, *arguments: object) -> Outcome:
    """A command, while the test's own members stay connected."""
    return await asyncio.to_thread(kcoord, *arguments, "--bootstrap-server", bootstrap)


@attrs.frozen
class Fleet:
    """A Connect worker at the cluster, and one that comes through kcoord; and a group that is not kcoord's to take."""

    there: ScriptedMember
    here: ScriptedMember


@pytest.fixture
async def fleet(kafka: KafkaCluster, front: Kcoord) -> AsyncIterator[Fleet]:
    options = {"protocol_type": "connect", "protocol": "sessioned", "session_ms": SESSION_MS}
    there = await ScriptedMember.at(kafka.bootstrap, GROUP, **options)
    await there.join_and_sync()
    here = await ScriptedMember.at(front.bootstrap, GROUP, **options)
    await join_among(here, there)
    other = await ScriptedMember.at(kafka.bootstrap, OTHER, session_ms=SESSION_MS)
    await other.join_and_sync()
    yield Fleet(there, here)
    for each in (there, here, other):
        await each.leave()
    await close_all()


async def test_a_fleet_of_which_one_has_come(kafka: KafkaCluster, front: Kcoord, fleet: Fleet, tmp_path: Path) -> None:
    listed = await run(front.bootstrap, "groups", "list")
    rows = {line.split()[0]: line for line in listed.out.splitlines()}
    assert rows["GROUP"].endswith("COORDINATED BY")
    assert rows[GROUP].endswith("the cluster, 1 of 2 members comes through kcoord")
    assert rows[OTHER].endswith("   the cluster")
    told = {each["group"]: each for each in json.loads((await run(front.bootstrap, "groups", "list", "--json")).out)}
    counts = ("coordinated_by", "members_through_kcoord", "direct_members")
    assert [told[GROUP][each] for each in counts] == ["cluster", 1, 1]
    assert [told[OTHER][each] for each in counts] == ["cluster", None, None]

    described = await run(front.bootstrap, "groups", "describe", GROUP)
    head, why, direct, columns, *_ = described.out.splitlines()
    assert (described.code, head.split(",")[:2]) == (0, [f"{GROUP}: Stable", " connect"])
    assert why.startswith("the cluster has this group, not kcoord: 1 of 2 members comes through kcoord, 1 directly. ")
    assert "bootstrap.servers" in why
    assert direct == "connected directly: tester (127.0.0.1)"
    assert "CONNECTS" in columns
    [group] = json.loads((await run(front.bootstrap, "groups", "describe", GROUP, "--json")).out)
    assert {each["member"]: each["connects"] for each in group["members"]} == {
        fleet.there.member_id: "directly",
        fleet.here.member_id: "through kcoord",
    }
    assert [group[each] for each in counts] == ["cluster", 1, 1]

    done = await run(front.bootstrap, "config", "set", GROUP, "connect.classic.mode=individual")
    assert done.code == 0
    first, second = done.out.splitlines()
    assert first == f"{GROUP}: set connect.classic.mode=individual"
    assert second == f"{GROUP}: no effect now; kcoord keeps the setting until it has the group: {why}"
    rules = tmp_path / "rules.toml"
    rules.write_text("")
    refused = await run(front.bootstrap, "placement", "apply", GROUP, rules)
    assert (refused.code, refused.out, refused.err) == (1, "", f"kcoord: {GROUP}: {why}\n")

    at_broker = await run(kafka.bootstrap, "groups", "list")
    assert "COORDINATED BY" not in at_broker.out
    plain = await run(kafka.bootstrap, "groups", "describe", GROUP)
    assert "CONNECTS" not in plain.out
    assert "the cluster" not in plain.out


async def test_a_group_without_members_is_nobodys(kafka: KafkaCluster, front: Kcoord) -> None:
    member = await ScriptedMember.at(kafka.bootstrap, "owner-nobody", session_ms=SESSION_MS)
    await member.join_and_sync()
    await member.leave()
    await close_all()
    listed = await run(front.bootstrap, "groups", "list", "--json")
    [told] = [each for each in json.loads(listed.out) if each["group"] == "owner-nobody"]
    assert (told["state"], told["coordinated_by"]) == ("Empty", None)
    done = await run(front.bootstrap, "config", "set", "owner-nobody", "connect.rebalance.delay.ms=1000")
    assert done.out.count("\n") == 1


async def test_a_group_that_kcoord_has(front: Kcoord) -> None:
    member = await ScriptedMember.at(front.bootstrap, "owner-own", session_ms=SESSION_MS)
    await member.join_and_sync()
    listed = await run(front.bootstrap, "groups", "list")
    assert [line.split()[-1] for line in listed.out.splitlines() if line.startswith("owner-own ")] == ["kcoord"]
    described = await run(front.bootstrap, "groups", "describe", "owner-own")
    assert described.out.splitlines()[1].split()[:2] == ["MEMBER", "INSTANCE"]
    done = await run(front.bootstrap, "config", "set", "owner-own", "connect.rebalance.delay.ms=1000")
    assert done.out == "owner-own: set connect.rebalance.delay.ms=1000\n"
    await member.leave()
    await close_all()


def test_many_direct_members_are_counted() -> None:
    member: Any = Member(client_id="c", client_host="/h", state=DIRECT)
    [_, line] = Ownership("cluster", "why", (member,) * (NAMED + 3)).lines()
    assert line.endswith("c (h), c (h) and 3 more")


def test_one_of_several_instances_does_not_call_others_direct() -> None:
    members = tuple(
        Member(each, client_id=each, client_host="/h", state=each) for each in (THROUGH_INSTANCE, ELSEWHERE)
    )
    told = Ownership("cluster", "why", members)
    assert told.told() == "the cluster, 1 of 2 members comes through this instance of kcoord"
    assert [*told.lines()] == ["why", f"connected directly or through another instance: {ELSEWHERE} (h)"]
    assert [*told.ways().values()] == ["through this instance", "elsewhere"]
    assert told.as_json()["counted_by_one_instance"]
