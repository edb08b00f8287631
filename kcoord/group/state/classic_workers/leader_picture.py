"""The picture: what Connect's leader is shown of the group, so that its assignor moves nothing.

The leader is asked which connectors and tasks exist, not who runs them. So the picture shows everything that is known,
each resource once, in slices: a worker is listed as often as needed, so that each entry has one connector and one task
at most, always with its own url. The assignor calls entries balanced if they differ by one at most, wherever the work
is. So what it takes away does not exist any more, what it gives is new, and it starts no delay (CM-31, CM-37). Its map
of who runs what goes by url, so the REST requests that it forwards find their worker.

What nobody runs is listed too, with the leader's own url: a request for it ends in a 409, and clients try again
(CM-42).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from kcoord.protocol.embedded import WorkerAssignment
from kcoord.protocol.frozen_class import frozen
from kcoord.resource import Resource, connectors_among, tasks_among

__all__ = ["Picture", "Shown", "Slice", "draw", "read_answer"]

Resources = frozenset[Resource]
NOTHING: Resources = frozenset()


@frozen(slots=True)
class Shown:
    """One worker, and all that it is to run."""

    member_id: str
    url: str
    target: Resources


@frozen(slots=True)
class Slice:
    """One entry of the leader's list of members."""

    member_id: str
    """The worker's own member id; for further slices a made-up id."""
    url: str
    resources: Resources


@frozen(slots=True)
class Picture:
    """All that the leader is shown."""

    slices: tuple[Slice, ...]
    shown: Resources


@frozen(slots=True)
class Look:
    """What the leader's answer to a picture says."""

    existing: Resources
    """What exists: what was shown, less what the leader takes away, and what it gives."""
    given: Resources
    taken: Resources
    delay_ms: int
    error: int
    config_offset: int

    @property
    def is_clean(self) -> bool:
        """Whether the leader has changed nothing."""
        return not (self.given or self.taken or self.delay_ms)


def draw(workers: Sequence[Shown], leader: Shown, waiting: Resources) -> Picture:
    """The picture of these workers, `leader` among them, and of the resources that are `waiting` for an absent
    worker.
    """
    taken = {each.member_id for each in workers}
    slices = list(_of_all(workers, taken))
    if waiting:
        absent = Shown(_made_up(f"{leader.member_id}#absent", 0, taken), leader.url, waiting)
        slices += _of_all([absent], taken)
    return Picture(tuple(slices), NOTHING.union(waiting, *[each.target for each in workers]))


def _of_all(workers: Iterable[Shown], taken: set[str]) -> Iterator[Slice]:
    for worker in workers:
        connectors, tasks = sorted(connectors_among(worker.target)), sorted(tasks_among(worker.target))
        yield Slice(worker.member_id, worker.url, frozenset(connectors[:1] + tasks[:1]))
        for at, pair in enumerate(zip_longest(connectors[1:], tasks[1:]), 1):
            resources = frozenset([each for each in pair if each is not None])
            yield Slice(_made_up(worker.member_id, at, taken), worker.url, resources)


def _made_up(member_id: str, at: int, taken: set[str]) -> str:
    """An id that no member has: workers of the new protocol choose their own."""
    name = f"{member_id}#{at}"
    while name in taken:
        name += "#"
    taken.add(name)
    return name


def read_answer(picture: Picture, answer: Mapping[str, WorkerAssignment], leader_id: str, offset: int) -> Look:
    """Read the leader's SyncGroup as an answer to the picture; `offset` is the leader's config offset if the answer has
    none.
    """
    given = NOTHING.union(*[each.assigned for each in answer.values()])
    taken = NOTHING.union(*[each.revoked for each in answer.values()])
    own = answer.get(leader_id)
    return Look(
        existing=(picture.shown - taken) | given,
        given=given,
        taken=taken,
        delay_ms=max([each.delay_ms for each in answer.values()], default=0),
        error=0 if own is None else own.error,
        config_offset=offset if own is None else own.config_offset,
    )
