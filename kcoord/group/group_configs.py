"""The settings of one group: the answers to DescribeConfigs and IncrementalAlterConfigs of groups.

A group's own setting has the name of the server's setting without the leading `group.`, and overrides it, as Kafka's
`consumer.…` overrides `group.consumer.…`. The rules are Kafka's where Kafka has one:

1. All changes of one resource are made, or none. An unknown name and a value out of bounds get INVALID_CONFIG with the
   reason. A request that makes no sense (a name twice, no value, no group) gets INVALID_REQUEST.
2. APPEND and SUBTRACT are for lists.
3. A description has every setting with the value in force and its source. If the client asks for synonyms, it has all
   values that the setting could have, the one in force first: the group's own, the one that this kcoord was started
   with, the default.
4. ValidateOnly checks everything and changes nothing.
5. A session timeout that is not longer than the heartbeat interval is refused, whichever of the two is set.
6. A kcoord that is started with other settings may find stored group settings that contradict them. Then the value in
   force is not the one that was set: the description has it first, as the group's, followed by the one that was set.
7. `connect.configured` is no setting. It is never described and cannot be set. Deleting it makes the group forget the
   offset of its configured set (CG-21), so that the next list of any worker counts. (0.1.0 ignores this.)
8. Settings of consumer groups are described and can be set only where kcoord serves consumer groups. Elsewhere they are
   the cluster's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Any

import attrs

from kcoord.group.group_setting_definitions import CONSUMER_DEFINITIONS, DEFINITIONS, Definition, Kind
from kcoord.group.state import consumer_settings
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.connect_settings import (
    FORMER_NAMES,
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
    ConnectSettings,
    adjusted,
    within_bounds,
)
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_response import AlterConfigsResourceResponse
from kcoord.protocol.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

GROUP = 32
"""The resource type of groups."""
CONFIGURED = "connect.configured"
"""Not a setting: deleting it makes the group forget the offset of its configured set."""
_WHOLE_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")


class Source(IntEnum):
    """The source of a value, with Kafka's numbers."""

    STATIC = 4
    """The settings file, the environment or the command line of this kcoord."""
    DEFAULT = 5
    GROUP = 8


