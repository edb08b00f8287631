"""The requests of `kcoord config`: DescribeConfigs and IncrementalAlterConfigs of a group, sent to its coordinator.

Kafka's brokers have settings of groups too (`consumer.…`, `share.…`). They are shown and set in the same way.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from kcoord.cli.calls.group_ownership import CLUSTER, UNKNOWN, no_effect, owners, tells_owners
from kcoord.cli.output.terminal_output import table_of, width, written
from kcoord.client import Broker, ClientError, Cluster
from kcoord.client.connection import error_name
from kcoord.group.group_configs import GROUP, Operation
from kcoord.group.group_setting_definitions import prefixes
from kcoord.group.state.connect_settings import FORMER_NAMES
from kcoord.group.state.consumer_settings import MIGRATION_POLICY as CONSUMER_MIGRATION_POLICY
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.describe_configs_response import DescribeConfigsResourceResult
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

DELETE = Operation.DELETE

_SOURCES = {
    2: "the broker, dynamically",
    3: "all brokers, dynamically",
    4: "the server's settings",
    5: "the default",
    8: "this group",
}
_OWN = 8
_WIDTH_WITH_MEANINGS = 140
_CHANGE = re.compile(r"(?P<name>[^=+]+?)(?P<how>\+=|-=|=)(?P<value>.*)", re.DOTALL)
_OPERATIONS = {"=": Operation.SET, "+=": Operation.APPEND, "-=": Operation.SUBTRACT}


@attrs.frozen
class Setting:
    """One setting of a group."""

    name: str
    value: str | None
    source: str
    otherwise: str | None
    """The value that would apply if the group had none of its own. None: the group has none of its own."""
    about: str | None

    @property
    def is_own(self) -> bool:
        """Whether the group has a value of its own."""
        return self.source.startswith(_SOURCES[_OWN])

    def as_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@attrs.frozen
class Change:
    """A setting, and the operation to apply to it."""

    name: str
    operation: Operation
    value: str | None


def parse(text: str) -> Change:
    """Parse `NAME=VALUE`, `NAME+=VALUE` or `NAME-=VALUE`. Raises ValueError."""
    found = _CHANGE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text}: write it as NAME=VALUE")
    return Change(found["name"].strip(), _OPERATIONS[found["how"]], found["value"].strip())


def former_names(changes: Sequence[Change]) -> list[str]:
    """A warning for each change of a setting under its former name."""
    return [
        f"{each.name} is a former name; write {FORMER_NAMES[each.name]}"
        for each in changes
        if each.name in FORMER_NAMES
    ]


async def describe(cluster: Cluster, group: str) -> list[Setting]:
    """All settings of a group. Raises ClientError."""
    broker = await cluster.coordinator(group)
    return await _describe(cluster, broker, group)


async def why_no_effect(cluster: Cluster, group: str, changes: Sequence[Change]) -> str:
    """Why changes of kcoord's own settings have no effect now: the cluster has the group. Empty if they have effect.

    Raises ClientError.
    """
    broker = await cluster.coordinator(group)
    described = [each.name for each in await _describe(cluster, broker, group)]
    own = prefixes(consumer_groups=serves_consumers(described))
    if not any(each.name.startswith(own) for each in changes):
        return ""
    connection = await cluster.to(broker)
    if not tells_owners(connection):
        return ""
    ownership = (await owners(connection, [group])).get(group, UNKNOWN)
    return no_effect(ownership, group) if ownership.by == CLUSTER else ""


def serves_consumers(names: Iterable[str]) -> bool:
    """Whether a server whose groups have these settings is a kcoord that serves consumer groups: Kafka has no such
    setting.
    """
    return CONSUMER_MIGRATION_POLICY in names


async def alter(cluster: Cluster, group: str, changes: Sequence[Change], dry_run: bool) -> None:
    """Make all changes or none. Raises ClientError with the reason."""
    broker = await cluster.coordinator(group)
    connection = await cluster.to(broker)
    configs = [AlterableConfig(each.name, each.operation, each.value) for each in changes]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, group, configs)], dry_run)
    response = await connection.send(request, IncrementalAlterConfigsResponse)
    (answer,) = response.responses
    if answer.error_code:
        why = answer.error_message or _why(answer.error_code)
        if answer.error_code == ErrorCode.INVALID_CONFIG:
            why += _nearest([each.name for each in changes], await _describe(cluster, broker, group))
        raise ClientError(f"{group}: not changed: {why}")


async def check_names(cluster: Cluster, group: str, names: Sequence[str]) -> None:
    """Raise ClientError for a setting that does not exist: kcoord and Kafka take its removal for done."""
    settings = await describe(cluster, group)
    known = {each.name for each in settings} | FORMER_NAMES.keys()
    if settings and (unknown := [each for each in names if each not in known]):
        raise ClientError(f"{group}: not changed: there is no setting {unknown[0]}{_nearest(unknown, settings)}")


def table(settings: Sequence[Setting]) -> str:
    """The settings as a table, for people."""
    if not settings:
        return "This server has no settings for groups.\n"
    columns = ("SETTING", "VALUE", "FROM", "OTHERWISE", "MEANING")
    shown = columns if width() >= _WIDTH_WITH_MEANINGS else columns[:-1]
    rows = [
        (each.name, _text(each.value), each.source, _text(each.otherwise), each.about or "-")[: len(shown)]
        for each in settings
    ]
    return written(table_of(shown, rows))


def done(group: str, changes: Sequence[Change], dry_run: bool) -> str:
    """The changes that were made, one line each."""
    prefix = f"{group}: would be " if dry_run else f"{group}: "
    return "".join(f"{prefix}{_told(each)}\n" for each in changes)


def _told(change: Change) -> str:
    match change.operation:
        case Operation.DELETE:
            return f"unset {change.name}"
        case Operation.APPEND:
            return f"set {change.name}, with {change.value} added"
        case Operation.SUBTRACT:
            return f"set {change.name}, without {change.value}"
        case _:
            return f"set {change.name}={change.value}"


async def _describe(cluster: Cluster, broker: Broker, group: str) -> list[Setting]:
    connection = await cluster.to(broker)
    resource = DescribeConfigsResource(GROUP, group, None)
    request = DescribeConfigsRequest([resource], include_synonyms=True, include_documentation=True)
    response = await connection.send(request, DescribeConfigsResponse)
    (result,) = response.results
    if result.error_code:
        raise ClientError(f"{group}: {result.error_message or _why(result.error_code)}")
    return [_setting(each) for each in sorted(result.configs, key=lambda each: each.name)]


def _setting(told: DescribeConfigsResourceResult) -> Setting:
    own = told.config_source == _OWN
    set_to = [each.value for each in told.synonyms if each.source == _OWN][1:]
    others = [each.value for each in told.synonyms if each.source != _OWN]
    return Setting(
        told.name,
        told.value,
        _source(told, set_to[0] if set_to else None),
        others[0] if own and others else None,
        told.documentation or None,
    )


def _source(told: DescribeConfigsResourceResult, set_to: str | None) -> str:
    source = _SOURCES.get(told.config_source, f"source {told.config_source}")
    return source if set_to is None else f"{source}: set to {set_to}, which does not fit here"


def _nearest(names: Sequence[str], settings: Sequence[Setting]) -> str:
    """A hint with the nearest existing name, for the first name that does not exist."""
    known = [each.name for each in settings]
    for name in names:
        if name not in known and (near := difflib.get_close_matches(name, known, 1, 0.5)):
            return f"; the nearest is {near[0]}"
    return ""


def _why(code: int) -> str:
    return "you are not allowed to" if code == ErrorCode.GROUP_AUTHORIZATION_FAILED else error_name(code)


def _text(value: str | None) -> str:
    return "-" if value is None else value or '""'
