"""Can kcoord's image be built and run on this machine, and if not, what is missing?

It takes a Docker engine of this machine that has a Python to build on (`python:3.11` and `python:3.11-slim`, else what
`tests/kafka/image/debian python` makes), and for compose.yaml an image of Kafka and a compose command. Nothing is
pulled here: `python -m tests`, which `make test` runs before, tries that. What is missing skips these tests, with a
line in pytest's header and at its end; TESTS_CONTAINERS=1 makes it a failure, =0 skips them in any case.
"""

import functools
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import attrs
import pytest

from tests.kafka.choice import docker_may_be_there
from tests.kafka.libs import MissingTool

if TYPE_CHECKING:
    from testcontainers.core.docker_client import DockerClient

VARIABLE = "TESTS_CONTAINERS"
BASE_VARIABLE = "TESTS_PYTHON_IMAGE"
"""An image for both stages of the Dockerfile."""
IMAGE_VARIABLE = "TESTS_IMAGE"
"""An image of kcoord to test, instead of one that is built from these sources."""
OFFICIAL = ("python:3.11", "python:3.11-slim")
BUILT = "kcoord-test-python:debian"
ADVICE = "make one: tests/kafka/image/debian python"


@attrs.frozen
class Place:
    """What is here.

    `missing` keeps all of these tests from running, `missing_for_compose` those of compose.yaml. `lacks_bases`: with a
    Python at hand they would run.
    """

    bases: tuple[str, str] = ("", "")
    kafka: str = ""
    compose: tuple[str, ...] = ()
    missing: str | None = None
    missing_for_compose: str | None = None
    lacks_bases: bool = False

    def __str__(self) -> str:
        """One line for people."""
        if self.missing is not None:
            return f"not tested, {self.missing}"
        on = os.environ.get(IMAGE_VARIABLE) or f"kcoord on {self.bases[1]}"
        if self.missing_for_compose is not None:
            return f"{on}; compose.yaml is not tested, {self.missing_for_compose}"
        return f"{on}, compose.yaml on {self.kafka} by {' '.join(self.compose)}"

    def check(self, *, compose: bool = False) -> None:
        """Skip the test, or fail it where these tests are insisted on, if something is missing for it."""
        missing = self.missing or (self.missing_for_compose if compose else None)
        if missing is None:
            return
        if os.environ.get(VARIABLE) == "1":
            pytest.fail(f"{VARIABLE}=1, but {missing}", pytrace=False)
        pytest.skip(f"container tests: {missing}")


@functools.cache
def place() -> Place:
    """What this machine has."""
    if os.environ.get(VARIABLE) == "0":
        return Place(missing=f"{VARIABLE}=0 says so")
    if not docker_may_be_there():
        return Place(missing="there is no Docker engine")
    from tests.kafka.engine import engine, image_at_hand, image_names, publishes_elsewhere

    try:
        with engine() as client:
            if publishes_elsewhere(client):
                return Place(missing="the Docker engine is on another machine")
            bases = bases_at_hand(client)
            kafka = image_at_hand(client)
    except MissingTool as missing:
        return Place(missing=str(missing))
    if bases is None:
        named = os.environ.get(BASE_VARIABLE)
        wanted = named or f"{' and '.join(OFFICIAL)} ({ADVICE})"
        return Place(missing=f"the Docker engine has no image {wanted}", lacks_bases=named is None)
    compose = compose_command()
    lacks: str | None
    if kafka is None:
        lacks = f"the Docker engine has no image {' or '.join(image_names())}"
    else:
        lacks = None if compose else "there is neither `docker compose` nor docker-compose"
    return Place(bases, kafka or "", compose, missing_for_compose=lacks)


def bases_at_hand(client: "DockerClient") -> tuple[str, str] | None:
    """The images to build kcoord's on (BUILD_BASE and BASE) that the engine has."""
    from tests.kafka.engine import has_image

    named = os.environ.get(BASE_VARIABLE)
    pairs = [(named, named)] if named else [OFFICIAL, (BUILT, BUILT)]
    return next((pair for pair in pairs if all(has_image(client, name) for name in pair)), None)


def compose_command() -> tuple[str, ...]:
    """`docker compose`, or the older docker-compose; empty where there is neither."""
    for command in (("docker", "compose"), ("docker-compose",)):
        if shutil.which(command[0]) is None:
            continue
        if subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0:
            return command
    return ()


def bring_bases() -> str | None:
    """Pull the Python to build on, where nothing else lacks. What there is to say of it, if anything, as one line."""
    if not place().lacks_bases:
        return None
    from tests.kafka.engine import pull

    try:
        for name in OFFICIAL:
            pull(name, ADVICE)
    except MissingTool as missing:
        return f"{missing}; until then kcoord's own image is not tested"
    place.cache_clear()
    return f"pulled {' and '.join(OFFICIAL)}"
