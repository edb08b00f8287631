"""Does this machine have what the tests need? `python -m tests` fetches the jars, or says in a line what is missing."""

import sys

from tests.kafka.libs import MissingTool, fetch_libs, java_command


def main() -> int:
    """0 when all is there."""
    try:
        java_command()
        fetch_libs()
    except MissingTool as missing:
        print(missing, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
