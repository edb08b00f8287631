"""Which cells of a state table does a test reach? Its row is replaced by one that notes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

import pytest


def watch_row(monkeypatch: pytest.MonkeyPatch, table: ModuleType, name: str, dispatch: Sequence[str]) -> list[str]:
    """Replace the row `name` of a table's module, also where the dicts named by `dispatch` lead to it. Returns a list
    that gets the name of each cell that is reached.
    """
    row = getattr(table, name)
    reached: list[str] = []
    watched = row._replace(**{each: _watching(getattr(row, each), each, reached) for each in row._fields})
    monkeypatch.setattr(table, name, watched)
    for each in dispatch:
        rows = {key: watched if value is row else value for key, value in getattr(table, each).items()}
        monkeypatch.setattr(table, each, rows)
    return reached


def _watching(cell: Callable[..., object], column: str, reached: list[str]) -> Callable[..., None]:
    def watching(*arguments: object) -> None:
        reached.append(column)
        cell(*arguments)

    return watching
