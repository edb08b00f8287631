"""The groups that `--groups` matches: who has them now, and what becomes of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from kcoord.cli.calls.group_calls import DescribedClassicGroup, GroupLine, describe, list_all
from kcoord.cli.checks.finding import Finding, fine, note, problem
from kcoord.client import ClientError, Cluster

CLASSIC = ("classic", "")
"""The types of groups whose protocol kcoord reads. Brokers before 3.8 give no type."""
SENTINEL = "kcoord"
"""The instance id of the only member of a group that a kcoord has."""
CONNECT, CONSUMER = "connect", "consumer"
SINKS = "connect-"
"""The tasks of a sink connector are consumers of a group with this prefix and the connector's name."""
ANY_NAME = "kcoord-check"
"""A name that stands for any connector or group."""


@attrs.frozen
class Matching:
    """A group that `--groups` matches."""

    line: GroupLine
    """The group as the cluster lists it."""
    members: int | None
    """How many members it has. None: kcoord may not see them, or does not read the group's protocol."""
    becomes: str
    """What happens to the group when kcoord runs."""
    has_kcoord: bool
    """Whether a kcoord has it already."""

    @property
    def is_classic(self) -> bool:
        """Whether kcoord reads its protocol."""
        return self.line.type.lower() in CLASSIC

    @property
    def members_told(self) -> str:
        """The number of members, for people."""
        return "?" if self.members is None else str(self.members)

    def as_json(self) -> dict[str, Any]:
        """The group as one JSON object."""
        return {**self.line.as_json(), "members": self.members, "becomes": self.becomes}


async def find_matching(cluster: Cluster, patterns: Sequence[str], *, adopts: bool) -> list[Matching]:
    """The cluster's groups that the patterns match, sorted by name. Raises ClientError.

    `adopts`: whether kcoord adopts live groups by itself (`gateway.adopt`).
    """
    expressions = [re.compile(each) for each in patterns]
    lines = [each for each in await list_all(cluster, [], []) if any(exp.fullmatch(each.group) for exp in expressions)]
    return [await _matching(cluster, line, adopts) for line in lines]


async def _matching(cluster: Cluster, line: GroupLine, adopts: bool) -> Matching:
    if line.type.lower() not in CLASSIC:
        return Matching(line, None, f"stays with the cluster: kcoord takes no groups of type {line.type}", False)
    try:
        [group] = await describe(cluster, [line.group])
    except ClientError as error:
        return Matching(line, None, f"unknown: {error}", False)
    members = group.members if isinstance(group, DescribedClassicGroup) else []
    if [each.instance for each in members] == [SENTINEL]:
        return Matching(line, 1, "a kcoord has it already", True)
    if members:
        then = "kcoord takes it over" if adopts else "kcoord groups adopt takes it over (gateway.adopt=manual)"
        becomes = f"once all members come through kcoord, {then}, and no member notices"
        return Matching(line, len(members), becomes, False)
    return Matching(line, 0, "becomes kcoord's when a member comes through kcoord", False)


def judge_matching(found: Sequence[Matching], patterns: Sequence[str]) -> Iterator[Finding]:
    """Findings about the matching groups."""
    told = ", ".join(patterns)
    if not patterns:
        yield problem("groups", "kcoord would coordinate no group: name groups with --groups")
        return
    if not found:
        yield note("groups", f"the cluster has no group yet that matches {told}")
        yield from _about_sinks([], patterns)
        return
    live = [each for each in found if each.members and not each.has_kcoord]
    yield fine("groups", f"{told} matches {len(found)}, {len(live)} of them with members at the cluster")
    yield from _about_sinks([each.line for each in found], patterns)


def _about_sinks(lines: Sequence[GroupLine], patterns: Sequence[str]) -> Iterator[Finding]:
    """A note if a pattern meant for Connect clusters also matches the consumer groups of sink connectors."""
    expressions = [re.compile(each) for each in patterns]
    matches = [
        each.pattern for each in expressions if each.fullmatch(f"{SINKS}{ANY_NAME}") and not each.fullmatch(ANY_NAME)
    ]
    sinks = [each.group for each in lines if each.protocol_type == CONSUMER and each.group.startswith(SINKS)]
    is_connect = any(each.protocol_type == CONNECT for each in lines)
    if not matches and not (sinks and is_connect):
        return
    now = f", here {', '.join(sinks[:3])}{' and more' if len(sinks) > 3 else ''}" if sinks else ""
    yield note(
        "groups",
        f"{', '.join(matches or patterns)} also matches the consumer groups of sink connectors "
        f"({SINKS}NAME{now}). Their tasks use the worker's bootstrap.servers, unless consumer.bootstrap.servers "
        "says otherwise, so kcoord takes these groups too. To leave them out, give only the Connect clusters' "
        "own group ids in --groups",
    )
