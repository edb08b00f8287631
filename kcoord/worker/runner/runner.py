"""How do the connectors of a file come to run? Each worker reads it, tells the coordinator what there is, and runs what
it gets.

- The file is looked at each second. A change is told to the group; what runs here with another config than before is
  stopped and started again. A file that cannot be used is logged, and what was read before counts.
- What must have stopped and has not, two seconds after the session ended, ends the process: others run it by now.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from pathlib import Path
from typing import Any

from kcoord.assign import CONNECTOR, Resource, tell
from kcoord.worker.listener import WorkerRebalanceListener
from kcoord.worker.runner.connector import Config, Context
from kcoord.worker.runner.definitions import DefinitionError, Definitions, offset_of, read
from kcoord.worker.runner.running import Run, Running, Status
from kcoord.worker.worker import Configured, Worker

_log = logging.getLogger(__name__)

_GRACE_S = 2.0
_EXIT_CODE = 75
"""EX_TEMPFAIL: start it again."""


class Runner(WorkerRebalanceListener):
    """Runs this worker's share of the connectors in `source`, a TOML file or a directory.

    `options` go to `Worker`. Raises DefinitionError if the file cannot be used.
    """

    def __init__(self, source: Path, bootstrap_servers: str, group_id: str, **options: Any) -> None:
        self._source = source
        self._definitions = read(source)
        self._told = Configured(self._definitions.offset, self._definitions.resources)
        self._bad_offset = -1
        self._running: dict[Resource, Running] = {}
        self._stopping: set[Running] = set()
        self._restarting: set[asyncio.Task[None]] = set()
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
        """The member of the group."""
        return self._worker

    @property
    def definitions(self) -> Definitions:
        """What the file said last."""
        return self._definitions

    def statuses(self) -> list[Status]:
        """How each resource is that this worker runs, sorted."""
        return sorted(
            (each.status for each in (*self._running.values(), *self._stopping)), key=lambda each: each.resource
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set, then leave. Raises WorkerError if the worker may not be a member."""
        async with self._worker as worker:
            stopped = asyncio.ensure_future(stop.wait())
            gone = asyncio.ensure_future(worker.wait())
            try:
                await asyncio.wait([stopped, gone], return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    await gone
            finally:
                stopped.cancel()
                gone.cancel()

    # What is this worker's

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        if any(self._definitions.config_of(resource) is None for resource in resources):
            self._configured()  # another worker has seen the file's change before this one
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
        context.log.info("starts")
        self._running[resource] = Running(context, lambda: self._make(resource, config))

    def _make(self, resource: Resource, config: Config | None) -> Run:
        definition = self._definitions.connectors.get(resource[0])
        if definition is None or config is None:
            raise DefinitionError(f"{tell(resource)} is this worker's, but {self._source} does not have it")
        if resource[1] == CONNECTOR:
            return definition.connector(config).run
        return definition.connector.task(config).run

    async def _stop(self, resources: frozenset[Resource]) -> None:
        leaving = [self._running.pop(resource) for resource in sorted(resources) if resource in self._running]
        self._stopping.update(leaving)
        for each in leaving:
            each.cancel()
        for each in leaving:
            await each.stop()
            self._stopping.discard(each)
            each.context.log.info("has stopped")

    # What there is

    def _configured(self) -> Configured:
        """Called each second by the worker."""
        try:
            offset = offset_of(self._source)
            if offset not in (self._definitions.offset, self._bad_offset):
                self._change(read(self._source))
        except DefinitionError as error:
            _log.error("%s; what was read before counts", error)
            self._bad_offset = offset_of(self._source) if self._source.exists() else -1
        return self._told

    def _change(self, definitions: Definitions) -> None:
        """Another file: what runs here with a config that has changed is started anew."""
        self._definitions = definitions
        self._told = Configured(definitions.offset, definitions.resources)
        for resource, running in list(self._running.items()):
            config = definitions.config_of(resource)
            if config is not None and config != running.context.config:
                task = asyncio.create_task(self._restart(resource, running))
                self._restarting.add(task)
                task.add_done_callback(self._restarting.discard)

    async def _restart(self, resource: Resource, running: Running) -> None:
        running.context.log.info("its config has changed")
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
