"""Connectors as a TOML file or a directory of them defines them, and when they last changed.

- A file has a table for each connector: `[NAME]`, with `class = "module:Class"`, and what that class needs.
- In a directory each `NAME.toml` is one connector's table.
- Modules are looked for beside the file, then where Python looks.
- The config offset is the modification time, in nanoseconds. That of a directory counts too: it changes when a file is
  removed.
"""

from __future__ import annotations

import importlib
import sys
import tomllib
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from kcoord.assign import CONNECTOR, Resource
from kcoord.worker.listener import is_plain_function
from kcoord.worker.runner.connector import Config, Connector, Task


class DefinitionError(Exception):
    """The file cannot be used; the text is one line that names it."""


@attrs.frozen
class Definition:
    """One connector."""

    name: str
    connector: type[Connector] | None
    """None: no class can run it, and `trouble` says why."""
    config: Config
    task_configs: tuple[Config, ...]
    trouble: str = ""
    runs: bool = True
    """False: it is paused, and the worker that has it does not run it."""

    def config_of(self, resource: Resource) -> Config | None:
        """The config of the connector or of one of its tasks; None for a task that it does not have."""
        if resource.is_connector:
            return self.config
        task = resource.task_id
        return self.task_configs[task] if task < len(self.task_configs) else None


@attrs.frozen
class Definitions:
    """All connectors, as of one moment."""

    offset: int
    connectors: Mapping[str, Definition]
    revisions: Mapping[str, int] = attrs.Factory(dict)
    """By connector: increases when its tasks are reconfigured, if the source counts that."""
    of_topic: bool = False
    """The offset is an offset of Connect's configuration topic, as Java workers count."""

    @property
    def resources(self) -> frozenset[Resource]:
        """All connectors and tasks that the group is to run."""
        return frozenset(
            Resource(each.name, task)
            for each in self.connectors.values()
            for task in range(CONNECTOR, len(each.task_configs))
        )

    def runs(self, resource: Resource) -> bool:
        """Whether the worker that has `resource` is to run it."""
        definition = self.connectors.get(resource.connector)
        return definition is None or definition.runs

    def config_of(self, resource: Resource) -> Config | None:
        """The config of `resource`; None if it does not exist."""
        definition = self.connectors.get(resource.connector)
        return None if definition is None else definition.config_of(resource)


def read(source: Path) -> Definitions:
    """Read `source`, a file or a directory. Raises DefinitionError."""
    offset = offset_of(source)
    folder = source if source.is_dir() else source.parent
    if str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))
    tables = _tables_in_folder(source) if source.is_dir() else _tables_in_file(source)
    return Definitions(offset, {name: _define(source, name, table) for name, table in tables.items()})


def offset_of(source: Path) -> int:
    """When the file or directory was last changed, in ns. Raises DefinitionError."""
    try:
        files = [source, *_files_in(source)] if source.is_dir() else [source]
        return max(file.stat().st_mtime_ns for file in files)
    except OSError as error:
        raise DefinitionError(f"{source}: cannot be read: {error.strerror}") from None


def _files_in(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("*.toml"))


def _tables_in_folder(folder: Path) -> dict[str, Config]:
    return {file.stem: _load(file) for file in _files_in(folder)}


def _tables_in_file(file: Path) -> dict[str, Config]:
    tables = _load(file)
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise DefinitionError(f"{file}: {name} is outside any table; put the connector's [NAME] above it")
    return tables


def _load(file: Path) -> dict[str, Config]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DefinitionError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise DefinitionError(f"{file}: not valid TOML: {error}") from None


def _define(source: Path, name: str, table: Config) -> Definition:
    config = {key: value for key, value in table.items() if key != "class"}
    try:
        kind = find_class(table.get("class"))
        task_configs = tuple(kind(config).task_configs())
        check_class(kind, has_tasks=bool(task_configs))
        return Definition(name, kind, config, task_configs)
    except DefinitionError as error:
        raise DefinitionError(f"{source}: [{name}]: {error}") from None
    except KeyError as error:
        raise DefinitionError(f"{source}: [{name}]: {error.args[0]} is missing") from None
    except (ValueError, TypeError) as error:
        raise DefinitionError(f"{source}: [{name}]: {error}") from None
    except Exception as error:
        raise DefinitionError(f"{source}: [{name}]: {described(error)}") from error


def find_class(name: object) -> type[Connector]:
    """The Connector class with the name `module:Class`. Raises DefinitionError."""
    if not isinstance(name, str) or ":" not in name:
        raise DefinitionError(f'class = {name!r} does not name a class: write class = "module:Class"')
    module, _, attribute = name.partition(":")
    try:
        kind = getattr(importlib.import_module(module), attribute, None)
    except ImportError as error:
        raise DefinitionError(f"class {name}: {error}") from None
    except Exception as error:
        raise DefinitionError(f"class {name}: {described(error)}") from error
    if not (isinstance(kind, type) and issubclass(kind, Connector)):
        raise DefinitionError(f"class {name}: module {module} has no such Connector")
    return kind


def check_class(kind: type[Connector], *, has_tasks: bool = True) -> None:
    """Check that a connector, and its tasks if it has any, can be run. Raises DefinitionError."""
    task: Any = getattr(kind, "task", None)
    if has_tasks and not (isinstance(task, type) and issubclass(task, Task)):
        raise DefinitionError(f"{kind.__name__} has no tasks to run: give it `task = CLASS`, a subclass of Task")
    classes: list[Any] = [kind, task] if has_tasks else [kind]
    for each in classes:
        if is_plain_function(getattr(each, "run", None)):
            raise DefinitionError(
                f"{each.__name__}.run must be `async def run(self, context)`; what takes long without `await` belongs "
                "into asyncio.to_thread"
            )


def described(error: Exception) -> str:
    """An exception in a user's code as one line: what it is, and where in that code."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f", at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    if isinstance(error, SyntaxError):
        where = f", at {error.filename}:{error.lineno}"
    text = (error.msg if isinstance(error, SyntaxError) else str(error)).split("\n")[0]
    return f"{type(error).__name__}: {text}{where}"
