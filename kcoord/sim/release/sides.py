"""The two sides of a run with two releases: what it takes from this one and from the other. Between them pass only
bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from kcoord.group.state.step import CachedReply, PredictedReply, Reply, Step
from kcoord.sim.basis.violation import Violation
from kcoord.sim.network import Frame
from kcoord.sim.release.imported_release import Release

RawRecord = tuple[bytes, bytes | None]


class Side:
    """One release, as far as a run needs it."""

    def __init__(self, name: str, module: Callable[[str], Any]) -> None:
        self.name = name
        self.module = module
        self.messages = module("protocol.messages")
        self._records = module("protocol.records")

    def read(self, message: Any, version: int) -> Any:
        """A message of either side, as this side reads it."""
        return getattr(self.messages, type(message).__name__).decode(message.encode(version), version)

    def encode(self, record: Any) -> RawRecord:
        """One of its records, as in the log."""
        key, value = self._records.encode_record(record)
        return bytes(key), None if value is None else bytes(value)

    def decode(self, raw: RawRecord) -> Any:
        """A record of the log, as this side reads it."""
        return self._records.decode_record(*raw)

    def knows(self, thing: object) -> bool:
        """Whether its class belongs to this side."""
        package: str = self.messages.__name__.partition(".")[0]
        return type(thing).__module__.partition(".")[0] == package


def this_side() -> Side:
    """The release that runs here."""
    return Side("this release", lambda name: import_module(f"kcoord.{name}"))


def other_side(release: Release) -> Side:
    """Another release. Its workers use this release's network, and their violations are this release's Violation."""
    for name in ("sim.living", "sim.worker"):
        module = release.module(name)
        for theirs in (Frame, Violation):
            if hasattr(module, theirs.__name__):
                setattr(module, theirs.__name__, theirs)
    return Side(release.name, release.module)


class OtherShard:
    """A shard of the other release, under this release's names. Its steps are converted to this release's steps."""

    def __init__(self, shard: Any) -> None:
        self._shard = shard
        self.state = shard._contents
        self.flush_held_reply = self._stepping(shard.let_go)
        for name in ("loaded", "handle", "advance", "closed", "alter_config"):
            setattr(self, name, self._stepping(getattr(shard, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shard, name)

    @staticmethod
    def _stepping(call: Callable[..., Any]) -> Callable[..., Step]:
        def step(*arguments: Any) -> Step:
            found = call(*arguments)
            return Step(records=found.records, replies=[_reply(each) for each in found.replies])

        return step


def _reply(reply: Any) -> Reply:
    """A reply of 0.1.0. What the hot path may remember of it has other names there."""
    known = reply.remember
    if known is None:
        return Reply(reply.token, reply.response)
    predicted = None if known.ahead is None else PredictedReply(known.ahead.request, known.ahead.response)
    return Reply(reply.token, reply.response, CachedReply(known.basis, known.version, known.session, predicted))
