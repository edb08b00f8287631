"""Does what was acknowledged outlive trouble between kcoord and Kafka, while all clients are still there?

Each instance has its own proxy to Kafka. Each case runs under the load of `load.py`; in the end the checker judges.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import attrs
import pytest

from tests.faults.instances import INSTANCES_SESSION_MS, Instances, loaded
from tests.faults.length import LONG, has_long_form, rounds
from tests.faults.proxy import KafkaProxy
from tests.faults.stage import SESSION_MS, Stage
from tests.kafka.cluster import KafkaCluster
from tests.kafka.lost_transaction_ends import TRIES, lost_ends

BOTH_SESSIONS_S = (SESSION_MS + INSTANCES_SESSION_MS) / 1000


@attrs.frozen
class Scene:
    """Instances, each behind a proxy, under load."""

    on: Stage
    all_: Instances
    proxies: list[KafkaProxy]

    async def of_some_owner(self) -> KafkaProxy:
        """The proxy of who coordinates a group, chosen at random."""
        group = self.on.random.choice(self.on.load.groups).onlooker.caller.group
        return self.proxies[self.all_.kcoords.index(await self.all_.owner(group))]

    async def lasts(self, seconds: float) -> None:
        """The fault lasts so long, and a little more or less."""
        await asyncio.sleep(seconds * (1 + self.on.random.random() / 4))


@asynccontextmanager
async def scene(kafka: KafkaCluster, folder: Path, number: int = 2) -> AsyncIterator[Scene]:
    """So many instances, each behind its own proxy, under load."""
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(KafkaProxy.opened(kafka.ports)) for _ in range(number)]
        all_, on = await stack.enter_async_context(
            loaded(kafka, folder, number, by=lambda instance: proxies[instance].bootstrap)
        )
        yield Scene(on, all_, proxies)


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One that may be stopped."""
    return start_kafka()


@has_long_form
@pytest.mark.parametrize(
    "silent", [True, False] if LONG else [True], ids=lambda silent: "silent" if silent else "reset"
)
async def test_an_instance_is_cut_from_kafka_only(kafka: KafkaCluster, tmp_path: Path, silent: bool) -> None:
    """Its clients are still there: for longer than the instances' sessions and the members' own. When connections are
    only silent, what it had sent arrives after the others have taken over.
    """
    async with scene(kafka, tmp_path) as here:
        for number in range(rounds(1, 5)):
            await here.on.go_on()
            proxy = await here.of_some_owner()
            with here.on.history.during(f"cut {number}: {here.proxies.index(proxy)}"):
                if silent:
                    proxy.silence()
                else:
                    proxy.cut()
                await here.lasts(BOTH_SESSIONS_S)
                await here.on.go_on()
                proxy.mend()
        await here.on.go_on()


@has_long_form
async def test_connections_to_kafka_are_cut_and_slow(kafka: KafkaCluster, tmp_path: Path) -> None:
    """Now this one, now that one, now all; shorter and longer than any timeout."""
    async with scene(kafka, tmp_path) as here:
        random = here.on.random
        for number in range(rounds(3, 100)):
            hit = here.proxies if random.random() < 0.3 else [random.choice(here.proxies)]
            kind = random.choice(["cut", "silent", "slow"])
            with here.on.history.during(f"{kind} {number}: {[here.proxies.index(proxy) for proxy in hit]}"):
                for proxy in hit:
                    if kind == "cut":
                        proxy.cut()
                    elif kind == "silent":
                        proxy.silence()
                    else:
                        proxy.delay_s = random.choice([0.05, 0.3, 1.0])
                await asyncio.sleep(random.choice([0.2, 1.0, 4.0]))
                for proxy in hit:
                    proxy.mend()
                    proxy.delay_s = 0.0
            await here.on.go_on()


async def broker_restarts_and_is_gone(kafka: KafkaCluster, folder: Path) -> None:
    """Raises AssertionError early where a partition cannot be read any more by the broker's fault."""
    [broker] = kafka.ports
    lost_before = lost_ends(kafka)
    async with scene(kafka, folder) as here:
        await here.on.go_on()
        with here.on.history.during("restart of the broker"):
            await asyncio.to_thread(kafka.restart_broker, broker)
        await here.on.go_on()
        with here.on.history.during("kill of the broker"):
            await asyncio.to_thread(kafka.kill_broker, broker)
            await here.lasts(rounds(int(BOTH_SESSIONS_S), 60))
            await asyncio.to_thread(kafka.start_brokers, broker)
        await here.on.go_on()
        waits = any("waits for a transaction" in kcoord.log.read_text() for kcoord in here.all_.kcoords)
        assert not (waits and lost_ends(kafka) > lost_before), "the broker has lost the end of a transaction"


@pytest.mark.proof
async def test_the_broker_restarts_and_is_gone_for_long(kafka: KafkaCluster, tmp_path: Path) -> None:
    """What a broker spoils that loses the end of a transaction is told again."""
    for number in range(TRIES):
        lost_before = lost_ends(kafka)
        folder = tmp_path / f"try-{number}"
        folder.mkdir()
        try:
            await broker_restarts_and_is_gone(kafka, folder)
        except AssertionError:
            if lost_ends(kafka) == lost_before:
                raise
        else:
            return
    pytest.fail(f"the broker lost the end of a transaction {TRIES} times in a row")
