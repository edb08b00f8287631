"""The violation that ends a run: something was seen that must never be."""

from __future__ import annotations


class Violation(Exception):
    """An invariant does not hold. The text says which one, and what was seen."""

    def __init__(self, invariant: str, text: str) -> None:
        super().__init__(f"{invariant}: {text}")
        self.invariant = invariant
        self.text = text

    def __reduce__(self) -> tuple[type[Violation], tuple[str, str]]:
        """Pickle it: violations are sent between processes."""
        return Violation, (self.invariant, self.text)
