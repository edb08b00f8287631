"""Short names of members, for people: as short as they can be told apart.

A member id is a name and random digits, which nobody can read or needs to: `worker-1-3f2a90c1d5e6b7a8-0bf3b4b4` is
shown as `worker-1-b4b4`, its name and its last four characters. The id of a consumer of the new protocol has no name in
it, so its client id stands in front of the four characters. If two members of the group would get the same short name,
both keep their ids. Programs get whole ids (`--json`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain

from kcoord.cli.calls.connect_groups import ConnectGroup
from kcoord.cli.calls.consumer_groups import ConsumerGroup
from kcoord.cli.calls.modern_groups import AnyGroupView
from kcoord.printable import printable

_RANDOM_END = re.compile(r"(?P<name>.+?)(?:-[0-9a-f]{4,}){1,5}")
_TOLD = 4


class Names:
    """Short names for the given member ids. `shortened` makes one."""

    def __init__(self, member_ids: Iterable[str], shortened: Callable[[str], str] | None = None) -> None:
        short = {member: (shortened or _short)(member) for member in member_ids}
        counts = Counter(short.values())
        self._names = {member: name if counts[name] == 1 else member for member, name in short.items()}

    @classmethod
    def of(cls, group: AnyGroupView) -> "Names":
        """The names of all members that a group and its history mention."""
        moves = [move for epoch in group.history for move in epoch.moves]
        departed = group.departed if isinstance(group, ConnectGroup) else ()
        return cls(
            {
                *(worker.member for worker in group.workers),
                *(each.member for each in departed),
                *(end for move in moves for end in (move.giver, move.taker) if end is not None),
                *chain.from_iterable(_named_in(epoch.reason) for epoch in group.history),
            },
            _by_client(group) if isinstance(group, ConsumerGroup) else _short,
        )

    def __call__(self, member: str | None) -> str:
        return "nobody" if member is None else printable(self._names.get(member, member))

    def in_text(self, text: str) -> str:
        """A text in which all members have their short names."""
        for member in sorted(self._names, key=len, reverse=True):
            text = text.replace(member, self(member))
        return text

    def in_reason(self, reason: str) -> str:
        """A reason of an epoch in which its members have their short names."""
        for member in _named_in(reason):
            reason = reason.replace(member, self(member))
        return reason


def _named_in(reason: str) -> list[str]:
    """`worker joined: a, b, c and 2 more` names a, b and c."""
    _, _, names = reason.partition(": ")
    return [name for each in names.split(", ") if (name := each.partition(" and ")[0])]


def _by_client(group: ConsumerGroup) -> Callable[[str], str]:
    """Makes the short names of consumers. One that is gone keeps its id: nobody knows its client id any more."""
    clients = {each.member: each.client for each in group.workers}
    return lambda member: f"{clients[member]}-{member[-_TOLD:]}" if clients.get(member) else member


def _short(member: str) -> str:
    found = _RANDOM_END.fullmatch(member)
    return f"{found['name']}-{member[-_TOLD:]}" if found else member
