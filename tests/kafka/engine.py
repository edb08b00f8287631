"""Does a Docker engine answer, and which image of Kafka does it have?

Images are looked for by name: the one that TESTS_KAFKA_IMAGE names and no other; else `apache/kafka` of the pom's
version, else the one that `python -m tests.kafka.image` builds.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from docker.errors import DockerException, ImageNotFound  # type: ignore[import-untyped]
from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient, get_docker_host

from tests.kafka.libs import MissingTool, kafka_version

IMAGE_VARIABLE = "TESTS_KAFKA_IMAGE"
ANSWER_S = 10
PULL_S = 60  # between two pieces of what is pulled


def official_image() -> str:
    """The image of the Kafka project."""
    return f"apache/kafka:{kafka_version()}"


def built_image() -> str:
    """The image that the project builds itself from Maven's jars."""
    return f"kcoord-test-kafka:{kafka_version()}"


@contextmanager
def engine(timeout_s: int = ANSWER_S) -> Iterator[DockerClient]:
    """The Docker engine, as testcontainers finds it. Raises MissingTool where none answers."""
    try:
        client = DockerClient(timeout=timeout_s)
        client.client.ping()
    except (DockerException, OSError) as error:
        raise MissingTool(f"no Docker engine answers at {get_docker_host() or 'the usual socket'} ({error})") from None
    try:
        yield client
    finally:
        client.client.close()


def has_image(client: DockerClient, name: str) -> bool:
    """Whether the engine has it already."""
    try:
        client.client.images.get(name)
    except ImageNotFound:
        return False
    return True


def image_at_hand(client: DockerClient) -> str | None:
    """The image of Kafka that is used of those that the engine has."""
    return next((name for name in image_names() if has_image(client, name)), None)


def image_names() -> list[str]:
    """The images that would do, best first."""
    named = os.environ.get(IMAGE_VARIABLE)
    return [named] if named else [official_image(), built_image()]


def pull_image() -> str:
    """Bring the first of `image_names`, and return its name. Raises MissingTool."""
    name = image_names()[0]
    pull(name, f"name another with {IMAGE_VARIABLE}, or build one with `python -m tests.kafka.image --base IMAGE`")
    return name


def pull(name: str, advice: str) -> None:
    """Bring an image. Raises MissingTool, with `advice`."""
    try:
        with engine(PULL_S) as client:
            client.client.images.pull(name)
    except (DockerException, OSError) as error:
        raise MissingTool(f"the image {name} is not here and cannot be pulled ({_reason(error)}): {advice}") from None


def _reason(error: Exception) -> str:
    """In the engine's words, where they are its."""
    return str(getattr(error, "explanation", None) or error)


def publishes_elsewhere(client: DockerClient) -> bool:
    """Whether 127.0.0.1 of the engine seems to be another machine's than ours.

    So it is where the engine is reached over a network, or through the socket of the machine that these tests are
    themselves a container of, and it calls its machine by another name than we do.
    """
    remote = (get_docker_host() or "unix:").partition(":")[0] not in ("unix", "npipe")
    if not remote and not Path("/.dockerenv").exists():
        return False
    return bool(client.client.info().get("Name") != socket.gethostname())


def settle_reaper(client: DockerClient) -> None:
    """Do without Ryuk, testcontainers' container that removes what killed tests leave, where its image is not there.

    It would be pulled, and without it nothing started. What tests start they remove themselves when they end.
    """
    if not testcontainers_config.ryuk_disabled and not has_image(client, testcontainers_config.ryuk_image):
        testcontainers_config.ryuk_disabled = True
