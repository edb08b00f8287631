"""The length of fault runs: short in `make test`, long in `make proof` and `make soak` (TESTS_FAULTS=long)."""

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., object])

LONG = os.environ.get("TESTS_FAULTS") == "long"
SEED = int(os.environ.get("TESTS_FAULTS_SEED", "1"))
"""Other seeds shake and break other things; the machine's own timing is in no seed."""


def rounds(short: int, long: int) -> int:
    """So many, as this run is short or long."""
    return long if LONG else short


def has_long_form(test: Test) -> Test:
    """Marks a test that uses `rounds`: its long form is a proof."""
    return pytest.mark.proof(test) if LONG else test
