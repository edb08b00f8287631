"""How does a scripted worker of a connect group live? By the rules, with nothing of `kcoord.worker`.

It joins, says what it runs, runs what it is granted, takes its time to let go, computes when it is chosen, and writes
down what was acknowledged. What it says of itself (its url, the configured set) it says until that is acknowledged.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as beat
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
)
from kcoord.protocol.resources import pack, unpack
from kcoord.resource import Resource
from tests.faults.caller import Caller, Lost, Reply
from tests.faults.history import Expired, Kind, Outcome, Read, Register, Told, Wrote, now_us
from tests.faults.running import Running

FINE = (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT)
NOTHING: frozenset[Resource] = frozenset()
REBALANCE_MS = 60_000
ASSIGNOR = beat.Assignor("random", 0, 1, 0, 1, b"")
_SLOWEST_STOP_US = 60_000
_MOVED = 0.3
"""How much of an assignment changes hands at random each time: many moves make many chances to go wrong."""


@attrs.define(eq=False)
class Work:
    """What all members of one connect group know: what is configured, and what was computed."""

    group: str
    resources: frozenset[Resource]
    server_assignor: str | None = None
    offset: int = 1
    urls: dict[str, int] = attrs.Factory(dict)
    installs: dict[int, list[dict[str, frozenset[Resource]]]] = attrs.Factory(dict)
    """What was installed, or may have been, for each group epoch."""

    def next_url(self, member_id: str) -> int:
        """A url that this member never had."""
        self.urls[member_id] = self.urls.get(member_id, 0) + 1
        return self.urls[member_id]

    def configure(self, resources: frozenset[Resource]) -> None:
        """What is configured from now on."""
        self.resources = resources
        self.offset += 1


@attrs.define(eq=False)
class ConnectMember:
    """One process. `live` returns when it has left; cancelling it is the process's death, and then `die` is due."""

    caller: Caller
    work: Work
    member_id: str
    interval_s: float
    hold_ms: int = 0
    epoch: int = attrs.field(default=0, init=False)
    joined: bool = attrs.field(default=False, init=False)
    running: Running = attrs.field(init=False)
    _url: int = attrs.field(default=0, init=False)
    _url_said: int = attrs.field(default=0, init=False)
    _offset_said: int = attrs.field(default=0, init=False)
    _stopping: dict[Resource, int] = attrs.field(factory=dict, init=False)
    """What is to be let go, and when it will have stopped."""
    _leaving: bool = attrs.field(default=False, init=False)
    _poked: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self.running = Running(self.caller.history, self.work.group, self.caller.name)
        self._url = self.work.next_url(self.member_id)

    @property
    def settled(self) -> bool:
        """Whether it is a member that has nothing to say."""
        return self.joined and not self._stopping and not self._news() and not self.running.over

    def change_url(self) -> None:
        """It has another address from now on."""
        self._url = self.work.next_url(self.member_id)
        self.poke()

    def leave(self) -> None:
        """`live` is to end."""
        self._leaving = True
        self.poke()

    def poke(self) -> None:
        """There is something to say."""
        self._poked.set()

    def die(self) -> None:
        """The process is gone."""
        self.running.stop_all()

    async def live(self) -> None:
        """Be a member until `leave`."""
        while not self._leaving:
            if self.joined and self.running.over:
                self.caller.history.add(Expired(self.work.group, self.caller.name, now_us()))
                await self._abandon()
            try:
                await (self._heartbeat() if self.joined else self._join())
            except Lost:
                continue
            await self._pause()
        self.running.stop_all()
        if self.joined:
            await self._say_goodbye()
        await self.caller.hang_up()

    # What it says

    async def _join(self) -> None:
        await self.caller.hang_up()  # a join by a new connection fences whatever is under way by an old one
        await self.caller.seek()
        assignors = [ASSIGNOR] if self.work.server_assignor is None else None
        await self._ask(
            "join",
            rebalance_timeout_ms=REBALANCE_MS,
            server_assignor=self.work.server_assignor,
            client_assignors=assignors,
            connectors_and_tasks=[],
            url=self._url_text(self._url),
            **self._configured(),
        )

    async def _heartbeat(self) -> None:
        now = now_us()
        self.running.stop([resource for resource, stop_us in self._stopping.items() if stop_us <= now])
        self._stopping = {resource: at for resource, at in self._stopping.items() if at > now}
        fields: dict[str, Any] = {"connectors_and_tasks": _packed(self.running.resources)}
        if self._url > self._url_said:
            fields["url"] = self._url_text(self._url)
        if self.work.offset > self._offset_said:
            fields |= self._configured()
        if not self._news() and not self._stopping:
            fields["max_wait_ms"] = self.hold_ms
        await self._ask("heartbeat", **fields)

    def _configured(self) -> dict[str, Any]:
        return {
            "config_offset": self.work.offset,
            "configured_connectors_and_tasks": _packed(self.work.resources),
        }

    def _url_text(self, number: int) -> str:
        return f"http://{self.member_id}/{number}"

    def _news(self) -> bool:
        return self._url > self._url_said or self.work.offset > self._offset_said

    async def _ask(self, call: str, **fields: Any) -> None:
        """Send a heartbeat with what it has of news, and write down what comes of that."""
        url = self._url if "url" in fields else None
        offset = self.work.offset if "config_offset" in fields else None
        sent_us, epoch = now_us(), self.epoch
        try:
            request = ConnectGroupHeartbeatRequest(self.work.group, self.member_id, epoch, **fields)
            answer, reply = await self.caller.ask(call, request, ConnectGroupHeartbeatResponse, self._known)
        except (Lost, asyncio.CancelledError):
            self._wrote(url, offset, sent_us, None, Outcome.UNKNOWN)
            raise
        taken = reply.error in FINE and epoch in (0, answer.member_epoch)  # CG-12: else it may count as a repeat
        open_ = reply.passing or (reply.error in FINE and not taken)
        outcome = Outcome.DONE if taken else Outcome.UNKNOWN if open_ else Outcome.REFUSED
        self._wrote(url, offset, reply.sent_us, reply.ended_us, outcome)
        if taken:
            self._url_said = url or self._url_said
            self._offset_said = offset or self._offset_said
        if reply.error in FINE:
            await self._take(answer, reply)
        elif not reply.passing:
            await self._abandon()

    def _known(self, at_us: int) -> bool:
        """Whether the coordinator must know it by its epoch: 0 is never a previous one (CG-12), so when the answer is
        lost that told it the first, it is fenced.
        """
        return self.joined and self.epoch > 0 and self.running.alive(at_us)

    def _wrote(self, url: int | None, offset: int | None, sent_us: int, ended_us: int | None, came: Outcome) -> None:
        group, add = self.work.group, self.caller.history.add
        if url is not None:
            register = Register(Kind.URL, group, self.member_id)
            add(Wrote(register, url, self.caller.name, sent_us, ended_us, came))
        if offset is not None:
            add(Wrote(Register(Kind.CONFIG, group), offset, self.caller.name, sent_us, ended_us, came))

    async def _say_goodbye(self) -> None:
        """Once: if that is not answered the session ends by itself."""
        request = ConnectGroupHeartbeatRequest(self.work.group, self.member_id, -1)
        for _ in range(3):
            try:
                _, reply = await self.caller.ask("leave", request, ConnectGroupHeartbeatResponse)
            except Lost:
                continue
            if not reply.passing:
                return

    # What it is told

    async def _take(self, answer: ConnectGroupHeartbeatResponse, reply: Reply) -> None:
        join = not self.joined
        in_time = (self.running.begin if join else self.running.go_on)(reply.sent_us, answer.session_timeout_ms)
        if not in_time:
            await self._abandon()
            return
        self.joined = True
        self.epoch = answer.member_epoch
        history, name = self.caller.history, self.caller.name
        history.add(Told(self.work.group, name, self.epoch, join, reply.ended_us))
        self._knows(Kind.ASSIGNMENT_EPOCH, self.epoch, reply, at_least=True)
        if answer.assignment is not None:
            told = unpack(answer.assignment.connectors_and_tasks)
            for resource in self.running.resources - told:
                slow_us = self.caller.random.randrange(_SLOWEST_STOP_US)
                self._stopping.setdefault(resource, now_us() + slow_us)
            for resource in told:
                self._stopping.pop(resource, None)
            self.running.start(told)
        if reply.error is ErrorCode.COMPUTE_ASSIGNMENT:
            await self._compute()

    def _knows(self, kind: Kind, value: int, reply: Reply, at_least: bool = False) -> None:
        register = Register(kind, self.work.group)
        self.caller.history.add(Read(register, value, self.caller.name, reply.sent_us, reply.ended_us, at_least))

    async def _abandon(self) -> None:
        """To be fenced is not to have let go (CG-5): stop all, then join anew by a new connection."""
        self.running.end()
        self._stopping.clear()
        self.joined, self.epoch = False, 0
        self._url_said = self._offset_said = 0
        await self.caller.hang_up()

    async def _compute(self) -> None:
        prepare = ConnectGroupPrepareAssignmentRequest(self.work.group, self.member_id, self.epoch)
        input_, reply = await self.caller.ask(
            "prepare", prepare, ConnectGroupPrepareAssignmentResponse, self.running.alive
        )
        if reply.error is not ErrorCode.NONE:
            return
        self._knows(Kind.GROUP_EPOCH, input_.group_epoch, reply)
        targets = assign(input_, self.caller.random)
        self.work.installs.setdefault(input_.group_epoch, []).append(targets)
        members = [
            install.Member(member_id, pack(target, install.ConnectorsAndTasks, install.ConnectorTaskId))
            for member_id, target in targets.items()
        ]
        request = ConnectGroupInstallAssignmentRequest(
            self.work.group, self.member_id, self.epoch, input_.group_epoch, members=members
        )
        _, reply = await self.caller.ask("install", request, ConnectGroupInstallAssignmentResponse, self.running.alive)
        if reply.error is ErrorCode.NONE:
            self._knows(Kind.ASSIGNMENT_EPOCH, input_.group_epoch, reply, at_least=True)

    async def _pause(self) -> None:
        """Until there is something to do: a held answer is asked for at once, a release when it is done."""
        now = now_us()
        waits = [
            self.interval_s * (0.5 + self.caller.random.random()),
            *((at - now) / 1e6 for at in self._stopping.values()),
        ]
        if self.hold_ms:
            waits.append(0.02)
        try:
            async with asyncio.timeout(max(0.0, min(waits))):
                await self._poked.wait()
        except TimeoutError:
            pass
        self._poked.clear()


def assign(prepared: ConnectGroupPrepareAssignmentResponse, random: Random) -> dict[str, frozenset[Resource]]:
    """All that is configured, mostly where it was, else anywhere."""
    targets: dict[str, set[Resource]] = {member.member_id: set() for member in prepared.members}
    before = {
        resource: member.member_id for member in prepared.members for resource in unpack(member.connectors_and_tasks)
    }
    everybody = sorted(targets)
    for resource in sorted(unpack(prepared.configured_connectors_and_tasks or [])):
        owner = before.get(resource)
        if owner is None or random.random() < _MOVED:
            owner = random.choice(everybody)
        targets[owner].add(resource)
    return {member_id: frozenset(target) for member_id, target in targets.items()}


def _packed(resources: frozenset[Resource]) -> list[beat.ConnectorsAndTasks]:
    return pack(resources, beat.ConnectorsAndTasks, beat.ConnectorTaskId)
