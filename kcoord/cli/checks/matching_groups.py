"""Which groups would be kcoord's by `--groups`, who has them now, and what becomes of each?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from kcoord.cli.checks.finding import Finding, fine, note, problem
from kcoord.cli.group_calls import ClassicGroup, GroupLine, describe, list_all
from kcoord.client import Cluster

CLASSIC = ("classic", "")
"""Types of groups of which kcoord reads the protocol; brokers before 3.8 tell none."""
SENTINEL = "kcoord"
"""The instance id of the only member of a group that a kcoord has."""
CONNECT, CONSUMER = "connect", "consumer"
SINKS = "connect-"
"""A sink connector's tasks are consumers of a group of this name and the connector's."""


@attrs.frozen
class Matching:
    """A group that `--groups` matches."""

    line: GroupLine
    """As the cluster lists it."""
    members: int
    becomes: str
    """What happens to it when kcoord is there."""
    has_kcoord: bool
    """Whether a kcoord has it already."""

    def as_json(self) -> dict[str, Any]:
        """All of it, in one object."""
        return {**self.line.as_json(), "members": self.members, "becomes": self.becomes}


async def find_matching(cluster: Cluster, patterns: Sequence[str]) -> list[Matching]:
    """The groups that the cluster has, and the patterns match; by name. Raises ClientError."""
    expressions = [re.compile(each) for each in patterns]
    lines = [each for each in await list_all(cluster, [], []) if any(exp.fullmatch(each.group) for exp in expressions)]
    classic = [each.group for each in lines if each.type.lower() in CLASSIC]
    described = {each.group: each for each in await describe(cluster, classic) if isinstance(each, ClassicGroup)}
    return [_matching(line, described.get(line.group)) for line in lines]


def _matching(line: GroupLine, group: ClassicGroup | None) -> Matching:
    members = 0 if group is None else len(group.members)
    has_kcoord = group is not None and [each.instance for each in group.members] == [SENTINEL]
    if group is None:
        becomes = f"stays with the cluster: kcoord takes no groups of type {line.type}"
    elif has_kcoord:
        becomes = "a kcoord has it already"
    elif members:
        becomes = "stays with the cluster until its last member there has gone; start all of them by kcoord then"
    else:
        becomes = "is kcoord's as soon as a member comes by it"
    return Matching(line, members, becomes, has_kcoord)


def judge_matching(found: Sequence[Matching], patterns: Sequence[str]) -> Iterator[Finding]:
    """What is to be known of them."""
    told = ", ".join(patterns)
    if not patterns:
        yield problem("groups", "no group would be kcoord's: say which by --groups")
        return
    if not found:
        yield note("groups", f"the cluster has no group yet that {told} matches")
        return
    live = [each for each in found if each.members and not each.has_kcoord]
    yield fine("groups", f"{told} matches {len(found)}, {len(live)} of them with members at the cluster")
    lines = [each.line for each in found]
    sinks = [each.group for each in lines if each.protocol_type == CONSUMER and each.group.startswith(SINKS)]
    if sinks and any(each.protocol_type == CONNECT for each in lines):
        yield note(
            "groups",
            f"{', '.join(sinks[:3])}{' and more' if len(sinks) > 3 else ''}: what sink connectors read by; their tasks "
            "connect by the worker's consumer settings, so these come by kcoord too only if those name it",
        )
