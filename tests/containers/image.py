"""How is kcoord's image built in a test, and run?

Built from these sources as users build it, once a run: layers that did not change come from the engine's cache. The
codecs are compiled, which takes minutes where they have changed since. Containers publish their ports on 127.0.0.1
only, and are removed with their volumes when the tests end.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from docker.errors import APIError, BuildError  # type: ignore[import-untyped]
from filelock import FileLock
from testcontainers.core.container import DockerContainer

from tests.containers.place import IMAGE_VARIABLE, Place
from tests.kafka.containers import LABELS
from tests.kafka.engine import engine
from tests.kafka.libs import CACHE
from tests.kafka.ports import free_port
from tests.kafka.wait import NotYet, eventually

ROOT = Path(__file__).parents[2]
TAG = "kcoord-tests:latest"
BUILD_S = 3600
"""Between two lines of the build's output."""
UP_S = 300
OFTEN = {"interval": 1_000_000_000}
"""The image's own health check, each second."""
DATA = "/var/lib/kcoord"
NETWORK_VARIABLE = "TESTS_BUILD_NETWORK"
"""The network of the build's containers (`host`), where that of the engine does not lead to the package index."""


def build_image(place: Place) -> str:
    """The name of kcoord's image, built now unless another one was named."""
    named = os.environ.get(IMAGE_VARIABLE)
    if named:
        return named
    build_base, base = place.bases
    run, built_by = os.environ.get("PYTEST_XDIST_TESTRUNUID"), CACHE / "image.run"
    CACHE.mkdir(exist_ok=True)
    with FileLock(CACHE / "image.lock"), engine(BUILD_S) as client:
        if run is not None and built_by.exists() and built_by.read_text() == run:
            return TAG  # another process of this run has built it
        network: dict[str, Any] = {}
        if NETWORK_VARIABLE in os.environ:
            network["network_mode"] = os.environ[NETWORK_VARIABLE]
        try:
            client.build(str(ROOT), TAG, rm=True, buildargs={"BUILD_BASE": build_base, "BASE": base}, **network)
        except BuildError as failed:
            said = "".join(str(step.get("stream", "")) for step in failed.build_log)
            raise AssertionError(f"{said[-4000:]}\nkcoord's image cannot be built: {failed}") from None
        except APIError as failed:
            raise AssertionError(f"kcoord's image cannot be built: {failed.explanation}") from None
        built_by.write_text(run or "")
    return TAG


@attrs.define(eq=False)
class KcoordContainer:
    """A container of kcoord's image; clients reach it at `port` of 127.0.0.1."""

    image: str
    port: int = attrs.field(factory=free_port)
    _container: DockerContainer | None = attrs.field(default=None, init=False)

    def start(
        self, environment: Mapping[str, str] | None = None, volume: str | None = None, **options: Any
    ) -> "KcoordContainer":
        """Start it; `options` are docker's. With the name of a volume it keeps its data there."""
        container = DockerContainer(self.image)
        container.with_kwargs(**{"labels": LABELS, "healthcheck": OFTEN, **options})
        container.ports["9092"] = ("127.0.0.1", self.port)  # type: ignore[assignment]  # docker takes it
        settings = {"KCOORD_ADVERTISE": f"127.0.0.1:{self.port}", "KCOORD_GROUP_INITIAL_REBALANCE_DELAY_MS": "0"}
        for name, value in {**settings, **(environment or {})}.items():
            container.with_env(name, value)
        if volume is not None:
            container.with_volume_mapping(volume, DATA, "rw")
        self._container = container
        container.start()
        return self

    @property
    def bootstrap(self) -> str:
        """The address that clients are given."""
        return f"127.0.0.1:{self.port}"

    @property
    def inner(self) -> Any:
        """Docker's own view, as it is now; it has no types."""
        assert self._container is not None, "it was never started"
        inner = self._container.get_wrapped_container()
        inner.reload()
        return inner

    @property
    def log(self) -> str:
        """All that it has printed."""
        return str(self.inner.logs().decode(errors="replace"))

    def wait_until(self, health: str) -> "KcoordContainer":
        """Wait until the image's health check says so."""

        def is_so() -> bool:
            state = self.inner.attrs["State"]
            if not state["Running"]:
                raise AssertionError(f"it ended with {state['ExitCode']}:\n{self.log}")
            if state["Health"]["Status"] != health:
                raise NotYet(json.dumps(state["Health"])[-1000:])
            return True

        eventually(is_so, f"kcoord is {health}", deadline_s=UP_S, every_s=0.3)
        return self

    def run(self, *command: str) -> str:
        """What a command prints that is run in the container. Raises AssertionError when it fails."""
        code, out = self.inner.exec_run(list(command))
        said = out.decode(errors="replace")
        assert code == 0, f"{' '.join(command)} ended with {code}:\n{said}"
        return str(said)

    def kill(self) -> None:
        """`kill -9`."""
        self.inner.kill()
        self.inner.wait()

    def start_again(self) -> None:
        """Start the container that was killed or stopped."""
        self.inner.start()

    def remove(self) -> None:
        """Leave nothing of it behind but a volume that has a name."""
        if self._container is not None and self._container._container is not None:
            self._container.stop()
            self._container = None


def run_once(image: str, *arguments: str, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run the image to its end: the exit code, and what it printed."""
    with engine() as client:
        container = client.client.containers.run(
            image, list(arguments) or None, environment=dict(environment or {}), labels=LABELS, detach=True
        )
        try:
            return container.wait(timeout=UP_S)["StatusCode"], container.logs().decode()
        finally:
            container.remove(v=True, force=True)
