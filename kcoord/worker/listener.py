"""The callbacks by which a worker tells a program what to start and what to stop."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from types import FunctionType

from kcoord.assign import Resource

CALLBACKS = ("on_assigned", "on_revoked", "on_lost")


class WorkerRebalanceListener(ABC):
    """Is told what this worker is to run: one call after the other, in the order in which it happened.

    The methods are coroutines (`async def`): the worker sends heartbeats while they run. An exception in one of them is
    logged, with the resources, and the worker goes on as if the method had returned.
    """

    @abstractmethod
    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        """Start these. From now on this worker is to run them, and no other worker does."""

    @abstractmethod
    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        """Stop these. They count as running until this method returns; no other worker gets them before that.

        Meanwhile the worker sends heartbeats. Take less than the rebalance timeout: after that the coordinator excludes
        the worker, this call is cancelled, and `on_lost` follows.
        """

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        """Stop everything at once: these are all resources that may be running. A call that was running has been
        cancelled.

        The worker is fenced, or its session is about to end because the coordinator does not answer: others may run
        them soon. The worker joins again when this has returned. Unless overridden this calls `on_revoked`, which may
        therefore get resources twice, also some that it has half stopped.
        """
        await self.on_revoked(resources)


def check_listener(listener: object) -> None:
    """Check a listener. Raises TypeError for what cannot be one; the text says what to do."""
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
    """Whether it is a Python function that is certainly not a coroutine function, also behind decorators."""
    while True:
        plain = getattr(function, "__func__", function)
        if not isinstance(plain, FunctionType) or inspect.iscoroutinefunction(plain):
            return False
        if not hasattr(plain, "__wrapped__"):
            return True
        function = plain.__wrapped__
