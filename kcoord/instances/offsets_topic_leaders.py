"""The leaders of the partitions of `__consumer_offsets` upstream: the brokers to which groups' clients connect.

kcoord asks the cluster every few seconds, and only if it stands before that cluster. The question does not create the
topic.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import attrs
from aiokafka.protocol.metadata import MetadataRequest

from kcoord.instances.instance_map import Address
from kcoord.instances.instances_group_member import Unreachable
from kcoord.protocol.errors import ErrorCode

__all__ = ["NOTHING_KNOWN", "LeadersWatch", "Surroundings"]

log = logging.getLogger("kcoord.instances")

OFFSETS_TOPIC = "__consumer_offsets"
LOOK_S = 5.0
NOBODY = -1


@attrs.frozen
class Surroundings:
    """What an instance sees of the upstream cluster."""

    brokers: frozenset[int] = frozenset()
    leaders: tuple[int | None, ...] = ()
    """The leaders of `__consumer_offsets`, by partition; empty if they are not known."""
    addresses: Mapping[int, Address] = attrs.Factory(dict)
    """The brokers' addresses as the cluster gives them."""


NOTHING_KNOWN = Surroundings()


class LeadersWatch:
    """Asks the cluster every few seconds. `ask` returns the answer of some broker; `known_brokers` returns brokers that
    are known otherwise.
    """

    def __init__(
        self, ask: Callable[[Any], Awaitable[Any]], known_brokers: Callable[[], Iterable[int]] = lambda: ()
    ) -> None:
        self._ask = ask
        self._known_brokers = known_brokers
        self._seen = NOTHING_KNOWN
        self._looking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Ask once, then go on asking in a task."""
        if self._looking is not None:
            return
        await self._look_once()
        self._looking = asyncio.get_running_loop().create_task(self._look())

    async def stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    def seen(self) -> Surroundings:
        """What is known now of the cluster."""
        return attrs.evolve(self._seen, brokers=self._seen.brokers | frozenset(self._known_brokers()))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            await self._look_once()

    async def _look_once(self) -> None:
        try:
            self._seen = read(await self._ask(MetadataRequest([OFFSETS_TOPIC], False)))
        except Unreachable as error:
            log.debug("leaders could not be read again: %s", error)
        except Exception:
            log.exception("a fault while asking for the leaders of partitions")


def read(answer: Any) -> Surroundings:
    """The surroundings from aiokafka's Metadata answer."""
    addresses = {int(broker[0]): (str(broker[1]), int(broker[2])) for broker in answer.brokers}
    brokers = frozenset(addresses)
    leaders: dict[int, int] = {}
    for error, name, _, partitions in answer.topics:
        if name == OFFSETS_TOPIC and error == ErrorCode.NONE:
            leaders = {int(each[1]): int(each[2]) for each in partitions}
    if not leaders or leaders.keys() != set(range(len(leaders))):
        return Surroundings(brokers, addresses=addresses)
    led_by = tuple(None if leaders[at] == NOBODY else leaders[at] for at in range(len(leaders)))
    return Surroundings(brokers, led_by, addresses)
