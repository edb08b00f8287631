"""How is compose.yaml run in a test? As users run it, but on images at hand, free ports, and under another name.

Its services are looked at and killed through Docker, by the labels that compose gives them; what clients do is done
inside its network, by commands in its containers. All of it is removed at the latest when the tests end.
"""

import atexit
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import httpx

from tests.containers.image import ROOT
from tests.containers.place import Place
from tests.kafka.containers import LABELS
from tests.kafka.engine import engine
from tests.kafka.ports import port_block
from tests.kafka.wait import NotYet, eventually

KAFKAS, KCOORDS, WORKERS = ("kafka-1", "kafka-2"), ("kcoord-1", "kcoord-2"), ("connect-1", "connect-2")
SERVICES = (*KAFKAS, *KCOORDS, *WORKERS)
VOLUMES = (*KAFKAS, *KCOORDS, "lines")
UP_S = 600
BOOTSTRAP = {"kcoord-1": "kcoord-1:9092", "kcoord-2": "kcoord-2:9192"}
LINES = Path("/var/lib/kafka/data")
"""Where the workers share files."""
BUSY = {404, 409, 500, 503}
"""What Connect's REST says while its cluster rebalances."""

_up: set["Composed"] = set()


@attrs.define(eq=False)
class Composed:
    """compose.yaml, up under the name of a project of its own."""

    command: Sequence[str]
    environment: Mapping[str, str]
    project: str
    folder: Path

    @classmethod
    def up(cls, place: Place, image: str, folder: Path) -> "Composed":
        """Start all of it, kcoord from `image`; logs go to `folder` at the end."""
        environment = {
            "GATEWAY_IMAGE": image,
            "KAFKA_IMAGE": place.kafka,
            "GATEWAY_1_PORTS": _range(port_block(4), 4),
            "GATEWAY_2_PORTS": _range(port_block(4), 4),
            "CONNECT_1_PORT": str(port_block(1)),
            "CONNECT_2_PORT": str(port_block(1)),
        }
        labels = folder / "labels.json"  # which is YAML too
        labelled = {
            kind: {name: {"labels": LABELS} for name in names}
            for kind, names in (("services", SERVICES), ("volumes", VOLUMES))
        }
        labels.write_text(json.dumps(labelled))
        project = f"kcoord-tests-{os.getpid()}"
        files = ["--file", str(ROOT / "compose.yaml"), "--file", str(labels)]
        self = cls([*place.compose, *files, "--project-name", project], environment, project, folder)
        _up.add(self)
        self._compose("up", "--detach", "--no-build")
        return self

    def remove(self) -> None:
        """Leave nothing behind."""
        if self in _up:
            _up.discard(self)
            with suppress(OSError, ValueError):  # they may have nowhere to go any more, or it never came up
                for service in SERVICES:
                    (self.folder / f"{service}.log").write_text(self.log(service))
            self._compose("down", "--volumes", "--timeout", "20")

    def wait_until_healthy(self, *services: str) -> None:
        """Wait until the health checks of these services say so."""

        def all_healthy() -> bool:
            states = {name: self.container(name)["State"] for name in services}
            unwell = {
                name: [state["Status"], state.get("Health", {}).get("Status")]
                for name, state in states.items()
                if state.get("Health", {}).get("Status") != "healthy"
            }
            if unwell:
                raise NotYet(unwell)
            return True

        try:
            eventually(all_healthy, f"{', '.join(services)} healthy", deadline_s=UP_S, every_s=1)
        except AssertionError as error:
            ends = "\n".join(f"--- {name}\n{self.log(name)[-2000:]}" for name in services)
            raise AssertionError(f"{error}\n{ends}") from None

    def container(self, service: str) -> Any:
        """What Docker tells of a service's container."""
        wanted = [f"com.docker.compose.project={self.project}", f"com.docker.compose.service={service}"]
        with engine() as client:
            [found] = client.client.api.containers(all=True, filters={"label": wanted})
            return client.client.api.inspect_container(found["Id"])

    def log(self, service: str) -> str:
        """All that a service has printed."""
        identity = self.container(service)["Id"]
        with engine() as client:
            return str(client.client.api.logs(identity).decode(errors="replace"))

    def kill(self, service: str) -> None:
        """`kill -9`; it stays down until it is started."""
        identity = self.container(service)["Id"]
        with engine() as client:
            client.client.api.kill(identity)
            client.client.api.wait(identity)

    def start(self, service: str) -> None:
        """Start a service that was killed, on what it left."""
        identity = self.container(service)["Id"]
        with engine() as client:
            client.client.api.start(identity)

    def run(self, service: str, *command: str) -> str:
        """What a command prints that is run in a service's container. Raises AssertionError when it fails."""
        identity = self.container(service)["Id"]
        with engine(UP_S) as client:
            code, out = client.client.containers.get(identity).exec_run(list(command))
        said = out.decode(errors="replace")
        assert code == 0, f"{' '.join(command)} in {service} ended with {code}:\n{said}"
        return str(said)

    def describe(self, group: str, instance: str) -> Any:
        """A group as kcoord's own command shows it, asked at this instance."""
        at = ("--bootstrap-server", BOOTSTRAP[instance])
        [described] = json.loads(self.run(instance, "kcoord", "groups", "describe", group, "--json", *at))
        return described

    def rest(self, method: str, path: str, json: object = None) -> Any:
        """Ask Connect, again while it is busy with a rebalance; the answer's JSON."""
        url = f"http://127.0.0.1:{self.environment['CONNECT_1_PORT']}{path}"

        def answer() -> httpx.Response:
            try:
                response = httpx.request(method, url, json=json, timeout=60)
            except httpx.TransportError as lost:
                raise NotYet(repr(lost)) from lost
            if response.status_code in BUSY:
                raise NotYet(f"{response.status_code} {response.text}")
            return response

        response = eventually(answer, f"{method} {path}", deadline_s=UP_S, every_s=0.5)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def _compose(self, *arguments: str) -> None:
        outside = {name: value for name, value in os.environ.items() if not name.startswith(("KCOORD_", "COMPOSE_"))}
        done = subprocess.run(
            [*self.command, *arguments],
            env={**outside, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=UP_S,
            check=False,
        )
        assert done.returncode == 0, f"compose {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}"


def _range(first: int, length: int) -> str:
    return f"{first}-{first + length - 1}"


@atexit.register
def _remove_all() -> None:
    for composed in list(_up):
        try:
            composed.remove()
        except (AssertionError, OSError) as error:
            print(f"not removed, the containers of {composed.project}: {error}")
