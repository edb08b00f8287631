"""How does a command end when something is wrong?"""

import sys
from typing import NoReturn

FAILED = 1
USAGE = 2


def fail(error: object, code: int = FAILED) -> NoReturn:
    """Print one line on stderr and exit."""
    print(f"kcoord: {' '.join(str(error).split())}", file=sys.stderr)
    sys.exit(code)
