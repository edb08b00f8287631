"""How is the image made that tests run Kafka and Connect from where apache/kafka cannot be pulled?

`python -m tests.kafka.image --base IMAGE`: Maven's jars on an image with bash and Java 17 or later that the Docker
engine has or can pull. Its name is then among those that the tests look for.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from docker.errors import APIError, BuildError  # type: ignore[import-untyped]

from tests.kafka.engine import built_image, engine
from tests.kafka.libs import MissingTool, fetch_libs

HERE = Path(__file__).parent
FILES = ("Dockerfile", "run", "warm", "connect-distributed.sh", "server.properties")
BUILD_S = 600


def build(base: str, tag: str) -> None:
    """Build the image. Raises MissingTool where the jars, the engine or the base are missing."""
    libs = fetch_libs()
    with tempfile.TemporaryDirectory() as context, engine(BUILD_S) as client:
        for name in FILES:
            shutil.copy(HERE / name, context)
        shutil.copytree(libs, Path(context) / "libs")
        try:
            client.build(context, tag, buildargs={"BASE": base})
        except BuildError as failed:
            said = "".join(str(step.get("stream", "")) for step in failed.build_log)
            raise MissingTool(f"{said}\nthe image cannot be built on {base}: {failed}") from None
        except APIError as failed:
            raise MissingTool(f"the image cannot be built on {base}: {failed.explanation}") from None


def main() -> int:
    """0 when the image is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.kafka.image", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", required=True, help="an image with bash and Java 17 or later")
    parser.add_argument("--tag", default=built_image(), help="what to call the image (default: %(default)s)")
    options = parser.parse_args()
    try:
        build(options.base, options.tag)
    except MissingTool as missing:
        print(missing, file=sys.stderr)
        return 1
    print(options.tag)
    return 0


if __name__ == "__main__":
    sys.exit(main())
