"""What is the least that a uvloop server in Python can do? It sends back what it gets.

All that one read brought, in one write. It prints nothing and listens until it is ended.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

import uvloop


class Whole(asyncio.Protocol):
    """Writes back what a read brought."""

    __slots__ = ("_write",)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._write = cast(asyncio.Transport, transport).write  # uvloop's is one without saying so

    def data_received(self, data: bytes) -> None:
        self._write(data)


async def main(port: int) -> None:
    """Listen on 127.0.0.1:`port`."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Whole, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
