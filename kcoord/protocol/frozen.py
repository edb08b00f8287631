"""How is a value made unchangeable where so many of them are made that Python's own way costs too much?

A class that is frozen at run time takes two to four times as long to make an object, and a joining member makes a dozen
of them. So `frozen` is attrs' own for the type checker, which refuses every change, and a plain class with slots at run
time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["frozen"]

if TYPE_CHECKING:
    from attrs import frozen
else:
    from attrs import define as frozen
