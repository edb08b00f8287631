"""What does a fault run have on its stage? A load, its history, and in the end the checker's word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import attrs

from tests.faults.caller import Address
from tests.faults.checker import check, seen_errors
from tests.faults.history import History, Outcome, Wrote
from tests.faults.load import Load
from tests.kafka.wait import DEADLINE_S

SESSION_MS = 8_000
GROUPS: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1_000,
    "group.connect.min.session.timeout.ms": 1_000,
    "group.connect.session.timeout.ms": SESSION_MS,
    "group.connect.min.heartbeat.interval.ms": 100,
    "group.connect.heartbeat.interval.ms": 300,
    "group.connect.rebalance.delay.ms": 0,
}
"""Settings of kcoord that fit the load."""


@attrs.frozen
class Stage:
    """A running load."""

    load: Load
    history: History

    @property
    def random(self) -> Random:
        """For whoever breaks things."""
        return self.load.random

    def acknowledged(self) -> int:
        """How many changes were acknowledged."""
        return sum(isinstance(event, Wrote) and event.outcome is Outcome.DONE for event in self.history.events)

    async def go_on(self, changes: int = 20) -> None:
        """Wait until so many more changes were acknowledged, and for a moment that nobody can foresee."""
        wanted = self.acknowledged() + changes
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + DEADLINE_S
        while self.acknowledged() < wanted:
            self.load.check()
            assert loop.time() < deadline_s, f"{wanted - self.acknowledged()} more changes were to be acknowledged"
            await asyncio.sleep(0.05)
        await asyncio.sleep(self.random.random())


@asynccontextmanager
async def stage(
    bootstrap: list[Address],
    folder: Path,
    seed: int = 1,
    *,
    commits: bool = True,
    again: Callable[[Stage], Awaitable[None]] | None = None,
) -> AsyncIterator[Stage]:
    """Load the coordinator at these addresses. After the block all must settle, and the history must be well.

    `again` may then read the log, or have all loaded again: all must settle once more. The history lies in `folder` as
    history.jsonl, whatever comes of it.
    """
    history = History()
    load = Load(bootstrap, history, Random(seed), commits=commits)
    for number in range(2):
        load.add_connect_group(f"computed-{number}", hold_ms=200 * number)
        load.add_classic_group(f"classic-{number}")
    load.add_connect_group("uniform", server_assignor="uniform", hold_ms=200)
    load.add_connect_group("cooperative", 3, server_assignor="cooperative")
    try:
        load.start()
        on = Stage(load, history)
        yield on
        await load.settle()
        if again is not None:
            await again(on)
            await load.settle()
    finally:
        await load.stop()
        history.save(folder / "history.jsonl")
        print("errors that clients saw:", seen_errors(history.events))
        complaints = check(history.events)
        print(*complaints, sep="\n")
    assert not complaints, "\n".join([f"see {folder / 'history.jsonl'}", *complaints[:20]])