class Operation(IntEnum):
    """What IncrementalAlterConfigs does with a value."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigRefused(Exception):
    """The change is refused. The text is the reason."""

    def __init__(self, error: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.error = error


class GroupConfigs:
    """Describes and alters group settings. `server`: the server's values for connect groups; `given`: the names of
    those that were set; `consumer`: the values for consumer groups, where kcoord serves these.
    """

    def __init__(
        self,
        server: ConnectSettings,
        given: frozenset[str] = frozenset(),
        consumer: ConsumerSettings | None = None,
    ) -> None:
        self._connect = server
        self._consumer = consumer
        self._given = given
        self._definitions = DEFINITIONS if consumer is None else {**DEFINITIONS, **CONSUMER_DEFINITIONS}

    def _server(self, definition: Definition) -> Any:
        """The server's settings of the setting's kind."""
        return self._consumer if definition.server is ConsumerSettings else self._connect

    # -- describe -----------------------------------------------------------------------------------------------------

    def described(self, request: DescribeConfigsRequest, own: Mapping[str, str]) -> DescribeConfigsResponse:
        """The answer for the one group that `request` names, whose own settings are `own`."""
        resource = request.resources[0]
        result = DescribeConfigsResult(
            error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
        )
        if not resource.resource_name:
            result.error_code, result.error_message = ErrorCode.INVALID_REQUEST, "a group has a name"
        else:
            result.configs = [
                self._entry(name, own, request.include_synonyms, request.include_documentation)
                for name in self._known(resource.configuration_keys)
            ]
        return DescribeConfigsResponse(results=[result])

    def _entry(
        self, name: str, own: Mapping[str, str], synonyms: bool, documentation: bool
    ) -> DescribeConfigsResourceResult:
        definition = self._definitions[FORMER_NAMES.get(name, name)]
        values = list(self._values(definition, own))
        first = values[0]
        return DescribeConfigsResourceResult(
            name=name,
            value=first.value,
            config_source=first.source,
            synonyms=values if synonyms else [],
            config_type=definition.kind,
            documentation=definition.about if documentation else None,
        )

    def _values(self, definition: Definition, own: Mapping[str, str]) -> Iterator[DescribeConfigsSynonym]:
        """All values of a setting, the one in force first."""
        in_force = self._adjusted(own).get(definition.name)
        if in_force is not None:
            yield DescribeConfigsSynonym(definition.name, str(in_force), Source.GROUP)
        if definition.name in own:
            yield DescribeConfigsSynonym(definition.name, own[definition.name], Source.GROUP)
        server_name = definition.server_name
        started_with = definition.of_server(self._server(definition))
        default = definition.of_server(definition.server())
        if server_name in self._given or started_with != default:
            yield DescribeConfigsSynonym(server_name, started_with, Source.STATIC)
        yield DescribeConfigsSynonym(server_name, default, Source.DEFAULT)

    def _adjusted(self, own: Mapping[str, str]) -> dict[str, str]:
        found = adjusted(self._connect, own)
        return found if self._consumer is None else {**found, **consumer_settings.adjusted(self._consumer, own)}

    def _known(self, asked: Sequence[str] | None) -> list[str]:
        """The names to describe: those that were asked for and exist. A setting under a former name keeps that name in
        the answer, because the client looks for it.
        """
        if asked is None:
            return list(self._definitions)
        return [name for name in (*self._definitions, *FORMER_NAMES) if name in asked]

    # -- alter --------------------------------------------------------------------------------------------------------

    def altered(self, resource: AlterConfigsResource, own: Mapping[str, str]) -> dict[str, str]:
        """The group's own settings after the changes of `resource`, which may use former names of settings. Raises
        ConfigRefused.
        """
        if not resource.resource_name:
            raise ConfigRefused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
        resource = with_todays_names(resource)
        check_changes(resource)
        changed = dict(own)
        for change in resource.configs:
            self._apply(changed, change)
        for change in resource.configs:
            if change.name in changed:
                changed[change.name] = self._checked(change.name, changed[change.name])
        _check_session(SESSION_TIMEOUT, HEARTBEAT_INTERVAL, *within_bounds(self._connect, changed))
        if self._consumer is not None:
            consumer = consumer_settings.overridden(self._consumer, changed)
            times = consumer.session_timeout_ms, consumer.heartbeat_interval_ms
            _check_session(consumer_settings.SESSION_TIMEOUT, consumer_settings.HEARTBEAT_INTERVAL, *times)
        return changed

    def _apply(self, own: dict[str, str], change: AlterableConfig) -> None:
        name, value = change.name, change.value or ""
        match change.config_operation:
            case Operation.SET:
                own[name] = value
            case Operation.DELETE:
                own.pop(name, None)
            case Operation.APPEND | Operation.SUBTRACT as operation:
                definition = self._definitions.get(name)
                if definition is None or definition.kind is not Kind.LIST:
                    word = Operation(operation).name
                    raise ConfigRefused(
                        ErrorCode.INVALID_CONFIG, f"Can't {word} to key {name} because its type is not LIST."
                    )
                words = _words(own.get(name, definition.of_server(self._connect)))
                if operation == Operation.APPEND:
                    words += [word for word in _words(value) if word not in words]
                else:
                    words = [word for word in words if word not in _words(value)]
                own[name] = ",".join(words)
            case other:
                raise ConfigRefused(ErrorCode.INVALID_REQUEST, f"there is no operation {other}")

    def _checked(self, name: str, value: str) -> str:
        """The value as it is stored. Raises ConfigRefused for an unknown name or a value that is not allowed."""
        definition = self._definitions.get(name)
        if definition is None:
            raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"Unknown group config name: {name}")
        if definition.words is not None:
            return _one_of(name, value, definition.words)
        if definition.check is not None:
            try:
                return definition.check(value)
            except ValueError as error:
                raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"{name}: {error}") from None
        if definition.bounds is None:
            words = _words(value)
            self._check_assignors(name, words)
            return ",".join(words)
        if not _WHOLE_NUMBER.fullmatch(value):
            raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"{name}: {value!r} is no whole number")
        number = int(value)
        least, most = definition.bounds(self._server(definition))
        if not least <= number <= most:
            raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"{name}: {number} is not between {least} and {most}")
        return str(number)

    def _check_assignors(self, name: str, words: Sequence[str]) -> None:
        known = [each.name for each in self._connect.assignors]
        if not words:
            raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"{name}: a group needs one assignor at least")
        for word in words:
            if word not in known:
                raise ConfigRefused(
                    ErrorCode.INVALID_CONFIG, f"{name}: there is no assignor {word}; there are {', '.join(known)}"
                )
        if len(set(words)) < len(words):
            raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"{name}: an assignor stands there twice")


def with_todays_names(resource: AlterConfigsResource) -> AlterConfigsResource:
    """The same changes under the names that the settings have today."""
    return attrs.evolve(
        resource, configs=[attrs.evolve(each, name=FORMER_NAMES.get(each.name, each.name)) for each in resource.configs]
    )


def _check_session(session: str, interval: str, session_ms: int, interval_ms: int) -> None:
    """Raise ConfigRefused unless a session has time for more than one heartbeat."""
    if session_ms <= interval_ms:
        raise ConfigRefused(
            ErrorCode.INVALID_CONFIG, f"{session} ({session_ms}) must be more than {interval} ({interval_ms})"
        )


def forgets_configured(resource: AlterConfigsResource) -> bool:
    """Whether one of the (already checked) changes makes the group forget the offset of its configured set."""
    return any(change.name == CONFIGURED for change in resource.configs)


def check_changes(resource: AlterConfigsResource) -> None:
    """Raise ConfigRefused for changes that make no sense, of any kind of resource: a name twice, or no value."""
    if len({change.name for change in resource.configs}) < len(resource.configs):
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    without = [c.name for c in resource.configs if c.value is None and c.config_operation != Operation.DELETE]
    if without:
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(without)}")


def alter_answer(
    resource: AlterConfigsResource, refused: ConfigRefused | None = None
) -> IncrementalAlterConfigsResponse:
    """The answer for one resource."""
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=refused.error if refused else ErrorCode.NONE,
                error_message=bounded_text(str(refused)) if refused else None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        ]
    )


def named_twice(request: DescribeConfigsRequest | IncrementalAlterConfigsRequest) -> set[tuple[int, str]]:
    """The resources that the request names more than once."""
    counted = Counter((each.resource_type, each.resource_name) for each in request.resources)
    return {resource for resource, count in counted.items() if count > 1}


def _one_of(name: str, value: str, words: type[StrEnum]) -> str:
    """The word that `value` means. Ignores case, as Kafka does. Raises ConfigRefused."""
    word = value.strip().lower()
    if word not in tuple(words):
        raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"{name}: {value!r} is not one of: {', '.join(words)}")
    return word


def _words(value: str) -> list[str]:
    return [word for each in value.split(",") if (word := each.strip())]
