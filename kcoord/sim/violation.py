"""What ends a run? Something that must never be so was seen."""

from __future__ import annotations


class Violation(Exception):
    """An invariant does not hold; the text says which, and what was seen."""

    def __init__(self, invariant: str, text: str) -> None:
        super().__init__(f"{invariant}: {text}")
        self.invariant = invariant
        self.text = text

    def __reduce__(self) -> tuple[type[Violation], tuple[str, str]]:
        """It travels between processes."""
        return Violation, (self.invariant, self.text)
