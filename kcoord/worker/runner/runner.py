"""The runner of connectors: it reads a source, reports to the group what exists, and runs its share.

- The runner looks at the source each second. It reports a change to the group, and restarts what runs here with another
  config than before. There is one exception: with the classic protocol, the membership itself handles tasks that were
  reconfigured in Connect's topic. It stops them, joins, and starts them when all workers have stopped theirs.
- A worker keeps what is paused in the source without running it.
- If something has not stopped two seconds after the session ended, the process ends: others run it by now.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from pathlib import Path
from typing import Any

from kcoord.assign import Resource, tell
from kcoord.worker.config_topic.records import Restart
from kcoord.worker.configured import Configured
from kcoord.worker.listener import WorkerRebalanceListener
from kcoord.worker.runner.connector import Config, Context
from kcoord.worker.runner.definitions import DefinitionError, Definitions
from kcoord.worker.runner.running import Condition, Run, Running, Status
from kcoord.worker.runner.sources import FileSource, Source
from kcoord.worker.worker import Worker

_log = logging.getLogger(__name__)

_GRACE_S = 2.0
_EXIT_CODE = 75
"""EX_TEMPFAIL: the process should be started again."""


class Runner(WorkerRebalanceListener):
    """Runs this worker's share of the connectors in `source`: a TOML file, a directory, or a `Source` of another kind.

    `options` go to `Worker`. Raises DefinitionError if the file cannot be used.
    """

    def __init__(self, source: Path | Source, bootstrap_servers: str, group_id: str, **options: Any) -> None:
        self._source: Source = FileSource(source) if isinstance(source, Path) else source
        self._definitions = self._source.look()
        self._told = _told(self._definitions)
        self._in_rounds = options.get("group_protocol") in ("classic", "generic")
        self._running: dict[Resource, Running] = {}
        self._stopping: set[Running] = set()
        self._restarting: set[asyncio.Task[None]] = set()
        self._joined = False
        self._worker = Worker(
            bootstrap_servers,
            group_id,
            listener=self,
            configured=self._configured,
            last_resort=self._end_if_it_must,
            **options,
        )

    @property
    def worker(self) -> Worker:
        """The worker, which is the member of the group."""
        return self._worker

    @property
    def definitions(self) -> Definitions:
        """The definitions that the source returned last."""
        return self._definitions

    def statuses(self) -> list[Status]:
        """The status of each resource that this worker runs, sorted."""
        return sorted(
            (each.status for each in (*self._running.values(), *self._stopping)), key=lambda each: each.resource
        )

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Run until `stop` is set, or until a signal comes (see `Worker`); then leave.

        Raises WorkerError if the worker may not be a member, and what the source raises if it cannot be opened.
        """
        try:
            await self._source.open(self._changed)
            await self._run(asyncio.Event() if stop is None else stop)
        finally:
            await self._source.close()

    async def _run(self, stop: asyncio.Event) -> None:
        async with self._worker as worker:
            self._joined = True
            stopped = asyncio.ensure_future(stop.wait())
            gone = asyncio.ensure_future(worker.wait())
            try:
                await asyncio.wait([stopped, gone], return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    await gone
            finally:
                self._joined = False
                stopped.cancel()
                gone.cancel()

    def _changed(self) -> None:
        if self._joined:
            self._worker.configured_changed()

    # What is this worker's

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        await self._source.catch_up()
        self._configured()  # another worker may have seen a change before this one
        for resource in sorted(resources):
            self._start(resource)

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        await self._stop(resources)

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        await self._stop(frozenset(self._running) | resources)
        await asyncio.gather(*(each.stop() for each in self._stopping))

    def _start(self, resource: Resource) -> None:
        config = self._definitions.config_of(resource)
        context = Context(resource, config or {}, lambda: self._worker.may_run(resource))
        paused = not self._definitions.runs(resource)
        context.log.info("is paused" if paused else "starts")
        self._running[resource] = Running(context, lambda: self._make(resource, config), paused=paused)

    def _make(self, resource: Resource, config: Config | None) -> Run:
        definition = self._definitions.connectors.get(resource.connector)
        if definition is None or config is None:
            raise DefinitionError(f"{tell(resource)} is assigned to this worker, but {self._source} does not define it")
        if definition.connector is None:
            raise DefinitionError(f"{tell(resource)}: {definition.trouble}")
        if resource.is_connector:
            return definition.connector(config).run
        return definition.connector.task(config).run

    async def _stop(self, resources: frozenset[Resource]) -> None:
        leaving = [self._running.pop(resource) for resource in sorted(resources) if resource in self._running]
        for each in leaving:
            self._stopping.add(each)
            each.cancel()
            each.call_when_ended(self._has_stopped)
        for each in leaving:
            await each.stop()
            self._has_stopped(each)

    def _has_stopped(self, running: Running) -> None:
        """Note that a resource has stopped. Called even if the code that waited for that was cancelled meanwhile."""
        if running in self._stopping:
            self._stopping.discard(running)
            running.context.log.info("has stopped")

    # What there is

    def _configured(self) -> Configured | None:
        """What the worker reports as configured. The worker calls this each second."""
        definitions = self._source.look()
        if definitions is not self._definitions:
            self._change(definitions)
        for request in self._source.take_restarts():
            self._restart_requested(request)
        if self._joined:
            self._worker.trouble("tasks:", self._failing() or None)
        return self._told

    def _failing(self) -> str:
        """What fails, or has run for less than a minute since it failed."""
        fails = sorted(resource for resource, each in self._running.items() if each.is_failing)
        return ", ".join(f"{tell(each)} failed: {self._running[each].status.error}" for each in fails)

    def _change(self, definitions: Definitions) -> None:
        """Take new definitions, and restart what runs here with a config that has changed."""
        self._definitions = definitions
        self._told = _told(definitions)
        of_a_round = self._in_rounds and definitions.of_topic
        for resource, running in list(self._running.items()):
            config = definitions.config_of(resource)
            if config is None:
                continue
            differs = config != running.context.config and not (of_a_round and not resource.is_connector)
            if differs or running.paused is definitions.runs(resource):
                self._restart_soon(resource, running, "its config has changed")

    def _restart_requested(self, request: Restart) -> None:
        for resource, running in list(self._running.items()):
            asked = resource.connector == request.name and (resource.is_connector or request.include_tasks)
            if asked and (not request.only_failed or running.status.condition is Condition.FAILED):
                self._restart_soon(resource, running, "is to be started again")

    def _restart_soon(self, resource: Resource, running: Running, why: str) -> None:
        running.context.log.info("%s", why)
        task = asyncio.create_task(self._restart(resource, running))
        self._restarting.add(task)
        task.add_done_callback(self._restarting.discard)

    async def _restart(self, resource: Resource, running: Running) -> None:
        await running.stop()
        if self._running.get(resource) is running:
            self._start(resource)

    # The last resort

    def _end_if_it_must(self, resources: frozenset[Resource]) -> None:
        timer = threading.Timer(_GRACE_S, self._end_if_it_runs, [resources])
        timer.daemon = True
        timer.start()

    def _end_if_it_runs(self, resources: frozenset[Resource]) -> None:
        running = [each.resource for each in self.statuses() if each.resource in resources]
        if running and not self._worker.may_run(running[0]):
            _log.critical("the session has ended and these run on: %s; the process ends", ", ".join(map(tell, running)))
            os._exit(_EXIT_CODE)


def _told(definitions: Definitions) -> Configured | None:
    """What the worker reports to the group; None before anything was read."""
    if definitions.offset < 0:
        return None
    return Configured(
        definitions.offset,
        definitions.resources,
        definitions.revisions,
        of_topic=definitions.of_topic,
        of_file=not definitions.of_topic,
    )
