"""What the judges of a run with consumer groups need to know of a consumer, whichever protocol it speaks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from kcoord.group.state.groups.consumer_group import Partition, Partitions
from kcoord.protocol.errors import ErrorCode
from kcoord.sim.consumer.consumption import Consumption, Named
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.process import SimulatedProcess


class AnyConsumer(SimulatedProcess):
    """One life of one consumer."""

    _context: ConsumerContext
    group_id: str
    consumption: Consumption
    commits: dict[int, dict[Named, Partition]]
    """By number of a request, the partitions that it commits."""
    _ended: Callable[[ErrorCode], None]
    """To be called when it has ended by itself."""

    @property
    def counts(self) -> bool:
        """Whether what it reads is judged: also while it stands still, since the coordinator counts it as a member."""
        return self.alive and not self.excused

    @property
    def reads(self) -> Partitions:
        """What it reads."""
        return self.consumption.partitions

    @property
    @abstractmethod
    def is_joining(self) -> bool:
        """Whether it is about to become a member."""

    @property
    @abstractmethod
    def epoch(self) -> int:
        """Its epoch, or its generation, as it knows it."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether it reads what it was told, has said so, and wants nothing."""

    @property
    @abstractmethod
    def subscribed(self) -> frozenset[str]:
        """The topics that it subscribes to."""

    def _give_up(self) -> None:
        """End though not all is done that was to be done in order."""
        if self.alive and not self._later(self._give_up):
            self._end(ErrorCode.NONE)

    def _end(self, error: ErrorCode) -> None:
        if not self.alive:
            return
        self._context.note(self.name, f"ends: {error.name}")
        if self.link is not None:
            self._network.close(self.link, orderly=True)
            self.link = None
        self.kill()
        self._ended(error)

    @abstractmethod
    def stop_polling(self, ms: int) -> None:
        """Its application does not poll for so long that the consumer leaves, until it polls again after `ms`."""

    @abstractmethod
    def subscribe(self, names: frozenset[str]) -> None:
        """Subscribe to other topics."""

    @abstractmethod
    def wish(self, assignor: str | None) -> None:
        """Wish for another assignor on the server."""
