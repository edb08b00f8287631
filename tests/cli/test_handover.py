"""`kcoord groups adopt` and `release`: what they say (AD-19), wait for and refuse, with members that live meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.cli.run_cli import Outcome, kcoord
from tests.gateway.live_member import LiveMember
from tests.gateway.scripted import close_all, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord

TOPIC = "handover"


@pytest.fixture(scope="module")
def front(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A kcoord that adopts nothing by itself."""
    kafka.create_topic(TOPIC)
    settings = {
        "group.initial.rebalance.delay.ms": 0,
        "gateway.sentinel.grace.ms": 200,
        "gateway.adopt": "manual",
    }
    process = Kcoord(tmp_path_factory.mktemp("front"), kafka.bootstrap, ("hand-.*",), settings).start()
    yield process
    process.remove()


async def run(bootstrap: str, *arguments: object) -> Outcome:
    return await asyncio.to_thread(kcoord, "groups", *arguments, "--bootstrap-server", bootstrap)


@pytest.fixture
async def members() -> AsyncIterator[list[LiveMember]]:
    """Those that the test starts; they leave at its end."""
    found: list[LiveMember] = []
    yield found
    await asyncio.gather(*(each.stop() for each in found))
    await close_all()


async def live(members: list[LiveMember], group: str, *bootstraps: str) -> None:
    """Members of a stable group, which begin at these addresses, one after the other."""
    for bootstrap in bootstraps:
        members.append(LiveMember(group, lambda at=bootstrap: at, TOPIC))  # type: ignore[misc]
        members[-1].start()

        async def are_stable() -> bool:
            return all(each.is_stable and each.committed for each in members)

        await until(are_stable, "the members are stable")


async def test_a_group_is_adopted_and_released(front: Kcoord, kafka: KafkaCluster, members: list[LiveMember]) -> None:
    group, at = "hand-whole", front.bootstrap
    kafka_first = await run(at, "release", group)
    assert kafka_first.code == 0, "nobody has it: the cluster may"
    await live(members, group, at, at)
    joins = [each.joins for each in members]
    assert "2 of 2 members come through kcoord" in (await run(at, "adopt", group, "--dry-run")).out

    done = await run(at, "adopt", group)
    assert (done.code, done.out.splitlines()[-1]) == (0, f"{group}: kcoord")
    assert [each.joins for each in members] == joins
    assert (await run(at, "adopt", group, "--dry-run")).out == f"{group}: nothing to do, coordinated by kcoord\n"

    planned = await run(at, "release", "--all", "--dry-run")
    assert planned.out.startswith(f"{group}: 2 members would join once more, at the cluster. Consumers keep their ")
    done = await run(at, "release", "--all")
    assert (done.code, done.out.splitlines()[-1]) == (0, f"{group}: the cluster, 2 of 2 members come through kcoord")
    assert (await run(at, "release", "--all")).out == "kcoord has no groups.\n"

    async def once_more() -> bool:
        return all(each.joins == before + 1 and each.is_stable for each, before in zip(members, joins, strict=True))

    await until(once_more, "each has joined once more")
    assert [each.answers["UNKNOWN_MEMBER_ID"] for each in members] == [0, 0]


async def test_who_is_missing_is_told(front: Kcoord, kafka: KafkaCluster, members: list[LiveMember]) -> None:
    await live(members, "hand-half", kafka.bootstrap, front.bootstrap)
    done = await run(front.bootstrap, "adopt", "hand-half", "--wait", "1")
    assert done.code == 1
    assert "1 of 2 members comes through kcoord, 1 directly. Point those at kcoord" in done.out
    assert (await run(front.bootstrap, "adopt", "hand-half", "--wait", "0")).code == 0, "kcoord does it when it can"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("release",), 2, "name groups, or give --all"),
        (("release", "g", "--all"), 2, "name groups, or give --all"),
        (("adopt",), 2, "Missing argument"),
        (("adopt", "g", "--wait", "-1"), 2, "--wait"),
    ],
)
async def test_a_wrong_command_line(front: Kcoord, arguments: tuple[str, ...], code: int, told: str) -> None:
    done = await run(front.bootstrap, *arguments)
    assert done.code == code
    assert told in done.err


async def test_a_broker_is_asked_and_knows_nothing_of_it(kafka: KafkaCluster, tmp_path: Path) -> None:
    done = await run(kafka.bootstrap, "release", "hand-broker")
    assert done.code == 1
    assert "is not a kcoord in front of a cluster" in done.err
