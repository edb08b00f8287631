"""The options of a consumer: what can be used, and what contradicts itself. Each check raises ConsumerError."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer

from kcoord.address import parse_address
from kcoord.assign.consumer import ClientSideAssignor
from kcoord.client.errors import ClientError
from kcoord.client.security import Security
from kcoord.consumer.errors import ConsumerError

_SHORTEST_S, _LONGEST_S = 0.001, 2_147_483.0
"""Times are sent to brokers in ms, as numbers of 32 bits."""
_OUR_FETCH_OPTIONS = frozenset({"self", "topics", "loop", "group_id", "enable_auto_commit"})
"""What `AIOKafkaConsumer` takes and a program may not give, beyond what its client is given."""


def check_subscription(group: str, topics: Sequence[str] | None, pattern: str | None) -> None:
    """Check which group it is, and what is to be read."""
    if isinstance(topics, str):
        raise ConsumerError(f"topics: give a list, [{topics!r}]")
    if (topics is None) == (pattern is None):
        raise ConsumerError("give topics or a pattern, one of the two")
    if topics is not None and not topics:
        raise ConsumerError("topics: the list is empty")
    if not group:
        raise ConsumerError("group: the empty string names no group")


def check_reading(auto_offset_reset: str, isolation_level: str) -> None:
    """Check where reading begins, and which records are read."""
    if auto_offset_reset not in ("earliest", "latest", "none"):
        raise ConsumerError(f"auto_offset_reset {auto_offset_reset!r} must be 'earliest', 'latest' or 'none'")
    if isolation_level not in ("read_uncommitted", "read_committed"):
        raise ConsumerError(f"isolation_level {isolation_level!r} is neither 'read_uncommitted' nor 'read_committed'")


def check_assignors(assignors: Sequence[ClientSideAssignor], server_assignor: str | None) -> None:
    """Check who is to assign."""
    if assignors and server_assignor is not None:
        raise ConsumerError("assignors and server_assignor cannot be used together")
    for each in assignors:
        if not isinstance(each, ClientSideAssignor):
            raise ConsumerError(f"assignors: {each!r} is no kcoord.assign.consumer.ClientSideAssignor")
    names = [each.name for each in assignors]
    if "" in names:
        raise ConsumerError("assignors: one has no name")
    if len(set(names)) < len(names):
        raise ConsumerError(f"assignors: give each name once, not {', '.join(names)}")


def check_times(**times: Any) -> None:
    """Check times in seconds, by the names of their options. Only `close_timeout` may be 0."""
    for name, seconds in times.items():
        shortest = 0.0 if name == "close_timeout" else _SHORTEST_S
        if not isinstance(seconds, int | float) or not shortest <= seconds <= _LONGEST_S:
            raise ConsumerError(f"{name} {seconds!r} must be a number of seconds from {shortest:g} to {_LONGEST_S:.0f}")


def check_fetch_options(options: Mapping[str, Any], client: Mapping[str, Any]) -> None:
    """Check the further arguments of `AIOKafkaConsumer`. `client` are those that the consumer gives it anyway."""
    for name in options:
        if name not in inspect.signature(AIOKafkaConsumer.__init__).parameters:
            raise ConsumerError(f"fetch_options: aiokafka.AIOKafkaConsumer has no argument {name!r}")
        if name in client or name in _OUR_FETCH_OPTIONS:
            raise ConsumerError(f"fetch_options: {name!r} cannot be given here: the consumer sets it itself")


def addresses_of(servers: str | Sequence[str]) -> list[tuple[str, int]]:
    """The brokers to begin with."""
    parts = servers.split(",") if isinstance(servers, str) else servers
    try:
        return [parse_address(part.strip()) for part in parts]
    except ValueError as error:
        raise ConsumerError(f"bootstrap_servers: {error}") from None


def security_of(security: Security | Mapping[str, str] | None) -> Security:
    """How to connect."""
    if security is None or isinstance(security, Security):
        return security or Security()
    try:
        return Security.from_properties(security)
    except ClientError as error:
        raise ConsumerError(f"security: {error}") from None
