"""A worker as a process of its own: it logs what it gets and gives back, until a signal ends it."""

import asyncio
import importlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from kcoord.assign import ConnectAssignor, Resource
from kcoord.assign.built_in import CLIENT_SIDE
from kcoord.cli.output.resource_texts import resources_text
from kcoord.client.security import Security
from kcoord.worker.config_topic import ConfigTopic
from kcoord.worker.runner import Classes, Runner, TopicSource
from kcoord.worker.runner.sources import FileSource

_log = logging.getLogger("kcoord.worker")


class UnknownAssignor(Exception):
    """There is no assignor of that name. The text is one line."""


@attrs.frozen
class Topic:
    """Kafka Connect's configuration topic, and the Python classes that run the connectors in it."""

    name: str
    bootstrap: str
    security: Security | None
    run: Sequence[str]
    """`MODULE:CLASS` for all connectors, or `JAVA.CLASS=MODULE:CLASS` for one class."""


class TellingRunner(Runner):
    """A runner that logs what is assigned and revoked."""

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


def run(where: Path | Topic, bootstrap: str, group: str, assignors: Sequence[str], **options: Any) -> None:
    """Run until SIGTERM or SIGINT. Raises DefinitionError, ConfigTopicError, WorkerError, UnknownAssignor."""
    # must come first: it makes modules beside the file importable
    source = _of_topic(where, str(options["client_id"])) if isinstance(where, Topic) else FileSource(where)
    made = [_assignor(name) for name in assignors]
    found = source.look().resources
    said = f"the connectors in {source}" if isinstance(where, Topic) else resources_text(found, "no connectors yet")
    _log.info("group %s at %s, with %s", group, bootstrap, said)
    asyncio.run(TellingRunner(source, bootstrap, group, assignors=made, **options).run())
    _log.info("has left group %s", group)


def _of_topic(where: Topic, client_id: str) -> TopicSource:
    sys.path.insert(0, "")  # modules in the directory where the worker was started, as with `python -m`
    classes = _classes(where.run)
    classes.check()
    topic = ConfigTopic(where.bootstrap, where.name, security=where.security, client_id=client_id)
    return TopicSource(topic, classes)


def _classes(run: Sequence[str]) -> Classes:
    """The classes of `--run`. For each Java class, and for "all", the last one given counts."""
    split = [each.rpartition("=") for each in run]
    return Classes(
        {java: python for java, _, python in split if java},
        next((python for java, _, python in reversed(split) if not java), None),
    )


def _assignor(name: str) -> ConnectAssignor:
    """A built-in assignor, or an instance of `module:Class`."""
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
        raise UnknownAssignor(f"{name}: it is not a ConnectAssignor")
    return made
