"""What classic consumers say of themselves, and what the leader of a classic group gives to each.

The share of a member is as large as that of any other, as far as subscriptions allow. A cooperative leader lets members
keep what they have, and gives nothing away in the round in which somebody still has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct, pack

from kcoord.protocol.consumer_embedded import Subscription

Named = tuple[str, int]
"""A topic's name, and a partition."""
VERSION = 2
"""The version of what is said and given: the first that says of what a member owns in which generation it got that."""
_GENERATION = Struct(">i")


def encode_subscription(topics: Iterable[str], owned: Iterable[Named], generation: int) -> bytes:
    """What a consumer says of itself in its JoinGroup."""
    names = sorted(topics)
    parts = [pack(">hi", VERSION, len(names)), *(pack(f">h{len(each)}s", len(each), each.encode()) for each in names)]
    parts.append(pack(">i", -1))
    by_topic = numbers_by_topic(owned)
    parts.append(pack(">i", len(by_topic)))
    for name, numbers in by_topic.items():
        count = len(numbers)
        parts.append(pack(f">h{len(name)}si{count}i", len(name), name.encode(), count, *numbers))
    return b"".join([*parts, _GENERATION.pack(generation)])


def generation_in(subscription: bytes) -> int:
    """The generation in which a consumer was given what it says that it has."""
    (generation,) = _GENERATION.unpack_from(subscription, len(subscription) - _GENERATION.size)
    return int(generation)


def numbers_by_topic(partitions: Iterable[Named]) -> dict[str, list[int]]:
    """Partitions by topic, in order."""
    found: dict[str, list[int]] = {}
    for name, number in sorted(partitions):
        found.setdefault(name, []).append(number)
    return found


def deal(
    members: Mapping[str, Subscription],
    generations: Mapping[str, int],
    partitions: Mapping[str, int],
    *,
    is_cooperative: bool,
) -> dict[str, set[Named]]:
    """What each member gets. `generations`: of each, the one in which it was given what it has. `partitions`: how many
    each topic has, as the leader knows.
    """
    gets: dict[str, set[Named]] = {member: set() for member in sorted(members)}
    owners = _owners(members, generations) if is_cooperative else {}
    every = [(name, number) for name, count in sorted(partitions.items()) for number in range(count)]
    most = -(-len(every) // len(members))
    left = []
    for each in every:
        owner = owners.get(each)
        if owner is not None and each[0] in members[owner].topics and len(gets[owner]) < most:
            gets[owner].add(each)
        else:
            left.append(each)
    for each in left:
        wanting = [member for member in gets if each[0] in members[member].topics]
        if wanting:
            gets[min(wanting, key=lambda member: len(gets[member]))].add(each)
    for member, given in gets.items():
        gets[member] = {each for each in given if owners.get(each, member) == member}
    return gets


def _owners(members: Mapping[str, Subscription], generations: Mapping[str, int]) -> dict[Named, str | None]:
    """Who has what, as far as members say: of two the one of the higher generation, as the other does not know that its
    share has changed; else neither (None).
    """
    owners: dict[Named, str | None] = {}
    since: dict[Named, int] = {}
    for member, said in sorted(members.items()):
        generation = generations[member]
        for each in said.owned:
            before = since.get(each)
            if before is None or generation > before:
                owners[each], since[each] = member, generation
            elif generation == before:
                owners[each] = None
    return owners
