"""Does this machine have what the tests need? `python -m tests` fetches it, or says in a line what is missing.

Jars are needed also where Kafka runs in containers: Kafka's own clients and Connect's workers come from them.
"""

import sys

from tests.archives import bring_archives
from tests.containers.place import bring_bases
from tests.kafka.choice import bring_image
from tests.kafka.libs import MissingTool, fetch_libs, java_command
from tests.release.wheel import bring_release


def main() -> int:
    """0 when all is there."""
    try:
        java_command()
        fetch_libs()
        said = [bring_archives(), bring_image(), bring_bases(), bring_release()]
    except MissingTool as missing:
        print(missing, file=sys.stderr)
        return 1
    for line in filter(None, said):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
