"""A call in a daemon thread of its own, for a program's code that may compute for long or never return.

`asyncio.to_thread` has a few threads for the whole program. So a call waits there behind other work of the program. A
call that never returns keeps its thread, and `asyncio.run` waits for it at the end. Nobody waits for a daemon thread.

The event loop sees a call of its `run_in_executor`, as with `asyncio.to_thread`. A loop may count these.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, ParamSpec, TypeVar

__all__ = ["call_in_thread"]

P = ParamSpec("P")
R = TypeVar("R")


async def call_in_thread(name: str, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What the function returns or raises. `name` is the thread's. If the wait is cancelled, the call goes on, and its
    outcome is dropped.
    """
    context = contextvars.copy_context()
    call = partial(context.run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_DaemonThread(name), call)


class _DaemonThread(Executor):
    """An executor that starts a daemon thread for each call."""

    def __init__(self, name: str) -> None:
        self._name = name

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        outcome: Future[Any] = Future()
        outcome.set_running_or_notify_cancel()  # from now on it cannot be cancelled
        call = partial(_call, outcome, partial(fn, *args, **kwargs))
        threading.Thread(target=call, name=self._name, daemon=True).start()
        return outcome


def _call(outcome: Future[Any], function: Callable[[], Any]) -> None:
    try:
        outcome.set_result(function())
    except StopIteration as stopped:
        outcome.set_exception(RuntimeError(f"it raised {stopped!r}"))  # no coroutine can raise StopIteration
    except BaseException as error:
        outcome.set_exception(error)
