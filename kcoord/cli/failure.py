"""How does a command end when something is wrong?"""

import sys
from typing import NoReturn

from kcoord.printable import printable

FAILED = 1
USAGE = 2


def fail(error: object, code: int = FAILED) -> NoReturn:
    """Print one line on stderr and exit."""
    print(f"kcoord: {printable(' '.join(str(error).split()))}", file=sys.stderr)
    sys.exit(code)
