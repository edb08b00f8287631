"""A module that cannot be imported: its author has not finished it."""

A = nowhere  # type: ignore[name-defined]  # noqa: F821
