"""An append to the simulator's log, and its possible fates."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from kcoord.protocol.records import Record
from kcoord.sim.network import Frame


class Fate(Enum):
    """What becomes of an append."""

    COMMITTED = "it is in the log"
    IN_DOUBT = "it fails; the first few of those under way are in the log all the same"
    ROLLED_BACK = "it fails, and none of those under way is in the log"
    FENCED = "the same, and another instance has the log for a while"
    TORN = "the power goes while it is written"
    LATE = "it is committed long after"
    LOST = "it gets no result; it is not in the log"


class Pending:
    """One append on its way, and what waits for it."""

    __slots__ = ("records", "release", "waiting")

    def __init__(self, records: list[Record]) -> None:
        self.records = records
        self.release: list[Callable[[], None]] = []
        self.waiting: list[Frame] = []
