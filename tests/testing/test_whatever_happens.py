"""Whatever a test does to workers and coordinator: does nothing run twice, and does the group find itself again?"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kcoord.testing import Kcoord, TestedWorker, run
from kcoord.testing.process import Condition
from tests.light import fewer
from tests.testing.listening import Listening

STEPS = 30
NAMES = "abcd"


class Story:
    """Random things happen to four workers, one at a time."""

    def __init__(self, kcoord: Kcoord, seed: int) -> None:
        self.kcoord = kcoord
        self.random = random.Random(seed)
        self.workers: dict[str, TestedWorker] = {}
        self.told: list[str] = []

    async def step(self) -> None:
        """Something happens, and some time passes."""
        name = self.random.choice(NAMES)
        worker = self.workers.get(name)
        if worker is None or not worker.process.is_there:
            self.told.append(f"start {name}")
            self.workers[name] = await self.kcoord.start(name, Listening(self.kcoord))
        elif worker.process.condition is not Condition.RUNNING:
            self.told.append(f"thaw {name}")
            self.kcoord.thaw(name)
        elif worker.process.is_cut:
            self.told.append(f"mend {name}")
            self.kcoord.mend(name)
        else:
            await self._harm(name)
        await self.kcoord.pass_s(self.random.choice([0, 0.1, 5, 20, 60]))

    async def _harm(self, name: str) -> None:
        what = self.random.choice(["kill", "freeze", "block", "cut", "stop", "restart", "configure"])
        self.told.append(f"{what} {name}")
        if what == "restart":
            await self.kcoord.restart(down_s=self.random.choice([0, 1, 50]))
        elif what == "configure":
            self.kcoord.configure({"job": self.random.randint(1, 9)})
        elif what == "stop":
            await self.kcoord.stop(name)
        else:
            getattr(self.kcoord, what)(name)

    def check(self) -> None:
        """No two workers may run the same thing, whatever they know."""
        allowed = Counter(
            resource
            for worker in self.workers.values()
            if worker.process.is_there
            for resource in worker.runs
            if worker.worker.may_run(resource)
        )
        twice = [resource for resource, count in allowed.items() if count > 1]
        assert not twice, f"{twice} after {self.told}\n{self.kcoord.describe()}"


@pytest.mark.parametrize("seed", range(fewer(4, 1)))
def test_nothing_runs_twice_and_all_runs_in_the_end(seed: int) -> None:
    async def main() -> None:
        async with Kcoord(seed=seed) as kcoord:
            story = Story(kcoord, seed)
            kcoord.configure({"job": 5})
            for _ in range(STEPS):
                await story.step()
                story.check()
            for worker in story.workers.values():
                if worker.process.is_there:
                    kcoord.thaw(worker)
                    kcoord.mend(worker)
            await kcoord.start("e", Listening(kcoord))
            await kcoord.settled()
            story.check()

    run(main())
