"""How does a worker run as a process of its own? It says what it gets and gives back, until a signal ends it."""

import asyncio
import importlib
import logging
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kcoord.assign import ConnectAssignor, Resource
from kcoord.assign.built_in import CLIENT_SIDE
from kcoord.cli.resources import resources_text
from kcoord.worker.runner import Runner
from kcoord.worker.runner.definitions import read

_log = logging.getLogger("kcoord.worker")

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class UnknownAssignor(Exception):
    """There is no assignor of that name; the text is one line."""


class TellingRunner(Runner):
    """Logs what is assigned and revoked."""

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        _log.info("assigned %s", resources_text(resources))
        await super().on_assigned(resources)

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        _log.info("revoked %s: stopping", resources_text(resources))
        await super().on_revoked(resources)
        _log.info("let go of %s", resources_text(resources))

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        _log.warning("lost %s: stopping at once", resources_text(resources))
        await super().on_lost(resources)


def run(source: Path, bootstrap: str, group: str, assignors: Sequence[str], **options: Any) -> None:
    """Run until SIGTERM or SIGINT. Raises DefinitionError, WorkerError, UnknownAssignor."""
    found = read(source)  # first of all: it makes the modules beside the file importable
    made = [_assignor(name) for name in assignors]
    _log.info("group %s at %s, with %s", group, bootstrap, resources_text(found.resources, "no connectors yet"))
    asyncio.run(_run(source, bootstrap, group, assignors=made, **options))
    _log.info("has left group %s", group)


async def _run(source: Path, bootstrap: str, group: str, **options: Any) -> None:
    runner = TellingRunner(source, bootstrap, group, **options)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def end(number: signal.Signals) -> None:
        """In order the first time; a second signal ends the process as it always would."""
        _log.info("%s: stopping, then leaving", number.name)
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        stop.set()

    for each in _SIGNALS:
        loop.add_signal_handler(each, end, each)
    await runner.run(stop)


def _assignor(name: str) -> ConnectAssignor:
    """A built-in one, or `module:Class`."""
    if name in CLIENT_SIDE:
        return CLIENT_SIDE[name]()
    module, _, attribute = name.partition(":")
    if not attribute:
        raise UnknownAssignor(f"{name}: there are {', '.join(CLIENT_SIDE)}; another one is named MODULE:CLASS")
    try:
        made = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError) as error:
        raise UnknownAssignor(f"{name}: {error}") from None
    if not isinstance(made, ConnectAssignor):
        raise UnknownAssignor(f"{name}: is no ConnectAssignor")
    return made
