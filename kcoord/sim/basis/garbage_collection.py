"""Garbage collection: switched off while a simulated run or a syntax tree is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Within this block Python does not look for cycles.

    A run makes few cycles and is short. In Python 3.11 making a syntax tree fails if a finalizer runs meanwhile
    (SystemError, https://github.com/python/cpython/issues/106905).
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
