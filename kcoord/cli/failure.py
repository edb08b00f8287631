"""The end of a command when something is wrong: one line on stderr, and the exit code."""

import sys
from typing import NoReturn

from kcoord.printable import printable

FAILED = 1
USAGE = 2


def fail(error: object, code: int = FAILED) -> NoReturn:
    """Print one line on stderr and exit."""
    print(f"kcoord: {printable(' '.join(str(error).split()))}", file=sys.stderr)
    sys.exit(code)
