"""The cells of a matrix: one a risk at each commit, all others as proofs (CONTRIBUTING.md, "What is a proof")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def cells(matrix: Iterable[Any], is_proof: Callable[[Any], bool]) -> list[Any]:
    """The parameters of all cells, of which those that `is_proof` names are run by `make proof` only. A cell of several
    parameters is a tuple.
    """
    return [_proof(cell) if is_proof(cell) else cell for cell in matrix]


def _proof(cell: Any) -> Any:
    return pytest.param(*(cell if isinstance(cell, tuple) else (cell,)), marks=pytest.mark.proof)
