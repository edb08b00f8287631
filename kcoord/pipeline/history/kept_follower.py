"""A follower as bytes, so that a stream goes on where it was, in another process or on another machine.

The bytes are Python's pickle, read with great restraint: from them come classes of the history, records and plain
values, and nothing else. So whoever can write where the tables are cannot run code where they are made. Bytes of
another version of kcoord must not be read; the store keeps them with the version's mark.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from typing import Any
from uuid import UUID

from kcoord.pipeline.history.derive import Follower

OURS = ("kcoord.pipeline.history.", "kcoord.protocol.", "kcoord.group.", "kcoord.resource")
"""Where classes may come from: nothing there reads, writes or starts anything."""
PLAIN: dict[tuple[str, str], Any] = {
    (each.__module__, each.__qualname__): each for each in (UUID, defaultdict, dict, list, set, frozenset)
}


def kept(follower: Follower) -> bytes:
    """The follower, as it is now."""
    return pickle.dumps(follower, pickle.HIGHEST_PROTOCOL)


def restored(data: bytes) -> Follower:
    """The follower that was kept. Raises ValueError: these bytes are no follower of this version."""
    try:
        found = _Restrained(io.BytesIO(data)).load()
    except Exception as error:  # whatever damaged bytes can cause
        raise ValueError(f"what a stream had kept cannot be read: {error}") from None
    if not isinstance(found, Follower):
        raise ValueError(f"what a stream had kept is {type(found).__name__}")
    return found


class _Restrained(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        plain = PLAIN.get((module, name))
        if plain is not None:
            return plain
        if module.startswith(OURS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise ValueError(f"{module}.{name} does not belong there")
