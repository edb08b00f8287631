"""The actions that a classic worker asks of its host. Data only; the host carries them out in order."""

from __future__ import annotations

from typing import TypeAlias

from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Request
from kcoord.resource import Resource
from kcoord.sim.classic_worker.configs import Configs


@frozen(slots=True)
class Seek:
    """Drop the connection, if any. Find the coordinator and connect, again and again, until `connected`."""


@frozen(slots=True)
class Send:
    """Send this on the connection, in that version. Then call `received` with the same number, or `disconnected`."""

    number: int
    request: Request
    version: int


@frozen(slots=True)
class Start:
    """Run these resources from now on, with these configurations. The host reports nothing back."""

    resources: frozenset[Resource]
    configs: Configs


@frozen(slots=True)
class Stop:
    """Stop these resources, then call `stopped`. Until then the worker does nothing but heartbeats."""

    resources: frozenset[Resource]


@frozen(slots=True)
class ReadConfigs:
    """Read the config topic to its end: call `config_read`, then `read_to_end`. If that takes too long, the worker asks
    again.
    """


@frozen(slots=True)
class Close:
    """The process ends: it has left in order (no text), or has died of what the text says. Nothing runs any more."""

    died_of: str = ""


Action: TypeAlias = Seek | Send | Start | Stop | ReadConfigs | Close
