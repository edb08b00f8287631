"""A session of 6 s, the shortest that a group may be given without other settings of the coordinator."""

from __future__ import annotations

import asyncio

import pytest

from kcoord.assign import Resource
from kcoord.group.state.connect_settings import (
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
    ConnectSettings,
    adjusted,
    misfits,
    overridden,
)
from kcoord.testing import Kcoord, TestingError
from tests.testing.listening import Listening, in_virtual_time

SHORT = {SESSION_TIMEOUT: 6_000}
NO_WAIT = {"max_wait": 0.0}


async def two_workers(kcoord: Kcoord, **options: float) -> tuple[Listening, Listening]:
    """Two workers of a group with short sessions, which share four jobs."""
    await kcoord.configure_group(SHORT)
    kcoord.configure({"job": 4})
    listeners = Listening(kcoord), Listening(kcoord)
    for name, listener in zip("ab", listeners, strict=True):
        await kcoord.start(name, listener, **options)
    await kcoord.until(lambda: [len(runs) for runs in kcoord.runs().values()] == [2, 2])
    return listeners


@pytest.mark.long("an hour of heartbeats")
@pytest.mark.parametrize("options", [{}, NO_WAIT], ids=["answers are held", "answers are not held"])
def test_workers_keep_a_short_session_for_an_hour(options: dict[str, float]) -> None:
    @in_virtual_time
    async def story(kcoord: Kcoord) -> None:
        a, b = await two_workers(kcoord, **options)
        calls = a.calls(), b.calls()
        await kcoord.pass_s(3600)
        assert (a.calls(), b.calls()) == calls

    story()


@pytest.mark.parametrize("options", [{}, NO_WAIT], ids=["answers are held", "answers are not held"])
def test_a_worker_that_is_killed_is_replaced_within_its_short_session(options: dict[str, float]) -> None:
    @in_virtual_time
    async def story(kcoord: Kcoord) -> None:
        await kcoord.configure_group({"connect.rebalance.delay.ms": 0})
        await two_workers(kcoord, **options)
        kcoord.kill("a")
        killed_s = kcoord.now_s
        await kcoord.until(lambda: len(kcoord.runs()["b"]) == 4)
        assert kcoord.now_s - killed_s <= 9, "a session, and one heartbeat of the other one"

    story()


@in_virtual_time
async def test_a_short_silence_ends_no_short_session(kcoord: Kcoord) -> None:
    """Up to half of it, less what the network takes: 6 s, of which 1 s is margin, and up to 2 s an answer is held."""
    a, b = await two_workers(kcoord)
    for _ in range(20):
        kcoord.cut("a")
        await kcoord.pass_s(2.5)
        kcoord.mend("a")
        await kcoord.pass_s(4.3)
    await kcoord.restart(down_s=2.5)
    await kcoord.pass_s(30)
    assert "lost" not in a.calls() + b.calls()


@in_virtual_time
async def test_a_worker_that_is_cut_off_stops_before_its_short_session_ends(kcoord: Kcoord) -> None:
    a, b = await two_workers(kcoord)
    kcoord.cut("a")
    await kcoord.until(lambda: len(kcoord.runs()["b"]) == 4)
    lost_s = next(at for at, what, _ in a.heard if what == "lost")
    taken_s = [at for at, what, _ in b.heard if what == "assigned"][-1]
    assert taken_s - lost_s >= 1, "a sixth of the session"


@in_virtual_time
async def test_a_revocation_that_takes_longer_than_a_short_session_does_not_end_it(kcoord: Kcoord) -> None:
    """The worker heartbeats meanwhile."""

    class Slow(Listening):
        async def on_revoked(self, resources: frozenset[Resource]) -> None:
            await asyncio.sleep(20)
            await super().on_revoked(resources)

    await kcoord.configure_group(SHORT)
    kcoord.configure({"job": 4})
    slow = Slow(kcoord)
    await kcoord.start("a", slow)
    await kcoord.start("b", Listening(kcoord))
    await kcoord.until(lambda: [len(runs) for runs in kcoord.runs().values()] == [2, 2])
    assert slow.calls() == ["assigned", "revoked"]


@in_virtual_time
async def test_a_shorter_one_is_refused_with_the_bounds(kcoord: Kcoord) -> None:
    with pytest.raises(TestingError, match="5999 is not between 6000 and 60000"):
        await kcoord.configure_group({SESSION_TIMEOUT: 5_999})


@pytest.mark.parametrize(
    ("own", "in_force", "misfit"),
    [
        ({}, 5_000, False),
        ({SESSION_TIMEOUT: "15000"}, 5_000, False),
        ({SESSION_TIMEOUT: "6000"}, 2_000, False),
        ({SESSION_TIMEOUT: "6000", HEARTBEAT_INTERVAL: "5000"}, 2_000, False),
        ({SESSION_TIMEOUT: "6000", HEARTBEAT_INTERVAL: "15000"}, 2_000, True),
        ({HEARTBEAT_INTERVAL: "4000"}, 5_000, True),
    ],
)
def test_there_are_three_heartbeats_in_a_session(own: dict[str, str], in_force: int, misfit: bool) -> None:
    """The interval in force is shown; only what nobody could set today is logged at the start."""
    server = ConnectSettings()
    assert overridden(server, own).heartbeat_interval_ms == in_force
    set_ms = own.get(HEARTBEAT_INTERVAL, "5000")
    assert adjusted(server, own).get(HEARTBEAT_INTERVAL) == (None if set_ms == str(in_force) else str(in_force))
    assert (HEARTBEAT_INTERVAL in misfits(server, own)) is misfit
