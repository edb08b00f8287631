"""A program with workers, in a process of its own, to which a test sends signals.

Arguments: bootstrap address, group, and what it does (a function below). It says on standard output what happens.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time

from kcoord.assign import Resource
from kcoord.worker import Configured, Worker, WorkerRebalanceListener

CONFIGURED = Configured(1, frozenset({("a", 0)}))


def say(what: str) -> None:
    """One line in one write: a signal's handler may say something between two writes, in the middle of a line."""
    os.write(sys.stdout.fileno(), f"{what}\n".encode())


class Saying(WorkerRebalanceListener):
    """Says what it hears. `hangs`: a revocation does not return."""

    def __init__(self, hangs: bool = False) -> None:
        self.hangs = hangs

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        say("assigned")

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        say("revoking")
        if self.hangs:
            await asyncio.Event().wait()
        say("revoked")

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        say("lost")


def worker(hangs: bool = False, handle_signals: bool = True, close_timeout: float = 30.0) -> Worker:
    """A worker as users make it."""
    bootstrap, group = sys.argv[1:3]
    return Worker(
        bootstrap,
        group,
        listener=Saying(hangs),
        configured=CONFIGURED,
        handle_signals=handle_signals,
        close_timeout=close_timeout,
    )


async def waits() -> None:
    """As the documentation has it."""
    async with worker() as member:
        await member.wait()
        say("wait has returned")
    say(f"sigint is asyncio's again: {signal.getsignal(signal.SIGINT) is not signal.SIG_DFL}")
    say(f"sigterm is the system's again: {signal.getsignal(signal.SIGTERM) is signal.SIG_DFL}")


async def finds_nobody() -> None:
    """It leaves in no time: it is no member yet."""
    sys.argv[1] = "127.0.0.1:1"
    async with worker() as member:
        say("looks for its coordinator")
        await member.wait()
        say("wait has returned")


async def two_workers() -> None:
    """Both leave. The one without a share says nothing."""
    async with worker() as one, worker() as two:
        await two.joined()
        say("both joined")
        await asyncio.gather(one.wait(), two.wait())
        say("both have left")


async def does_something_else() -> None:
    """It does not wait for the worker."""
    async with worker():
        await asyncio.Event().wait()


async def does_not_stop() -> None:
    """Its revocation hangs."""
    async with worker(hangs=True) as member:
        await member.wait()


async def stops_late() -> None:
    """Its revocation hangs, and it has little patience."""
    async with worker(hangs=True, close_timeout=0.1) as member:
        await member.wait()
        say("wait has returned")


async def blocks() -> None:
    """Its event loop is stuck."""
    async with worker() as member:
        await member.joined()
        say("blocked")
        while True:
            time.sleep(0.05)
            say("still blocked")


async def has_handlers() -> None:
    """It has handlers of its own: one in the loop, one outside."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    signal.signal(signal.SIGINT, lambda *_: say("sigint of its own"))
    async with worker():
        await stop.wait()
        say("sigterm of its own")


async def installs_handlers_later() -> None:
    """While the worker runs: they are its own from then on, also when the worker is closed."""
    async with worker() as member:
        await member.joined()
        signal.signal(signal.SIGINT, lambda *_: say("sigint of its own"))
        say("installed")
        await member.wait()
    say("closed")
    await asyncio.Event().wait()


async def declines() -> None:
    """It wants nothing done."""
    async with worker(handle_signals=False) as member:
        await member.wait()


def in_a_thread() -> None:
    """Its event loop runs in another thread than the main one."""
    threading.Thread(target=lambda: asyncio.run(waits()), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    programs = (
        waits,
        finds_nobody,
        two_workers,
        does_something_else,
        does_not_stop,
        stops_late,
        blocks,
        has_handlers,
        installs_handlers_later,
        declines,
    )
    by_name = {each.__name__: each for each in programs}
    name = sys.argv[3]
    if name == "in_a_thread":
        in_a_thread()
    else:
        asyncio.run(by_name[name]())
    say("ends")
