"""The sliced call: a large request of one group, whose steps are taken in the turn queue.

It is carried out even if its client goes before the last step: so are those that wait in their connection.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from kcoord.protocol.call import Call
from kcoord.protocol.framing import FrameRefused
from kcoord.protocol.messages import api_name
from kcoord.protocol.primitives import DecodeError
from kcoord.server.connection import Connection

__all__ = ["SlicedCall"]

log = logging.getLogger("kcoord.server")


class SlicedCall:
    """One request on its way. `steps` raises DecodeError or FrameRefused for what ends its connection."""

    def __init__(self, connection: Connection, call: Call, steps: Iterator[None]) -> None:
        self._connection = connection
        self._call = call
        self._steps = steps

    def take_slice(self) -> bool:
        """Take the next step; whether there is another one."""
        header = self._call.header
        try:
            for _ in self._steps:
                return True
        except FrameRefused as refused:
            self._connection.close(str(refused))
        except DecodeError as error:
            self._connection.close(f"{api_name(header.api_key)} v{header.api_version}: {error}")
        except Exception:
            log.exception("a fault of kcoord's own in a request of %s", self._connection.peer)
            self._connection.close("a fault of kcoord's own")
        return False
