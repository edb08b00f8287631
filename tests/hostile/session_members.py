"""What a hostile session knows from the answers to its requests: members, and what each client would send next."""

from __future__ import annotations

import random
from collections.abc import Callable

import attrs

from kcoord.protocol.message_base import Request
from kcoord.resource import Resource

GROUPS = ("g0", "g1", "g2", "connect-a", "connect-b", "offsets", "x" * 300, "g\u00df\u0000\u001b[31m")


@attrs.define(eq=False)
class Known:
    """A member, as the answers have shown it."""

    group_id: str
    member_id: str
    epoch: int = -1
    """Its generation, or member epoch."""
    instance_id: str | None = None
    is_worker: bool = False
    """Of the Connect group protocol."""
    is_consumer: bool = False
    """Of the consumer group protocol."""
    partitions: list[tuple[bytes, list[int]]] = attrs.Factory(list)
    """What it was told to consume."""
    is_connect: bool = False
    """A classic member that speaks Connect's embedded protocol."""
    owned: frozenset[Resource] = frozenset()
    members: list[str] = attrs.Factory(list)
    """Whom it leads."""
    protocol_type: str | None = None
    protocol: str | None = None
    prepared_epoch: int = 0
    """The group epoch that it was shown to compute for."""
    resources: list[Resource] = attrs.Factory(list)
    """What it was shown to assign."""
    number: int = -1
    """The connection that it came by last."""


class KnownMembers:
    """The members that are known, and the next requests of clients that keep the protocol."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.known: list[Known] = []
        self.number = -1
        """The connection that requests are drawn for."""
        self._next: dict[int, list[Callable[[], Request]]] = {}
        """By connection: what a client that keeps the protocol would send next."""
        self.texts: list[str] = ["", "w1", "w2", *GROUPS[:3], "consumer", "connect", "uniform", "range"]
        self._workers = 0
        self.topic_ids: list[bytes] = []
        """Those that were in the last answer to Metadata."""

    def _follow(self, make: Callable[[], Request]) -> None:
        following = self._next.setdefault(self.number, [])
        following.insert(0, make)
        del following[8:]

    def _find(self, group_id: str, member_id: str) -> Known:
        for each in self.known:
            if each.group_id == group_id and each.member_id == member_id:
                each.number = self.number
                return each
        self.known.append(Known(group_id, member_id, number=self.number))
        self.texts.append(member_id)
        del self.texts[60:-20]
        return self.known[-1]

    def _group(self) -> str:
        return self.rng.choices(GROUPS, (8, 4, 2, 8, 6, 2, 1, 1))[0]

    def _bytes(self) -> bytes:
        rng = self.rng
        return rng.randbytes(rng.choice((0, 1, 8, 60, 60, 400, 4_000)))
