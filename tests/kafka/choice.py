"""Is the Kafka of the tests a container or a JVM process, and why?

TESTS_KAFKA=container or =process says it. Unset, it is a container where a Docker engine answers that has an
image of Kafka, and a process everywhere else. Tests do not wait for a pull: `python -m tests`, which `make test` runs
before them, tries one. Against Kafka itself (TESTS_DIRECT=1) it is a process as well, since a Kafka in a
container sees its clients at an address of its network's, not at their own.
"""

import functools
import os
from pathlib import Path

import attrs

from tests.kafka.libs import MissingTool, kafka_version

VARIABLE = "TESTS_KAFKA"
CONTAINER, PROCESS = "container", "process"
SIGNS_OF_DOCKER = (
    "/var/run/docker.sock",
    "~/.docker/run/docker.sock",
    "~/.docker/contexts",
    "~/.testcontainers.properties",
)


@attrs.frozen
class Choice:
    """The way that was chosen.

    `image` is that of a container; `missing` is what the wanted way lacks; `lacks_image`: with an image at hand it
    would be a container.
    """

    way: str
    why: str
    image: str | None = None
    missing: str | None = None
    lacks_image: bool = False

    def __str__(self) -> str:
        """One line for people."""
        if self.missing is not None:
            return f"none, {self.missing}"
        what = f"a container of {self.image}" if self.image else "a JVM process on Maven's jars"
        return f"{kafka_version()} as {what} ({self.why})"

    def check(self) -> None:
        """Raise MissingTool when the chosen way cannot be gone."""
        if self.missing is not None:
            raise MissingTool(f"these tests need Kafka: {self.missing}")


@functools.cache
def choice() -> Choice:
    """What this run of the tests does."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted == PROCESS:
        return Choice(PROCESS, f"{VARIABLE} says so")
    if wanted == CONTAINER:
        return _wanted_container()
    if wanted:
        return Choice(PROCESS, "", missing=f"{VARIABLE}={wanted} is neither {CONTAINER} nor {PROCESS}")
    return _by_itself()


def bring_image() -> str | None:
    """Pull an image where nothing else lacks for containers. What there is to say of it, if anything, as one line."""
    if not choice().lacks_image:
        return None
    from tests.kafka.engine import pull_image

    try:
        pulled = pull_image()
    except MissingTool as missing:
        return f"{missing}; until then the tests run Kafka as a JVM process"
    choice.cache_clear()
    return f"pulled {pulled}"


def _wanted_container() -> Choice:
    from tests.kafka.engine import engine, image_at_hand, pull_image

    why = f"{VARIABLE} says so"
    try:
        with engine() as client:
            image = image_at_hand(client)
        return Choice(CONTAINER, why, image or pull_image())
    except MissingTool as missing:
        return Choice(CONTAINER, why, missing=f"{VARIABLE}={CONTAINER}, but {missing}")


def _by_itself() -> Choice:
    if os.environ.get("TESTS_DIRECT") == "1":
        return Choice(PROCESS, "TESTS_DIRECT=1")
    if not docker_may_be_there():
        return Choice(PROCESS, "no Docker engine")
    from tests.kafka.engine import engine, image_at_hand, image_names, publishes_elsewhere

    try:
        with engine() as client:
            if publishes_elsewhere(client):
                return Choice(PROCESS, f"the Docker engine is on another machine; {VARIABLE}={CONTAINER} insists")
            image = image_at_hand(client)
    except MissingTool as missing:
        return Choice(PROCESS, str(missing))
    if image is None:
        why = f"a Docker engine answers, but has no image {' or '.join(image_names())}"
        return Choice(PROCESS, why, lacks_image=True)
    return Choice(CONTAINER, "a Docker engine answers", image)


def docker_may_be_there() -> bool:
    """Whether anything speaks for a Docker engine.

    False spares the import of Docker's client, which takes longer than many a test.
    """
    if "DOCKER_HOST" in os.environ or "DOCKER_CONTEXT" in os.environ:
        return True
    return any(Path(sign).expanduser().exists() for sign in SIGNS_OF_DOCKER)
