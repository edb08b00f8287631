"""What is a Kafka Connect cluster to a test?

Real workers (`ConnectDistributed`), each a JVM of its own, that can be added, stopped and killed, and their REST
interface. What runs where is read from the workers themselves: the names of their threads, in a thread dump.
"""

import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import httpx

from tests.kafka.http import HTTP
from tests.kafka.java import WORKER, Java, write_properties
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess
from tests.kafka.wait import NotYet, eventually, let_pass

SESSION_MS = 8_000
HEARTBEAT_MS = 2_500
DELAY_MS = 3_000
BUSY = {404, 409, 500, 503}  # while a cluster rebalances, or a new leader reads its topics

_THREAD = re.compile(r'^"(connector|task)-thread-(\S+)" ', re.MULTILINE)
_JOINED = re.compile(r"Joined group at generation (\d+)")


@attrs.define(eq=False)
class Worker:
    """One worker's process and address."""

    port: int
    process: ServerProcess

    @property
    def id(self) -> str:
        """The worker's name in REST answers."""
        return f"127.0.0.1:{self.port}"

    def joins(self) -> int:
        """How many rebalances the worker has come out of."""
        return len(_JOINED.findall(self.process.log.read_text(errors="replace")))

    def stops(self) -> list[str]:
        """The tasks that the worker has stopped, one entry each time, as its log tells."""
        return re.findall(r"Stopping task (\S+)", self.process.log.read_text(errors="replace"))

    def running(self) -> list[str]:
        """The connectors ("connector name") and tasks ("task name-0") that this JVM has a thread for, now."""
        before = self.process.log.stat().st_size
        self.process.popen.send_signal(signal.SIGQUIT)  # the JVM prints all its threads while they stand still

        def dump() -> str:
            with self.process.log.open("rb") as log:
                log.seek(before)
                text = log.read().decode(errors="replace")
            start = text.find("Full thread dump")
            end = text.find("\nHeap", start)
            if start < 0 or end < 0:
                raise NotYet("no dump yet")
            return text[start:end]

        return sorted(
            " ".join(found) for found in _THREAD.findall(eventually(dump, f"thread dump of {self.process.name}"))
        )


