"""The line of a test's own code at which a task waits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import kcoord

_NOT_OWN = tuple(str(Path(module.__file__).parent) for module in (asyncio, kcoord) if module.__file__)


def wait_location(task: asyncio.Future[Any] | None) -> str:
    """FILE:LINE of the innermost frame of a task outside asyncio and kcoord; empty if the task has no such frame."""
    place = ""
    awaited = task.get_coro() if isinstance(task, asyncio.Task) and not task.done() else None
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "ag_frame", None)
        if frame is not None and not frame.f_code.co_filename.startswith(_NOT_OWN):
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "ag_await", None)
    return place
