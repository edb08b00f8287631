"""What does an instance take for the death of another, and what not? Real sockets, and a wire between that can be cut.

The rules are those of `kcoord/instances/peer_watch.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest

from kcoord.instances import peer_watch
from kcoord.instances.instance_map import Instance
from kcoord.instances.peer_watch import PeerWatch, is_refused
from tests.faults.wire import Wire
from tests.instances.neighbours import Neighbour, neighbours
from tests.instances.standing import until
from tests.kafka.ports import free_port


@attrs.define(eq=False)
class Seen:
    """A watch of one peer, by a wire, and what it told."""

    peer: Neighbour
    wire: Wire
    watch: PeerWatch
    deaths: int = 0
    lives: int = 0

    def died(self, _peer: Instance) -> None:
        self.deaths += 1

    def lived(self, _peer: Instance) -> None:
        self.lives += 1


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again soon."""
    monkeypatch.setattr(peer_watch, "AGAIN_S", 0.01)


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[Seen]:
    """One instance watches another."""
    async with neighbours(folder, (0,)) as (here, peer):
        assert peer.instance.internal is not None
        async with Wire.opened(peer.instance.internal[1]) as wire:
            there = attrs.evolve(peer.instance, internal=("127.0.0.1", wire.port))
            seen: Seen
            watch = PeerWatch(lambda: [there], here._way_to, lambda who: seen.died(who), lambda who: seen.lived(who))
            seen = Seen(peer, wire, watch)
            watch.follow()
            try:
                await until(lambda: seen.lives, "it has been reached")
                yield seen
            finally:
                watch.stop()


async def test_a_process_that_has_gone_has_died(tmp_path: Path) -> None:
    async with watched(tmp_path) as seen:
        await seen.wire.refuse()
        await until(lambda: seen.deaths, "its death is told")
        told = seen.deaths
        await until(lambda: seen.deaths > told, "it is told again, for whoever could do nothing yet")


async def test_a_link_that_is_cut_proves_nothing(tmp_path: Path) -> None:
    async with watched(tmp_path) as seen:
        await seen.wire.cut()
        made = seen.wire.made
        await until(lambda: seen.wire.made > made + 4, "it was tried several times")
        assert seen.deaths == 0
        await seen.wire.mend()
        await until(lambda: seen.lives > 1, "it is reached again")
        assert seen.deaths == 0


async def test_silence_proves_nothing(tmp_path: Path) -> None:
    async with watched(tmp_path) as seen:
        made = seen.wire.made
        seen.wire.silence()
        await until(lambda: seen.wire.made > made + 2, "the silent link was given up, and others were tried")
        assert seen.deaths == 0
        await seen.wire.mend()
        await until(lambda: seen.lives > 1, "it is reached again")
        assert seen.deaths == 0


async def test_who_was_never_reached_has_not_died(tmp_path: Path) -> None:
    """It may be behind something that always refuses: it is put out of the group by the end of its session alone."""
    async with neighbours(tmp_path, (0,)) as (here, peer):
        away = attrs.evolve(peer.instance, internal=("127.0.0.1", free_port()))
        deaths: list[Instance] = []
        watch = PeerWatch(lambda: [away], here._way_to, deaths.append, lambda _: None)
        watch.follow()
        link = here.links[1]
        await until(lambda: link._failed, "it was tried")
        assert await is_refused(link.address)
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not deaths
        watch.stop()


async def test_who_is_no_peer_any_more_is_watched_no_more(tmp_path: Path) -> None:
    async with neighbours(tmp_path, (0,)) as (here, peer):
        peers = [peer.instance]
        deaths: list[Instance] = []
        lives: list[Instance] = []
        watch = PeerWatch(lambda: peers, here._way_to, deaths.append, lives.append)
        watch.follow()
        await until(lambda: lives, "it has been reached")
        peers.clear()
        watch.follow()
        peer.listener.close()
        await until(lambda: not here.links[1]._stream or not here.links[1]._stream.is_open, "the link is lost")
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not deaths


async def test_an_address_is_refused_only_where_nobody_listens(tmp_path: Path) -> None:
    port = free_port()
    assert await is_refused(("127.0.0.1", port))
    assert not await is_refused(("no-such-host.invalid", port))
    async with Wire.opened(port) as wire:
        assert not await is_refused(("127.0.0.1", wire.port))
        await wire.cut()
        assert not await is_refused(("127.0.0.1", wire.port)), "whoever accepts and hangs up is there"
