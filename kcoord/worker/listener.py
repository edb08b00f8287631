"""What a program hears of its share: the callbacks of a worker."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from types import FunctionType

from kcoord.assign import Resource

CALLBACKS = ("on_assigned", "on_revoked", "on_lost")


class WorkerRebalanceListener(ABC):
    """Told of what is this worker's, one call after the other, in the order in which it happened.

    The methods are coroutines (`async def`): the worker heartbeats while they run. An exception in one is logged, with
    the resources, and the worker goes on as if it had returned.
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


def check_listener(listener: object) -> None:
    """Raises TypeError for what cannot be a listener; the text says what to do."""
    if isinstance(listener, type):
        raise TypeError(f"listener: give an object, {listener.__name__}(...), not the class {listener.__name__}")
    for name in CALLBACKS:
        method = getattr(listener, name, None)
        if not callable(method):
            raise TypeError(
                f"listener: {type(listener).__name__} has no {name}: derive it from WorkerRebalanceListener"
            )
        if is_plain_function(method):
            raise TypeError(
                f"listener: {type(listener).__name__}.{name} must be `async def {name}(self, resources)`: the worker "
                "waits until it has returned, and must be able to send heartbeats meanwhile"
            )


def is_plain_function(function: object) -> bool:
    """Whether it is a Python function that is certainly no coroutine function, also behind decorators."""
    while True:
        plain = getattr(function, "__func__", function)
        if not isinstance(plain, FunctionType) or inspect.iscoroutinefunction(plain):
            return False
        if not hasattr(plain, "__wrapped__"):
            return True
        function = plain.__wrapped__
