"""What is a fleet of real, unmodified Connect workers to a test?

Workers that can be started, stopped, killed and frozen, connectors that are changed by any worker's REST, and the one
file in which all note what ran where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tests.javafleet.jar import CLASS, EXACTLY_ONCE_CLASS, SINK_CLASS, java_with_connector
from tests.javafleet.notes import Notes, Run, running
from tests.javafleet.rest import Rest
from tests.javafleet.worker import HEAP_MB, FleetWorker, JavaWorker, PythonWorker
from tests.kafka.java import Java
from tests.kafka.wait import NotYet, eventually, let_pass

SESSION_MS, HEARTBEAT_MS = 10_000, 3_000
DEADLINE_S = 270.0
QUIET_S = HEARTBEAT_MS / 1000 + 1
"""Longer than a word to a worker takes: nobody rejoins any more."""


@attrs.define
class Connector:
    """What a connector was told to be."""

    tasks: int
    version: int = 1
    settings: Mapping[str, object] = attrs.Factory(dict)

    def config(self, notes: Path) -> dict[str, str]:
        """Its configuration."""
        kind = EXACTLY_ONCE_CLASS if "exactly.once.support" in self.settings else CLASS
        kind = SINK_CLASS if "topics" in self.settings else kind
        named = {"connector.class": kind, "tasks.max": self.tasks, "notes": notes, "version": self.version}
        return {name: str(value) for name, value in {**named, **self.settings}.items()}


@attrs.define
class JavaFleet:
    """A Connect cluster whose `bootstrap.servers` is `bootstrap`; `settings` are its workers'."""

    java: Java
    folder: Path
    bootstrap: str
    group: str
    settings: Mapping[str, object] = attrs.Factory(dict)
    heap_mb: int = HEAP_MB
    """What each Java worker may have."""
    patience_s: float = DEADLINE_S
    """How long, at most, is waited until all runs."""
    workers: dict[str, FleetWorker] = attrs.field(factory=dict, init=False)
    """All that ever were, by name."""
    connectors: dict[str, Connector] = attrs.field(factory=dict, init=False)
    rest: Rest = attrs.field(factory=Rest, init=False)
    states_count: bool = attrs.field(default=True, init=False)
    """Whether REST is believed. A worker that was frozen for too long goes on to write what it takes for true into the
    status topic, over what others have written since: so it is with any coordinator.
    """

    def __attrs_post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.java = java_with_connector(self.java)

    @property
    def notes(self) -> Notes:
        """What ran where."""
        return Notes(self.folder / "notes")

    @property
    def alive(self) -> list[FleetWorker]:
        """The workers whose processes are there."""
        return [worker for worker in self.workers.values() if worker.running]

    @property
    def java_alive(self) -> list[JavaWorker]:
        """Those that have a REST interface."""
        return [worker for worker in self.alive if isinstance(worker, JavaWorker)]

    # -- workers -------------------------------------------------------------------------------------------------------

    def start(self, *names: str) -> None:
        """Start these workers at once, new ones or such that ended, and wait until they are up."""
        for name in names:
            self.launch(name)
        for name in names:
            self.wait_until_up(name)

    def launch(self, name: str) -> None:
        """Start one worker with what `settings` are now, and do not wait."""
        known = self.workers.get(name)
        if isinstance(known, JavaWorker):
            known.settings = self._settings()
        else:
            self.workers[name] = JavaWorker(name, self.folder, self.notes, self.java, self._settings(), self.heap_mb)
        self.workers[name].start()

    def start_python(self, *names: str) -> None:
        """Start workers of ours, and do not wait."""
        for name in names:
            if name not in self.workers:
                topic = str(self._settings()["config.storage.topic"])
                ours = PythonWorker(name, self.folder, self.notes, self.bootstrap, self.group, topic)
                self.workers[name] = ours
            self.workers[name].start()

    def wait_until_up(self, name: str) -> None:
        """Wait until the Java worker says that it is healthy."""
        worker = self.workers[name]

        def up() -> bool:
            worker.process.check_running()
            return self.rest.is_up(worker.id)

        eventually(up, f"{name} is up", deadline_s=DEADLINE_S)

    def stop(self, name: str) -> None:
        """End a worker in order."""
        self.workers[name].stop()

    def kill(self, name: str) -> None:
        """`kill -9`."""
        self.workers[name].kill()

    def freeze(self, name: str) -> None:
        """SIGSTOP."""
        self.workers[name].process.freeze()

    def thaw(self, name: str) -> None:
        """SIGCONT."""
        self.workers[name].process.thaw()

    def remove(self) -> None:
        """Make sure that no worker is left."""
        for worker in self.workers.values():
            worker.remove()

    def leader(self) -> str:
        """The name of the worker that the others take for their leader."""
        newest = max((join for worker in self.alive for join in worker.joins()), key=lambda join: join.generation)
        return next(worker.name for worker in self.workers.values() if worker.url == newest.leader_url)

    def follower(self) -> str:
        """A worker that does not lead."""
        leader = self.leader()
        return next(worker.name for worker in self.alive if worker.name != leader)

    # -- connectors ----------------------------------------------------------------------------------------------------

    def create(self, name: str, tasks: int, *, by: str = "", **settings: object) -> None:
        """Create a connector, by any worker or this one; `settings` by their names, with _ for the dot."""
        named = {key.replace("_", "."): value for key, value in settings.items()}
        self.connectors[name] = Connector(tasks, settings=named)
        self._put(name, by)

    def reconfigure(self, name: str, tasks: int = 0, *, by: str = "") -> None:
        """Give a connector another version, and if said another number of tasks."""
        connector = self.connectors[name]
        connector.version += 1
        connector.tasks = tasks or connector.tasks
        self._put(name, by)

    def delete(self, name: str, *, by: str = "") -> None:
        """Delete a connector."""
        self.rest.ask(self._asked(by).id, "DELETE", f"/connectors/{name}")
        del self.connectors[name]

    def _put(self, name: str, by: str) -> None:
        config = self.connectors[name].config(self.notes.file)
        self.rest.ask(self._asked(by).id, "PUT", f"/connectors/{name}/config", config)

    def _asked(self, name: str) -> FleetWorker:
        return self.workers[name] if name else self.java_alive[0]

    # -- waiting -------------------------------------------------------------------------------------------------------

    def expected(self) -> dict[str, str]:
        """All that is to run, with the version that it is to have."""
        expected = {}
        for name, each in self.connectors.items():
            for resource in (f"connector {name}", *(f"task {name}-{number}" for number in range(each.tasks))):
                expected[resource] = str(each.version)
        return expected

    def owners(self) -> dict[str, str]:
        """Who runs what now; a resource that runs twice has one of them."""
        return {run.resource: run.worker for run in running(self.notes.runs())}

    def wait_until_settled(self) -> dict[str, str]:
        """Wait until all runs once as it was configured last, each worker has some of it, and REST says the same, if
        all are Java workers and `states_count`.

        Returns who runs what.
        """
        expected = self.expected()

        def settled() -> dict[str, str]:
            for worker in self.alive:
                worker.process.check_running()
            runs = running(self.notes.runs())
            owners = check_runs(runs, expected, [worker.name for worker in self.alive])
            if self.states_count and len(self.java_alive) == len(self.alive):
                self._check_states(owners)
            return owners

        return eventually(settled, f"{len(expected)} resources run once", deadline_s=self.patience_s, every_s=0.2)

    def _check_states(self, owners: Mapping[str, str]) -> None:
        ids = {resource: ("RUNNING", self.workers[owner].id) for resource, owner in owners.items()}
        states = self.rest.states(self.java_alive[0].id)
        if wrong := sorted(each for each in ids.keys() | states.keys() if ids.get(each) != states.get(each)):
            raise NotYet({each: f"is {ids.get(each)}, and REST says {states.get(each)}" for each in wrong})

    def wait_until_quiet(self) -> dict[str, str]:
        """As `wait_until_settled`, and nobody has joined anew, or started or stopped anything, for a while."""

        def quiet() -> dict[str, str]:
            owners, before = self.wait_until_settled(), self._done_so_far()
            let_pass(QUIET_S)
            if self._done_so_far() != before:
                raise NotYet("something still goes on")
            return owners

        return eventually(quiet, "nothing goes on any more", deadline_s=self.patience_s, every_s=0)

    def _done_so_far(self) -> object:
        return self.join_counts(), len(self.notes.read())

    def join_counts(self) -> dict[str, int]:
        """How many joins each worker has come out of, over all its lives."""
        return {name: len(worker.joins()) for name, worker in self.workers.items()}

    def _settings(self) -> dict[str, object]:
        topics = {f"{kind}.storage.topic": f"{self.group}-{kind}" for kind in ("config", "offset", "status")}
        copies = {f"{kind}.storage.replication.factor": -1 for kind in ("config", "offset", "status")}
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.group,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            **topics,
            **copies,
            "offset.storage.partitions": 1,
            "status.storage.partitions": 1,
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "rebalance.timeout.ms": 30_000,
            "task.shutdown.graceful.timeout.ms": 10_000,
            "offset.flush.interval.ms": 2_000,
            "plugin.discovery": "service_load",
            **self.settings,
        }


def check_runs(runs: Sequence[Run], expected: Mapping[str, str], workers: Sequence[str]) -> dict[str, str]:
    """Who runs what. Raises NotYet where these runs are not each of `expected` once, some on each of `workers`."""
    if sorted((run.resource, run.version) for run in runs) != sorted(expected.items()):
        there = {(run.resource, run.version) for run in runs}
        missing, surplus = sorted(set(expected.items()) - there), sorted(there - set(expected.items()))
        raise NotYet(f"{len(runs)} run; missing {missing}, surplus {surplus}")
    owners = {run.resource: run.worker for run in runs}
    if idle := set(workers) - set(owners.values()):
        raise NotYet(f"nothing runs on {idle}")
    return owners
