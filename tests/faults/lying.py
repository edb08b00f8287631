"""A kcoord whose log says that all is on the disk half a second before it is: what the checker must find.

`python -m tests.faults.lying serve …`
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kcoord.cli import main
from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import RawRecord

LIE_S = 0.5


def lie() -> None:
    """Let every append be late, and answered at once."""
    append = EmbeddedLog.append

    def lying(self: EmbeddedLog, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        loop.call_later(LIE_S, append, self, partition, batch)
        done: asyncio.Future[None] = loop.create_future()
        loop.call_soon(done.set_result, None)
        return done

    EmbeddedLog.append = lying  # type: ignore[method-assign]


if __name__ == "__main__":
    lie()
    main()