@attrs.define
class ConnectFleet:
    """A Connect cluster of real workers whose `bootstrap.servers` is `bootstrap`."""

    java: Java
    folder: Path
    bootstrap: str
    group: str
    settings: Mapping[str, object]
    workers: list[Worker] = attrs.field(factory=list, init=False)
    _started: int = attrs.field(default=0, init=False)

    def start_workers(self, number: int) -> list[Worker]:
        """Start workers at the same time, and wait until each says that it is healthy."""
        started = [self._start_worker() for _ in range(number)]
        for worker in started:
            eventually(lambda worker=worker: self._healthy(worker), f"{worker.process.name} is up", deadline_s=240)  # type: ignore[misc]
        return started

    def kill(self, worker: Worker) -> None:
        """`kill -9` one worker."""
        worker.process.kill()
        self.workers.remove(worker)

    def stop(self, worker: Worker) -> None:
        """End one worker in order."""
        worker.process.stop()
        self.workers.remove(worker)

    def remove(self) -> None:
        """Make sure that no worker is left."""
        for worker in self.workers:
            worker.process.kill()
        self.workers.clear()

    def rest(self, method: str, path: str, json: object = None) -> Any:
        """Ask the first worker, again while the cluster is busy with a rebalance; the answer's JSON.

        Raises AssertionError when the answer is an error.
        """

        def answer() -> httpx.Response:
            try:
                response = HTTP.request(method, f"http://{self.workers[0].id}{path}", json=json, timeout=100)
            except httpx.TransportError as lost:
                raise NotYet(repr(lost)) from lost
            if response.status_code in BUSY:
                raise NotYet(f"{response.status_code} {response.text}")
            return response

        response = eventually(answer, f"{method} {path}", deadline_s=240, every_s=0.3)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def create(self, name: str, config: Mapping[str, object]) -> None:
        """Create a connector, or give it a new configuration."""
        self.rest("PUT", f"/connectors/{name}/config", {key: str(value) for key, value in config.items()})

    def stop_connector(self, name: str) -> None:
        """Stop a connector by REST, and wait until no worker runs a task of it."""
        self.rest("PUT", f"/connectors/{name}/stop")

        def stopped() -> bool:
            if self.states()[f"connector {name}"][0] != "STOPPED":
                raise NotYet(self.states())
            return not any(ran.startswith(f"task {name}-") for worker in self.workers for ran in worker.running())

        eventually(stopped, f"{name} stopped", deadline_s=240)

    def states(self) -> dict[str, tuple[str, str]]:
        """The state and the worker's id of every "connector name" and "task name-0", as REST says."""
        states = {}
        for name, info in self.rest("GET", "/connectors?expand=status").items():
            status = info["status"]
            states[f"connector {name}"] = (status["connector"]["state"], status["connector"]["worker_id"])
            for task in status["tasks"]:
                states[f"task {name}-{task['id']}"] = (task["state"], task["worker_id"])
        return states

    def wait_until_settled(self, resources: set[str]) -> dict[str, str]:
        """Wait until exactly these connectors and tasks run, each on exactly one worker, which is the one REST names,
        and every worker has some: before a newcomer is given its share all may seem settled, too.

        Returns the worker's id of each. Raises AssertionError when it does not come to that.
        """

        def settled() -> dict[str, str]:
            for worker in self.workers:
                worker.process.check_running()
            stated = self.states()
            if set(stated) != resources or any(state != "RUNNING" for state, _ in stated.values()):
                raise NotYet(stated)
            runs = [(resource, worker.id) for worker in self.workers for resource in worker.running()]
            if sorted(runs) != sorted((resource, owner) for resource, (_, owner) in stated.items()):
                raise NotYet(f"REST says {stated}, threads say {runs}")
            if {owner for _, owner in runs} != {worker.id for worker in self.workers}:
                raise NotYet(f"a worker has nothing: {runs}")
            return dict(runs)

        return eventually(settled, f"{len(resources)} connectors and tasks run once each", deadline_s=240, every_s=0.5)

    def wait_until_quiet(self, resources: set[str], seconds: float) -> dict[str, str]:
        """As `wait_until_settled`, and no worker has joined anew for so long since: no rebalance is under way."""

        def quiet() -> dict[str, str]:
            owners, joins = self.wait_until_settled(resources), [worker.joins() for worker in self.workers]
            let_pass(seconds)
            if [worker.joins() for worker in self.workers] != joins:
                raise NotYet("there was another rebalance")
            return owners

        return eventually(quiet, "no more rebalances", deadline_s=180)

    def _start_worker(self) -> Worker:
        self._started += 1
        name, port = f"worker-{self._started}", free_port()
        config = self.folder / f"{name}.properties"
        write_properties(config, {**self._properties(name, port), **self.settings})
        worker = Worker(port, self.java.start(name, WORKER, [str(config)], self.folder / f"{name}.log"))
        self.workers.append(worker)
        return worker

    def _properties(self, name: str, port: int) -> dict[str, object]:
        topics = {f"{kind}.storage.topic": f"{self.group}-{kind}" for kind in ("config", "offset", "status")}
        copies = {f"{kind}.storage.replication.factor": -1 for kind in ("config", "offset", "status")}
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.group,
            "client.id": name,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            **topics,
            **copies,
            "offset.storage.partitions": 2,
            "status.storage.partitions": 2,
            "offset.flush.interval.ms": 500,
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "rebalance.timeout.ms": 20_000,
            "scheduled.rebalance.max.delay.ms": DELAY_MS,
            "task.shutdown.graceful.timeout.ms": 5_000,
            "listeners": f"http://127.0.0.1:{port}",
            "rest.advertised.host.name": "127.0.0.1",
            "rest.advertised.port": port,
            "plugin.discovery": "service_load",
            "consumer.session.timeout.ms": 6_000,
            "consumer.heartbeat.interval.ms": 1_000,
            "consumer.auto.offset.reset": "earliest",
            "consumer.metadata.max.age.ms": 2_000,
        }

    @staticmethod
    def _healthy(worker: Worker) -> bool:
        worker.process.check_running()
        try:
            response = HTTP.get(f"http://{worker.id}/health", timeout=20)
        except httpx.TransportError as not_up:
            raise NotYet(repr(not_up)) from not_up
        if response.status_code != 200:
            raise NotYet(f"{response.status_code} {response.text}")
        return True
