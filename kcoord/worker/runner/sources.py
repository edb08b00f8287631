"""Where does a runner hear of its connectors, and of changes? From a file, or from Connect's configuration topic.

Out of the topic come Java connectors too, and every connector is to be run by some Python class. It is, in this order:

1. the `python.class` of the connector's configuration: `module:Class`;
2. what was said for its `connector.class`;
3. what was said for all.

A connector for which there is none is assigned all the same, since the group runs it somewhere; it fails here, and says
what is missing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import attrs

from kcoord.worker.config_topic import ConfigTopic, ConnectConfig, ConnectorConfig, Target
from kcoord.worker.config_topic.records import Restart
from kcoord.worker.runner.connector import Connector
from kcoord.worker.runner.definitions import (
    Definition,
    DefinitionError,
    Definitions,
    check_class,
    find_class,
    offset_of,
    read,
)

_log = logging.getLogger(__name__)

PYTHON_CLASS = "python.class"
CONNECTOR_CLASS = "connector.class"


class Source(Protocol):
    """What a runner wants of where its connectors stand."""

    def look(self) -> Definitions:
        """What is there now, the same object as long as nothing has changed; called each second."""

    async def open(self, changed: Callable[[], None]) -> None:
        """Begin; `changed` may be called when there is something new, so that nobody waits for the next second."""

    async def close(self) -> None:
        """End."""

    async def catch_up(self) -> None:
        """Hear of everything that another worker may have heard of already."""

    def take_restarts(self) -> Sequence[Restart]:
        """Requests to start something again, each once."""


class FileSource:
    """A TOML file, or a directory of them. Raises DefinitionError if it cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._definitions = read(path)
        self._bad_offset = -1

    def __str__(self) -> str:
        return str(self._path)

    def look(self) -> Definitions:
        """A file that cannot be used is logged once, and what was read before counts."""
        try:
            offset = offset_of(self._path)
            if offset not in (self._definitions.offset, self._bad_offset):
                self._definitions = read(self._path)
        except DefinitionError as error:
            _log.error("%s; what was read before counts", error)
            self._bad_offset = offset_of(self._path) if self._path.exists() else -1
        return self._definitions

    async def open(self, changed: Callable[[], None]) -> None:
        """A file has no way to tell that it has changed."""

    async def close(self) -> None:
        """Nothing is open."""

    async def catch_up(self) -> None:
        """Every look is at the file itself."""

    def take_restarts(self) -> Sequence[Restart]:
        """A file asks for none."""
        return ()


@attrs.frozen
class Classes:
    """Which Python classes run what stands in the topic; by name, `module:Class`."""

    by_connector_class: Mapping[str, str] = attrs.Factory(dict)
    default: str | None = None

    def find(self, properties: Mapping[str, str | None]) -> type[Connector]:
        """Raises DefinitionError."""
        java = properties.get(CONNECTOR_CLASS) or ""
        name = properties.get(PYTHON_CLASS) or self.by_connector_class.get(java) or self.default
        if name is None:
            raise DefinitionError(
                f"connector.class={java} is not Python: give its configuration a {PYTHON_CLASS}=module:Class, or start "
                f"the worker with --run {java}=module:Class"
            )
        kind = find_class(name)
        check_class(kind)
        return kind

    def check(self) -> None:
        """See that all that are named are there. Raises DefinitionError."""
        for name in (*self.by_connector_class.values(), *([self.default] if self.default else [])):
            check_class(find_class(name))


class TopicSource:
    """Connect's configuration topic. Connectors and tasks have the configurations that stand there."""

    def __init__(self, topic: ConfigTopic, classes: Classes) -> None:
        self._topic = topic
        self._classes = classes
        self._seen = ConnectConfig()
        self._definitions = Definitions(-1, {}, of_topic=True)

    def __str__(self) -> str:
        return f"configuration topic {self._topic.name}"

    def look(self) -> Definitions:
        """What has been read by now."""
        config = self._topic.config
        if config is not self._seen:
            seen, self._seen = self._seen, config
            known = self._definitions.connectors
            defined = {
                name: known[name] if name in known and seen.connectors[name] == each else self._define(each)
                for name, each in config.connectors.items()
            }
            self._definitions = Definitions(config.offset, defined, config.revisions, of_topic=True)
        return self._definitions

    async def open(self, changed: Callable[[], None]) -> None:
        """Raises ConfigTopicError."""
        self._topic.on_change = changed
        await self._topic.open()

    async def close(self) -> None:
        await self._topic.close()

    async def catch_up(self) -> None:
        """Read to the end: what this worker was given just now may have been configured a moment ago."""
        await self._topic.catch_up()

    def take_restarts(self) -> Sequence[Restart]:
        """Those that came by REST."""
        return self._topic.take_restarts()

    def _define(self, config: ConnectorConfig) -> Definition:
        runs = config.target is Target.STARTED
        try:
            kind: type[Connector] | None = self._classes.find(config.properties)
            trouble = ""
        except DefinitionError as error:
            kind, trouble = None, str(error)
        return Definition(config.name, kind, config.properties, config.tasks, trouble, runs)
