"""Does virtual time pass only when there is nothing to do, in real milliseconds, and the same way each time?"""

from __future__ import annotations

import asyncio
import os
import re
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kcoord.testing import Kcoord, VirtualTimeLoop, run
from kcoord.testing.substitutes import CLOCKED
from tests.light import some
from tests.testing.listening import Listening, in_virtual_time

ROOT = Path(__file__).parents[2]
CLOCKS = re.compile(r"\btime\.(?:clock_gettime|monotonic|time|perf_counter)(?:_ns)?\b")
REAL = {
    "kcoord.log.embedded": "a test's log is in memory",
    "kcoord.log.outages": "when it was alive last, for the report",
    "kcoord.loop.acceptor": "how often it complains of too many open files",
    "kcoord.loop.turn_queue": "how long a turn of the loop has computed",
    "kcoord.server.shards.coordinator": "how long loading took, for the log",
}
"""Modules that a coordinator or a worker runs, and that read a real clock; why that does not matter."""


@in_virtual_time
async def test_five_minutes_need_a_few_steps_and_no_waiting(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 4})
    for name in "ab":
        await kcoord.start(name, Listening(kcoord))
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    waited: list[float | None] = []
    select = selectors.DefaultSelector.select

    def noting(selector: Any, timeout: float | None = None) -> Any:
        if timeout != 0:
            waited.append(timeout)
        return select(selector, timeout)

    jumps = loop.jumps
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(selectors.DefaultSelector, "select", noting)
        await kcoord.pass_s(300)
    assert waited == [], "the system was asked to wait for nothing"
    assert loop.jumps - jumps < 30 * 300, "20 ticks of the accept clock a second, and what else is due"


def test_time_stands_still_while_a_thread_works() -> None:
    async def main() -> float:
        begin = asyncio.get_running_loop().time()
        async with asyncio.timeout(1):
            await asyncio.to_thread(time.sleep, 0.02)
        return asyncio.get_running_loop().time() - begin

    assert run(main()) == 0


def test_timers_come_in_their_order_and_exactly_in_time() -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        begin, came = loop.time(), list[float]()
        for delay in (3600.0, 0.001, 86_400.0, 0.3, 0.1):
            loop.call_later(delay, lambda: came.append(round(loop.time() - begin, 6)))
        await asyncio.sleep(100_000)
        return came

    assert run(main()) == [0.001, 0.1, 0.3, 3600, 86_400]


@in_virtual_time
async def test_a_clock_for_the_code_under_test(kcoord: Kcoord) -> None:
    monotonic, unix = kcoord.time.monotonic(), kcoord.time.time()
    await kcoord.pass_s(1.5)
    assert kcoord.time.monotonic() - monotonic == 1.5
    assert kcoord.time.time() - unix == pytest.approx(1.5)
    assert kcoord.time.strftime is time.strftime


def test_the_real_clocks_are_back_when_the_test_has_ended() -> None:
    from kcoord.log.clock import lease_now_ms
    from kcoord.worker.clock import now_ms

    async def main() -> tuple[int, int]:
        async with Kcoord():
            return lease_now_ms(), now_ms()

    real = lease_now_ms(), now_ms()
    assert run(main()) == (1_000_000_000, 1_000_000_000)
    assert lease_now_ms() >= real[0]
    assert now_ms() - real[1] < 600_000


def test_every_module_that_reads_a_clock_is_known() -> None:
    """A new one would mix real time into virtual time."""
    rooms = ("group", "assign", "protocol", "log", "loop", "server", "client", "worker")
    found = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for room in rooms
        for file in (ROOT / "kcoord" / room).rglob("*.py")
        if CLOCKS.search(file.read_text(encoding="utf-8"))
    }
    elsewhere = {name for name in found if name.startswith("kcoord.log.kafka.")}
    assert found - elsewhere == {*CLOCKED, *REAL}


STORY = """
import asyncio
from kcoord.testing import Kcoord, run
from tests.testing.listening import Listening

async def main():
    async with Kcoord(seed=%d) as kcoord:
        kcoord.configure({"job": 7})
        workers = [await kcoord.start(name, Listening(kcoord)) for name in "abc"]
        kcoord.kill("a")
        kcoord.cut("b")
        await kcoord.pass_s(100)
        kcoord.mend("b")
        await kcoord.restart(down_s=3)
        await kcoord.start("d", Listening(kcoord), server_assignor="uniform")
        await kcoord.pass_s(100)
        for worker in workers:
            print(worker.name, worker.listener.heard, worker.listener.seconds)
        print(kcoord.describe(), asyncio.get_running_loop().jumps)

run(main())
"""


def test_a_test_goes_the_same_way_each_time() -> None:
    def told(seed: int, hashes: int) -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(hashes)}
        return subprocess.run(
            [sys.executable, "-c", STORY % seed], env=environment, capture_output=True, text=True, check=True
        ).stdout

    first = told(0, 1)
    assert "job-6" in first
    for hashes in some((2, 3), 1):
        assert told(0, hashes) == first
    assert told(1, 1) != first
