"""How long do fault runs go on? Shortly in `make test`, for long in `make soak` (TESTS_FAULTS=long)."""

import os

LONG = os.environ.get("TESTS_FAULTS") == "long"
SEED = int(os.environ.get("TESTS_FAULTS_SEED", "1"))
"""Other seeds shake and break other things; the machine's own timing is in no seed."""


def rounds(short: int, long: int) -> int:
    """So many, as this run is short or long."""
    return long if LONG else short
