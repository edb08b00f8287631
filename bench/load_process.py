"""How is the load generator told what to do? It is a process of its own: one JSON command a line on stdin, one answer
a line on stdout.

`loader.py` is the other end. Whatever goes wrong is answered as {"error": …}; the end of stdin ends the process.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from typing import Any

import attrs
import uvloop

from bench.classic_fleet import ClassicWorkers
from bench.consumers import begin_groups
from bench.fleet import Fleet, connect, join_groups
from bench.workers import Workers


@attrs.define(eq=False)
class Load:
    """The fleets of this process, by name."""

    fleets: dict[str, Fleet] = attrs.Factory(dict)
    workers: Workers | None = None
    classic: ClassicWorkers | None = None

    async def do(self, command: dict[str, Any]) -> dict[str, Any]:
        """Carry out one command, named by its "do"."""
        name = command.pop("do")
        action = getattr(self, f"do_{name}")
        answer: dict[str, Any] = await action(**command)
        return answer

    async def do_members(self, fleet: str, **shape: Any) -> dict[str, Any]:
        return self._keep(fleet, await Fleet.of_members(**shape))

    async def do_connect_members(self, fleet: str, **shape: Any) -> dict[str, Any]:
        return self._keep(fleet, await Fleet.of_workers(**shape))

    async def do_consumers(self, fleet: str, **shape: Any) -> dict[str, Any]:
        return self._keep(fleet, await Fleet.of_consumers(**shape))

    async def do_begin_consumer_groups(self, host: str, port: int, lines: int, **shape: Any) -> dict[str, Any]:
        connected = await connect(host, port, lines)
        await begin_groups(connected, **shape)
        for line in connected:
            line.close()
        return {}

    async def do_workers(
        self, count: int, connectors: int, tasks: int, deadline_s: float, **where: Any
    ) -> dict[str, Any]:
        self.workers = Workers(group_id="bench-workers", **where)
        await self.workers.found(count, connectors, tasks, deadline_s)
        gc.collect()
        gc.freeze()
        return {}

    async def do_idle(self, seconds: float) -> dict[str, Any]:
        began_s = time.monotonic()
        await asyncio.sleep(seconds)
        return {"seconds": time.monotonic() - began_s}

    async def do_one_more_worker(self, deadline_s: float) -> dict[str, Any]:
        assert self.workers is not None, "the group is to be founded first"
        began_s = time.monotonic()
        joined = await self.workers.one_more(deadline_s)
        return {**attrs.asdict(joined), "watched_s": time.monotonic() - began_s}

    async def do_classic_workers(self, count: int, grown: bool, deadline_s: float, **shape: Any) -> dict[str, Any]:
        if self.classic is not None:
            self.classic.close()
        self.classic = ClassicWorkers(**shape)
        await self.classic.found(count, grown, deadline_s)
        gc.collect()
        gc.freeze()
        return {}

    async def do_classic_event(self, event: str, max_delay_ms: int, deadline_s: float) -> dict[str, Any]:
        assert self.classic is not None, "the fleet is to be founded first"
        self.classic.delay(max_delay_ms)
        happens = {
            "join": self.classic.join,
            "leave": self.classic.leave,
            "bounce": self.classic.bounce,
            "call": self.classic.call,
        }
        return attrs.asdict(await happens[event](deadline_s))

    async def do_echoes(self, fleet: str, **shape: Any) -> dict[str, Any]:
        return self._keep(fleet, await Fleet.of_echoes(**shape))

    async def do_beat(self, fleet: str, in_flight: int) -> dict[str, Any]:
        self.fleets[fleet].beat(in_flight)
        return {}

    async def do_pace(self, fleet: str, every_s: float) -> dict[str, Any]:
        self.fleets[fleet].pace(every_s)
        return {}

    async def do_count(self, fleet: str) -> dict[str, Any]:
        return {"answers": self.fleets[fleet].tally.answers, "at_s": time.monotonic()}

    async def do_rest(self, fleet: str) -> dict[str, Any]:
        await self.fleets[fleet].rest()
        return {}

    async def do_close(self, fleet: str) -> dict[str, Any]:
        self.fleets.pop(fleet).close()
        return {}

    async def do_joins(self, **shape: Any) -> dict[str, Any]:
        return attrs.asdict(await join_groups(**shape))

    def _keep(self, name: str, fleet: Fleet) -> dict[str, Any]:
        self.fleets[name] = fleet
        gc.collect()
        gc.freeze()
        return {"connections": len(fleet.lines), "frame_bytes": fleet.frame_bytes, "answer_bytes": fleet.answer_bytes}


async def main() -> None:
    """Carry out commands until stdin ends."""
    load = Load()
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        try:
            answer = await load.do(json.loads(line))
        except Exception as error:  # what the command raised is the other end's to judge
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
