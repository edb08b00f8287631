"""A cheap `frozen` for attrs classes: immutable for the type checker, a plain class with slots at run time.

Objects of a class that is frozen at run time take two to four times as long to make, and a joining member makes a dozen
of them. So for the type checker `frozen` is attrs' own, and the checker refuses every change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["frozen"]

if TYPE_CHECKING:
    from attrs import frozen
else:
    from attrs import define as frozen
