"""What does a program hear of its share? The draft's WorkerRebalanceListener, for asyncio."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kcoord.assign import Resource


class WorkerRebalanceListener(ABC):
    """Told of what is this worker's, one call after the other, in the order in which it happened.

    Exceptions are logged; the worker goes on as if the call had returned.
    """

    @abstractmethod
    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        """These are this worker's to run from now on: start them. Nobody else runs them."""

    @abstractmethod
    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        """Stop these. They count as running until this returns, and no other worker gets them before.

        Meanwhile the worker heartbeats. Take less than the rebalance timeout: then the coordinator puts the worker
        out, this call is cancelled, and `on_lost` follows.
        """

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        """Stop all at once, it is these; whatever call was going on has been cancelled.

        The worker is fenced, or its session is about to end because the coordinator does not answer: others may run
        them soon. It joins again when this has returned. Unless overridden it is `on_revoked`, which may therefore see
        resources twice, and such as it has half stopped.
        """
        await self.on_revoked(resources)
