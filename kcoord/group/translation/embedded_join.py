"""Reading a Connect worker's JoinGroup: its embedded protocols, which all say the same thing.

Each protocol that the worker offers comes with its own metadata, all made at one moment. From `compatible` on the
metadata says what the worker runs. Under `default` the worker has stopped everything before it joins, and the metadata
says nothing about it.
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_member import Protocols
from kcoord.group.state.groups.connect_group import Resources
from kcoord.protocol.embedded import EAGER, NAMES, EmbeddedError, WorkerState, decode_state
from kcoord.protocol.frozen_class import frozen

NOTHING: Resources = frozenset()


class Unreadable(Exception):
    """A JoinGroup that is not a Connect worker's; the text says what is wrong."""


@frozen(slots=True)
class Spoken:
    """One worker's JoinGroup."""

    protocols: tuple[str, ...]
    """Its protocols that are known here, the preferred one first."""
    url: str
    config_offset: int
    reported: Resources
    """What it runs; nothing for a worker that has not been assigned anything, or has stopped everything."""


def read(protocols: Protocols) -> Spoken:
    """Read the protocols. Raises Unreadable unless at least one embedded protocol is known and all known ones can be
    read.
    """
    states: dict[str, WorkerState] = {}
    for name, metadata in protocols:
        if name in NAMES:
            try:
                states[name] = decode_state(metadata)
            except EmbeddedError as fault:
                raise Unreadable(f"the metadata of embedded protocol {name} cannot be read: {fault}") from None
    if not states:
        offered = ", ".join(name for name, _ in protocols) or "none"
        raise Unreadable(f"none of the embedded protocols is known: {offered}; known are {', '.join(NAMES)}")
    newest = max(states.values(), key=lambda state: state.version)
    return Spoken(tuple(states), newest.url, newest.config_offset, _reported(newest))


def _reported(state: WorkerState) -> Resources:
    if state.version == EAGER or state.allocation is None:
        return NOTHING
    return state.allocation.assigned
