"""A worker whose time stands still: it speaks to a real coordinator, but only when the test says so.

It is the worker library without its shell: the same membership, the same connection. So each row of a case study can
be looked at before the next one begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kcoord.assign import CONNECTOR, ConnectAssignor, Resource
from kcoord.client.connection import Connection
from kcoord.client.security import Security
from kcoord.protocol.generated.connect_group_describe_response import ConnectorsAndTasks, DescribedGroup
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupPrepareAssignmentRequest,
)
from kcoord.protocol.resources import unpack
from kcoord.worker.actions import Abandon, Action, Assign, Gone, Grant, Revoke, Seek, Send
from kcoord.worker.membership import Membership
from kcoord.worker.setup import Offer, Setup

Row = tuple[int, str]
Table = tuple[int, int, dict[str, str], dict[str, Row]]


def meant(names: str) -> frozenset[Resource]:
    """In short: AC0 is connector A, AT1 a task of it."""
    return frozenset(Resource(name[0], CONNECTOR if name[1] == "C" else int(name[2:])) for name in names.split())


def in_short(resources: frozenset[Resource]) -> str:
    """The other way round."""
    return " ".join(f"{name}C0" if task == CONNECTOR else f"{name}T{task}" for name, task in sorted(resources))


def offer(assignor: ConnectAssignor, reason: int = 0) -> Offer:
    """As the coordinator is told of it."""
    return Offer(assignor.name, assignor.minimum_version, assignor.maximum_version, reason)


class Stepped:
    """One worker. `runs` is what it was granted and has not stopped."""

    def __init__(
        self, port: int, group: str, name: str, assignors: Sequence[ConnectAssignor] = (), configured: str | None = None
    ) -> None:
        self.name = name
        self.gone: Gone | None = None
        self._port = port
        self._assignors = {each.name: each for each in assignors}
        self._now = 0
        self._connection: Connection | None = None
        self._to_release: list[Revoke] = []
        self._prepare: Send | None = None
        self._abandoned: list[Abandon] = []
        self.membership = Membership(
            Setup(
                group,
                name,
                url=f"http://{name}",
                offers=tuple(map(offer, assignors)),
                configured=None if configured is None else meant(configured),
                config_offset=-1 if configured is None else 1,
                request_timeout_ms=10**9,
            )
        )
        self.runs: frozenset[Resource] = frozenset()

    # What a test does with it

    async def join(self) -> None:
        """Find the way, join, and read the answer."""
        await self._do(self.membership.start(self._now))

    async def beat(self) -> None:
        """Heartbeat, and read the answer."""
        wake = self.membership.wake_at()
        assert wake is not None
        self._now = max(self._now, wake)
        await self._do(self.membership.poll(self._now))

    async def compute(self) -> None:
        """Do what COMPUTE_ASSIGNMENT asked for: prepare, assign, install."""
        send, self._prepare = self._prepare, None
        assert send is not None, f"{self.name} was not chosen to compute"
        await self._ask(send)

    @property
    def is_chosen(self) -> bool:
        """Whether it was asked to compute, and has not yet."""
        return self._prepare is not None

    async def give_reason(self, reason: int) -> None:
        """The assignor gives a reason to assign anew."""
        offers = tuple(attrs.evolve(each, reason=reason) for each in self.membership.setup.offers)
        await self._do(self.membership.update(self._now, offers=offers))

    async def release(self) -> None:
        """`on_revoked` returns: it stops what it was told to, and says so at once."""
        for revoke in self._to_release:
            self.runs -= revoke.resources
            await self._do(self.membership.released(self._now, revoke.number))
        self._to_release = []

    async def stop(self) -> None:
        """All that it abandons has stopped."""
        for abandon in self._abandoned:
            self.runs -= abandon.resources
            await self._do(self.membership.abandoned(self._now, abandon.number))
        self._abandoned = []

    async def close(self) -> None:
        """Go without a word."""
        if self._connection is not None:
            await self._connection.close()

    # Inside

    async def _do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Seek():
                    await self.close()
                    self._connection = await Connection.open("127.0.0.1", self._port, Security())
                    await self._do(self.membership.connected(self._now))
                case Send(request=ConnectGroupPrepareAssignmentRequest()):
                    self._prepare = action
                case Send():
                    await self._ask(action)
                case Grant():
                    self.runs |= action.resources
                case Revoke():
                    self._to_release.append(action)
                case Abandon():
                    self._abandoned.append(action)
                case Assign():
                    assignment = self._assignors[action.assignor].assign(action.group)
                    await self._do(self.membership.computed(self._now, action.number, assignment))
                case Gone():
                    self.gone = action

    async def _ask(self, send: Send) -> None:
        assert self._connection is not None
        response = await self._connection.post(send.request)
        await self._do(self.membership.answered(self._now, send.number, response))


@attrs.define
class Observer:
    """What anybody can see of a group, by ConnectGroupDescribe."""

    connection: Connection
    group: str

    async def describe(self) -> DescribedGroup:
        """The group now."""
        request = ConnectGroupDescribeRequest(group_ids=[self.group])
        (group,) = (await self.connection.send(request, ConnectGroupDescribeResponse)).groups
        return group

    async def table(self) -> Table:
        """A row of a case study: group epoch, assignment epoch, target by worker (of departed ones too), epoch and what
        it owns by worker.
        """
        group = await self.describe()
        targets = {each.member_id: each.target for each in group.members}
        targets |= {each.member_id: each.connectors_and_tasks for each in group.departed}
        return (
            group.group_epoch,
            group.assignment_epoch,
            {name: words for name, target in sorted(targets.items()) if (words := _words(target))},
            {
                each.member_id: (each.member_epoch, _words(each.owned))
                for each in sorted(group.members, key=lambda each: each.member_id)
            },
        )


def _words(entries: list[ConnectorsAndTasks]) -> str:
    return in_short(unpack(entries))
