"""The sliced call: a large request about one group, handled in steps in the turn queue.

It is carried out even if its client goes before the last step, as are requests that wait in their connection.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.messages import api_name
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.undecoded_call import Call
from kcoord.server.connections.connection import Connection

__all__ = ["SlicedCall"]

log = logging.getLogger("kcoord.server")


class SlicedCall:
    """One request, while it is handled. If `steps` raises DecodeError or FrameRefused, the connection is closed."""

    def __init__(self, connection: Connection, call: Call, steps: Iterator[None]) -> None:
        self._connection = connection
        self._call = call
        self._steps = steps

    def take_slice(self) -> bool:
        """Take the next step. Returns whether there may be another one."""
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
