"""What goes on while things break? Groups of both kinds whose members come, go, die, change, and are looked at.

A `Seat` is a place in a group that is mostly taken; a `Load` has all groups, shakes them until it is told to settle,
and then waits until every group is what its members think it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from random import Random

import attrs

from kcoord.protocol.resources import unpack
from kcoord.resource import CONNECTOR, Resource
from tests.faults.caller import Address, Caller, Lost
from tests.faults.classic_member import ClassicMember, Share
from tests.faults.connect_member import ConnectMember, Work
from tests.faults.history import History
from tests.faults.onlooker import Onlooker

INTERVAL_S = 0.3
CLASSIC_SESSION_MS = 8_000
_DEATHS = 0.05
"""How many of those who go die: their share waits for the end of their session."""
_NAMES = "abcdef"
_TASKS = 3


@attrs.define(eq=False)
class Seat:
    """A place in a group, and who sits there: the newest of a row of processes."""

    make: Callable[[int], ConnectMember | ClassicMember]
    member: ConnectMember | ClassicMember | None = None
    _task: asyncio.Task[None] | None = None
    _number: int = 0

    def take(self) -> None:
        """A new process comes."""
        self._number += 1
        self.member = self.make(self._number)
        self._task = asyncio.create_task(self.member.live())

    async def go(self, *, die: bool) -> None:
        """The process goes, in order or not."""
        member, task = self.member, self._task
        assert member is not None
        assert task is not None
        self._task = None
        if die:
            task.cancel()
        else:
            member.leave()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
        member.die()
        await member.caller.hang_up()
        self.member = None

    def check(self) -> None:
        """Raise what has ended the process's script."""
        if self._task is not None and self._task.done():
            self._task.result()
            raise AssertionError("a member has left by itself")


@attrs.define(eq=False)
class ConnectGroup:
    """A connect group, its seats and who looks at it."""

    work: Work
    seats: list[Seat]
    onlooker: Onlooker

    async def look(self) -> None:
        """Read one thing or change the setting, at random."""
        random = self.onlooker.caller.random
        await random.choice([self.onlooker.describe, self.onlooker.alter, self.onlooker.read_setting])()

    def shake(self, random: Random) -> None:
        """A change that needs nobody to come or go."""
        if random.random() < 0.7:
            member = random.choice(self.seats).member
            if isinstance(member, ConnectMember):
                member.change_url()
        else:
            name = random.choice(_NAMES)
            others = frozenset(each for each in self.work.resources if each.connector != name)
            there = len(others) < len(self.work.resources) and bool(others)
            self.work.configure(others if there else others | resources_of(name))

    async def settled(self) -> str | None:
        """What is not yet as it should be in the end."""
        if not await self.onlooker.read_setting():
            return "its settings are not told"
        shown = await self.onlooker.describe()
        if shown is None or shown.group_state != "Stable" or shown.group_epoch != shown.assignment_epoch:
            return f"it is {shown and (shown.group_state, shown.group_epoch, shown.assignment_epoch)}"
        members = {seat.member.member_id: seat.member for seat in self.seats if isinstance(seat.member, ConnectMember)}
        if {each.member_id for each in shown.members} != set(members):
            return f"its members are {[each.member_id for each in shown.members]}, and should be {sorted(members)}"
        owned: list[Resource] = []
        targets: dict[str, frozenset[Resource]] = {}
        for each in shown.members:
            member = members[each.member_id]
            may_run, target = unpack(each.owned), unpack(each.target)
            targets[each.member_id] = target
            if not member.settled or member.epoch != each.member_epoch or each.member_epoch != shown.group_epoch:
                return f"{each.member_id} is at {each.member_epoch}, thinks {member.epoch}, settled: {member.settled}"
            if not may_run == target == member.running.resources:
                return f"{each.member_id} may run {may_run}, shall run {target}, runs {member.running.resources}"
            owned += may_run
        if sorted(owned) != sorted(self.work.resources) or shown.config_offset != self.work.offset:
            return f"{sorted(owned)} run, {sorted(self.work.resources)} are configured"
        installed = self.work.installs.get(shown.assignment_epoch)
        if self.work.server_assignor is None and targets not in (installed or []):
            return f"its targets at {shown.assignment_epoch} are none that was installed"
        return None


@attrs.define(eq=False)
class LoadedGroup:
    """A classic group, likewise."""

    share: Share
    seats: list[Seat]
    onlooker: Onlooker

    async def look(self) -> None:
        """Read one thing."""
        if self.share.commits:
            await self.onlooker.fetch(self.share)
        else:
            await self.onlooker.describe_classic()

    def shake(self, random: Random) -> None:
        """Its members change things by themselves: they commit."""

    async def settled(self) -> str | None:
        """What is not yet as it should be in the end."""
        if self.share.commits and not await self.onlooker.fetch(self.share):
            return "its offsets are not told"
        shown = await self.onlooker.describe_classic()
        if shown is None or shown.group_state != "Stable":
            return f"it is {shown and shown.group_state}"
        members = {seat.member.member_id: seat.member for seat in self.seats if isinstance(seat.member, ClassicMember)}
        if {each.member_id for each in shown.members} != set(members):
            return f"its members are {[each.member_id for each in shown.members]}, and should be {sorted(members)}"
        if not all(member.settled for member in members.values()):
            return "not all members have synced"
        if len({member.generation for member in members.values()}) != 1:
            return "its members are of several generations"
        runs = sorted(resource for member in members.values() for resource in member.running.resources)
        return None if runs == sorted(self.share.resources) else f"{runs} run"


