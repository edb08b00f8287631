"""What does a legacy worker ask of its host? Data only; carried out in the order in which it comes."""

from __future__ import annotations

from typing import TypeAlias

from kcoord.protocol.frozen import frozen
from kcoord.protocol.message import Request
from kcoord.protocol.resources import Resource
from kcoord.sim.legacy.configs import Configs


@frozen(slots=True)
class Seek:
    """Drop the connection, if there is one; find the coordinator and connect, again and again, until `connected`."""


@frozen(slots=True)
class Send:
    """Send this on the connection, in that version. Then `received` with the same number, or `disconnected`."""

    number: int
    request: Request
    version: int


@frozen(slots=True)
class Start:
    """Run these from now on, as of these configurations. Nothing is to be reported."""

    resources: frozenset[Resource]
    configs: Configs


@frozen(slots=True)
class Stop:
    """Stop these; then `stopped`. Until then the worker does nothing else, but for heartbeats."""

    resources: frozenset[Resource]


@frozen(slots=True)
class ReadConfigs:
    """Read the config topic to its end: `config_read`, then `read_to_end`. Ask again later if that takes too long."""


@frozen(slots=True)
class Close:
    """The process ends: it has left in order (no text), or has died of what the text says. Nothing runs any more."""

    died_of: str = ""


Action: TypeAlias = Seek | Send | Start | Stop | ReadConfigs | Close
