"""The peer watch: it notices the death of another instance long before that one's session ends.

A process that is killed cannot say so, but its host does: the kernel closes its connections and refuses new ones to its
port. Rules:

1. Each instance keeps a link to every other instance of the map. When a link is lost, it tries the other's internal
   port at once, and again until there is an answer.
2. A lost link alone proves nothing: the network may have cut it, while the other goes on serving its clients. The other
   keeps its partitions as long as its session lives. Silence alone proves nothing either.
3. An instance has died if a link to it existed, is lost, and every address of its internal port refuses a connection:
   then no process listens there. An instance that was never reached may be behind something that always refuses.
4. An instance that is reached again has not died.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Iterable

from kcoord.instances.instance_map import Address, Instance
from kcoord.instances.link import Link, LinkLost

__all__ = ["PeerWatch", "is_refused"]

log = logging.getLogger("kcoord.instances")

AGAIN_S = 0.5
"""The pause before another attempt at a peer that cannot be reached."""
REFUSAL_LIMIT_S = 1.0
"""How long a probe waits for a refusal. A live host refuses within a round trip."""
NO_WAY = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.ENETUNREACH})
"""Errors of an address family that this host does not use. They say nothing about the other addresses."""

Key = tuple[int, int]


class PeerWatch:
    """Watches the peers of one instance. `link_to` returns the link to a peer, or None if it takes no calls. `died` is
    called with a peer that has died, repeatedly until it is no longer among `peers`; `lives` with one that answers.
    """

    def __init__(
        self,
        peers: Callable[[], Iterable[Instance]],
        link_to: Callable[[Instance], Link | None],
        died: Callable[[Instance], None],
        lives: Callable[[Instance], None],
    ) -> None:
        self._peers = peers
        self._link_to = link_to
        self._died = died
        self._lives = lives
        self._watching: dict[Key, asyncio.Task[None]] = {}

    def follow(self) -> None:
        """Watch the present peers, and no others."""
        peers = {(each.instance_id, each.started_ms): each for each in self._peers()}
        for key in self._watching.keys() - peers.keys():
            self._watching.pop(key).cancel()
        for key in peers.keys() - self._watching.keys():
            peer = peers[key]
            link = self._link_to(peer)
            if link is not None:
                self._watching[key] = asyncio.get_running_loop().create_task(self._watch(peer, link))

    def stop(self) -> None:
        """Stop watching."""
        for task in self._watching.values():
            task.cancel()
        self._watching.clear()

    async def _watch(self, peer: Instance, link: Link) -> None:
        was_there = False
        while True:
            try:
                was_there |= await self._look_at(peer, link)
                if was_there and await is_refused(link.address):
                    self._died(peer)
            except Exception:  # a watch that ended here would notice no death
                log.exception("a fault of kcoord's own while watching %s", peer)
                await asyncio.sleep(AGAIN_S)

    async def _look_at(self, peer: Instance, link: Link) -> bool:
        """Connect to the peer and wait until the connection is lost. Returns whether the peer was reached."""
        try:
            await link.connect()
        except LinkLost:
            await asyncio.sleep(AGAIN_S)
            return False
        self._lives(peer)
        await link.lost()
        return True


async def is_refused(address: Address) -> bool:
    """Whether no process listens at an address: every host address that its name resolves to refuses connections."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(*address, type=socket.SOCK_STREAM)
    except OSError:
        return False
    refusals = 0
    for family, kind, proto, _, at in dict.fromkeys(found):
        with socket.socket(family, kind, proto) as probe:
            probe.setblocking(False)
            try:
                async with asyncio.timeout(REFUSAL_LIMIT_S):
                    await loop.sock_connect(probe, at)
            except ConnectionRefusedError:
                refusals += 1
            except TimeoutError:
                return False
            except OSError as error:
                if error.errno not in NO_WAY:
                    return False
            else:
                return False
    return refusals > 0