@attrs.define(eq=False)
class Load:
    """All groups. `shake` for as long as things break, then `settle`, then `stop`."""

    bootstrap: list[Address]
    """All clients look here; it may grow."""
    history: History
    random: Random
    pace_s: float = 0.1
    """How long it is between two changes, on average."""
    commits: bool = True
    groups: list[ConnectGroup | LoadedGroup] = attrs.field(factory=list, init=False)
    _calm: bool = attrs.field(default=False, init=False)
    _shaking: list[asyncio.Task[None]] = attrs.field(factory=list, init=False)

    def add_connect_group(
        self, name: str, workers: int = 4, server_assignor: str | None = None, hold_ms: int = 0
    ) -> None:
        """A group whose members compute, or let the coordinator."""
        resources = frozenset[Resource]().union(*(resources_of(each) for each in _NAMES[:3]))
        work = Work(name, resources, server_assignor)

        def maker(seat: int) -> Callable[[int], ConnectMember]:
            def make(number: int) -> ConnectMember:
                # at one seat in two each process has an id of its own, at the others the id is kept
                member_id = f"w{seat}" if seat % 2 else f"w{seat}-{number}"
                caller = self._caller(name, f"{name}/w{seat}#{number}")
                return ConnectMember(caller, work, member_id, INTERVAL_S, hold_ms)

            return make

        seats = [Seat(maker(seat)) for seat in range(workers)]
        self.groups.append(ConnectGroup(work, seats, Onlooker(self._caller(name, f"{name}/onlooker"))))

    def add_classic_group(self, name: str, members: int = 3) -> None:
        """A group of the classic protocol."""
        resources = frozenset[Resource]().union(*(resources_of(each) for each in _NAMES[:2]))
        share = Share(name, resources, CLASSIC_SESSION_MS, self.commits)

        def maker(seat: int) -> Callable[[int], ClassicMember]:
            return lambda number: ClassicMember(self._caller(name, f"{name}/m{seat}#{number}"), share, seat, INTERVAL_S)

        seats = [Seat(maker(seat)) for seat in range(members)]
        self.groups.append(LoadedGroup(share, seats, Onlooker(self._caller(name, f"{name}/onlooker"))))

    def start(self) -> None:
        """Everybody joins, and the shaking begins."""
        for group in self.groups:
            for seat in group.seats:
                seat.take()
            self._shaking += [asyncio.create_task(self._shake(group)), asyncio.create_task(self._look(group))]

    async def settle(self, within_s: float = 120.0) -> None:
        """Shake no more, and wait until every group is what its members think it is. Raises AssertionError."""
        await self.calm()
        for group in self.groups:
            for seat in group.seats:
                if seat.member is None:
                    seat.take()
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + within_s
        wrong: dict[str, str] = {group.onlooker.caller.group: "it was not looked at" for group in self.groups}
        while wrong:
            for group in self.groups:
                name = group.onlooker.caller.group
                if name in wrong:
                    with suppress(Lost):
                        found = await group.settled()
                        if found is None:
                            del wrong[name]
                        else:
                            wrong[name] = found
            self.check()
            assert loop.time() < deadline_s, f"not as it should be {within_s:.0f} s after all was mended: {wrong}"
            await asyncio.sleep(0.2)

    async def calm(self) -> None:
        """No more changes; who goes may go, everybody else goes on."""
        self._calm = True
        shaking, self._shaking = self._shaking, []
        await asyncio.gather(*shaking)

    async def stop(self) -> None:
        """Everything ends; what ran until now is written down."""
        for task in self._shaking:
            task.cancel()
        seats = [seat for group in self.groups for seat in group.seats if seat.member is not None]
        await asyncio.gather(*(seat.go(die=True) for seat in seats), return_exceptions=True)
        for group in self.groups:
            await group.onlooker.caller.hang_up()
        await asyncio.sleep(0.05)  # connections are closed in the loop's next turns

    def check(self) -> None:
        """Raise what has ended a script."""
        for task in self._shaking:
            if task.done():
                task.result()
        for group in self.groups:
            for seat in group.seats:
                seat.check()

    def _caller(self, group: str, name: str) -> Caller:
        return Caller(self.bootstrap, self.history, group, name, Random(self.random.random()))

    async def _shake(self, group: ConnectGroup | LoadedGroup) -> None:
        """One change after the other; a group never loses its last members."""
        pace_s = self.pace_s * len(self.groups)
        random = Random(self.random.random())
        while not self._calm:
            await asyncio.sleep(pace_s * 2 * random.random())
            if random.random() < 0.5:
                group.shake(random)
                continue
            seat = random.choice(group.seats)
            if seat.member is None:
                seat.take()
            elif all(other.member is not None for other in group.seats):
                await seat.go(die=random.random() < _DEATHS)

    async def _look(self, group: ConnectGroup | LoadedGroup) -> None:
        random = Random(self.random.random())
        while not self._calm:
            await asyncio.sleep(random.random())
            with suppress(Lost):
                await group.look()


def resources_of(name: str) -> frozenset[Resource]:
    """A connector and its tasks."""
    return frozenset(Resource(name, task) for task in range(CONNECTOR, _TASKS))
