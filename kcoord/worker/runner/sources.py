"""Sources of connectors for a runner: a file, or Connect's configuration topic.

The topic has Java connectors too, and a Python class must run every connector. That class is, in this order:

1. the `python.class` of the connector's configuration: `module:Class`;
2. the class that was given for its `connector.class`;
3. the class that was given for all.

A connector without such a class is assigned all the same, since the group must run it somewhere. It fails here, and its
status says what is missing.
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
    """What a runner needs from the place where its connectors are defined."""

    def look(self) -> Definitions:
        """What is defined now; the same object as long as nothing has changed. Called each second."""

    async def open(self, changed: Callable[[], None]) -> None:
        """Open the source. It may call `changed` when there is something new, so that nobody waits for the next
        second.
        """

    async def close(self) -> None:
        """Close the source."""

    async def catch_up(self) -> None:
        """Read everything that another worker may have read already."""

    def take_restarts(self) -> Sequence[Restart]:
        """Requests to restart something; each is returned once."""


class FileSource:
    """A TOML file, or a directory of them. Raises DefinitionError if it cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._definitions = read(path)
        self._bad_offset = -1

    def __str__(self) -> str:
        return str(self._path)

    def look(self) -> Definitions:
        """What the file defines. If it cannot be used, that is logged once, and what was read before counts."""
        try:
            offset = offset_of(self._path)
            if offset not in (self._definitions.offset, self._bad_offset):
                self._definitions = read(self._path)
        except DefinitionError as error:
            _log.error("%s; keeping what was read before", error)
            self._bad_offset = offset_of(self._path) if self._path.exists() else -1
        return self._definitions

    async def open(self, changed: Callable[[], None]) -> None:
        """Does nothing: a file cannot report that it has changed."""

    async def close(self) -> None:
        """Does nothing: nothing is open."""

    async def catch_up(self) -> None:
        """Does nothing: every look reads the file itself."""

    def take_restarts(self) -> Sequence[Restart]:
        """Nothing: a file has no such requests."""
        return ()


@attrs.frozen
class Classes:
    """The Python classes that run the connectors of the topic; by name, `module:Class`."""

    by_connector_class: Mapping[str, str] = attrs.Factory(dict)
    default: str | None = None

    def find(self, properties: Mapping[str, str | None]) -> type[Connector]:
        """The class that runs a connector with these properties. Raises DefinitionError."""
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
        """Check that all named classes exist. Raises DefinitionError."""
        for name in (*self.by_connector_class.values(), *([self.default] if self.default else [])):
            check_class(find_class(name))


class TopicSource:
    """Connect's configuration topic. Connectors and tasks have the configurations that are written there."""

    def __init__(self, topic: ConfigTopic, classes: Classes) -> None:
        self._topic = topic
        self._classes = classes
        self._seen = ConnectConfig()
        self._definitions = Definitions(-1, {}, of_topic=True)

    def __str__(self) -> str:
        return f"configuration topic {self._topic.name}"

    def look(self) -> Definitions:
        """What has been read so far."""
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
        """Open the topic and read it to its end. Raises ConfigTopicError."""
        self._topic.on_change = changed
        await self._topic.open()

    async def close(self) -> None:
        await self._topic.close()

    async def catch_up(self) -> None:
        """Read to the end: what this worker has just been given may have been configured a moment ago."""
        await self._topic.catch_up()

    def take_restarts(self) -> Sequence[Restart]:
        """Restart requests that came by Connect's REST interface."""
        return self._topic.take_restarts()

    def _define(self, config: ConnectorConfig) -> Definition:
        runs = config.target is Target.STARTED
        try:
            kind: type[Connector] | None = self._classes.find(config.properties)
            trouble = ""
        except DefinitionError as error:
            kind, trouble = None, str(error)
        return Definition(config.name, kind, config.properties, config.tasks, trouble, runs)
