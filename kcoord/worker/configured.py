"""`Configured`: what exists, as a program gives it to a worker, with checks that name what is wrong."""

from __future__ import annotations

import inspect
import logging
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TypeAlias

import attrs

from kcoord.assign import CONNECTOR, Resource, tell
from kcoord.resource import resources_of

_log = logging.getLogger(__name__)

_OFFSETS_UP_TO = (1 << 63) - 1
_NUMBERS_UP_TO = (1 << 31) - 1


def _checked_offset(offset: object) -> int:
    if not isinstance(offset, int) or isinstance(offset, bool):
        raise TypeError(f"Configured: offset = {_shown(offset)} is not a whole number")
    if not 0 <= offset <= _OFFSETS_UP_TO:
        raise ValueError(f"Configured: offset = {offset} is not between 0 and {_OFFSETS_UP_TO}")
    return offset


def _checked_resources(resources: Iterable[tuple[str, int]]) -> frozenset[Resource]:
    # Values come from a user's program, which no type checker may have seen.
    given: object = resources
    if not isinstance(given, Iterable):
        raise TypeError(f"Configured: resources = {_shown(given)} is not a set of resources")
    listed = given if isinstance(given, Set) else list(given)
    for each in listed:
        if not _is_resource(each):
            raise TypeError(
                f"Configured: {_shown(each)} is not a resource: it must be a tuple of a name and a number, "
                "('shard', 0), or ('shard', -1) for the connector itself"
            )
    kept = resources_of(listed)
    if len(kept) < len(listed):
        twice = next(each for each, times in Counter(listed).items() if times > 1)
        raise ValueError(f"Configured: {tell(twice)} is listed twice, and can run only once")
    return kept


def _is_resource(given: object) -> bool:
    if not isinstance(given, tuple) or len(given) != 2:
        return False
    name, number = given
    if not isinstance(name, str) or not isinstance(number, int) or isinstance(number, bool):
        return False
    return bool(name) and CONNECTOR <= number <= _NUMBERS_UP_TO


@attrs.frozen
class Configured:
    """All resources that exist, for an assignor to spread over the workers of a group.

    Raises TypeError or ValueError for an offset or a resource that is not valid, and for a list with a duplicate.
    """

    offset: int = attrs.field(converter=_checked_offset)
    """A number that increases with every change, 0 or more. Of the numbers that the workers of a group report, the
    highest counts.
    """
    resources: frozenset[Resource] = attrs.field(converter=_checked_resources)
    """Resources, or plain pairs of a name and a number, in a set or a list. The number -1 is the connector itself."""
    revisions: Mapping[str, int] = attrs.Factory(dict)
    """By connector: a number that increases when its tasks are reconfigured. With the classic protocol these tasks are
    then stopped, and started when every worker has stopped its own. May be left out.
    """
    of_topic: bool = False
    """The offset is an offset of Connect's configuration topic: it can be compared with what Java workers report."""
    of_file: bool = False
    """The offset is the time of a file's last change: no worker of Kafka Connect can be in the group."""


ConfiguredOption: TypeAlias = Configured | Callable[[], Configured | None] | None
"""What a program can give to a worker: a `Configured`, a function that is called for it again and again, or nothing."""


class ConfiguredReader:
    """Reads the `configured` option of a worker."""

    def __init__(self, option: ConfiguredOption) -> None:
        self._option = option
        self._last: Configured | None = None
        self._counts: Configured | None = None
        """What the group takes notice of: the one with the highest offset so far."""

    @property
    def trouble(self) -> str | None:
        """What is wrong with the last one that was read, in a few words; None if nothing is."""
        if self._counts is None or self._last is None or self._last.resources == self._counts.resources:
            return None
        return f"has changed, but its offset has not grown: it is {self._last.offset}, and was {self._counts.offset}"

    def read(self) -> Configured | None:
        """What exists now. Raises TypeError if it is something else, and whatever the program's own function raises."""
        option: object = self._option
        given = option() if callable(option) else option
        if given is None:
            return None
        if not isinstance(given, Configured):
            if inspect.iscoroutine(given):
                given.close()
                raise TypeError(f"configured: {_shown(option)} must not be `async def`: it must return at once")
            if callable(option):
                raise TypeError(f"configured: {_shown(option)} returned {_shown(given)}, not a Configured or None")
            raise TypeError(f"configured = {_shown(given)}: give a Configured, or a function that returns one")
        before, self._last = self._last, given
        if self._counts is None or given.offset > self._counts.offset:
            self._counts = given
        if before is not None and before.resources != given.resources and given.offset <= before.offset:
            _log.warning(
                "configured: what exists has changed, but its offset is %d, and was %d before. The group ignores a "
                "change without a higher offset",
                given.offset,
                before.offset,
            )
        return given


def _shown(given: object) -> str:
    """A short form for an error text."""
    return given.__qualname__ if inspect.isroutine(given) else reprlib.repr(given)
