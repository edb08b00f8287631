"""Which fixtures do the tests of containers share?"""

import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.containers.image import KcoordContainer, build_image
from tests.containers.place import place
from tests.kafka.containers import LABELS
from tests.kafka.engine import engine, settle_reaper


@pytest.fixture(scope="session")
def image() -> str:
    """kcoord's image; where it cannot be had these tests are skipped."""
    place().check()
    with engine() as client:
        settle_reaper(client)
    return build_image(place())


@pytest.fixture
def volume(image: str) -> Iterator[str]:
    """A volume with a name, which outlives containers."""
    with engine() as client:
        made = client.client.volumes.create(f"kcoord-tests-{uuid.uuid4().hex[:8]}", labels=LABELS)
        yield made.name
        made.remove(force=True)


@pytest.fixture
def new_container(image: str, volume: str) -> Iterator[Callable[[], KcoordContainer]]:
    """Makes containers that were not started yet; all are removed with the test, before its volume can be."""
    made: list[KcoordContainer] = []

    def new() -> KcoordContainer:
        made.append(KcoordContainer(image))
        return made[-1]

    yield new
    for container in made:
        container.remove()
