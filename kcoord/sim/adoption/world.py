"""The world of a run of adoption and release, and the course of the run.

1. Members join the cluster directly, and are given kcoord's address one by one. The group is to be kcoord's and the
   cluster's by turns, while things go wrong.
2. Then nothing goes wrong any more, and all members come through kcoord. Within a bounded time the group is wholly
   kcoord's, or wholly the cluster's, and stays so.

In calm runs nothing goes wrong at all, and the run counts what each step costs the members.
"""

from __future__ import annotations

import asyncio
import logging

from kcoord.group.group_configs import GROUP as GROUP_RESOURCE
from kcoord.group.state.owner_setting import Owner
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import IncrementalAlterConfigsRequest
from kcoord.sim.adoption.client import Client, ConnectionLost
from kcoord.sim.adoption.cluster import BROKER, Cluster
from kcoord.sim.adoption.context import AdoptionContext
from kcoord.sim.adoption.faults import Faults
from kcoord.sim.adoption.fleet import Fleet, Place
from kcoord.sim.adoption.front import FRONT, Front
from kcoord.sim.adoption.judge import Judge
from kcoord.sim.adoption.member import GROUP
from kcoord.sim.adoption.process import Process
from kcoord.sim.adoption.substitutes import replaced
from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.basis.trace import Sink
from kcoord.sim.basis.violation import Violation

SET = 0
LOOK_S, STAYS_S, PATIENCE_S = 0.5, 6.0, 300.0
"""How often the run checks whether all is well, how long it must stay so, and how long that may take."""
COMMIT_MS = 500
"""How long a commit may wait while a group is adopted, besides the time of its messages."""
SETTLES_S = 60.0
"""The time within which each step of a calm run must be done."""
COME_S, SOON_S = 5.0, 10.0
"""The time in which all members but a slow one join in a release, and the time in which they go on without it."""
BUSY_MS, WAITS_MS = 45_000, 60_000
"""How long a slow member does not join, and the shortest rebalance timeout with which the others wait for it."""


class AdoptionWorld:
    """One run."""

    def __init__(self, seed: int, sink: Sink | None = None) -> None:
        self.seed = seed
        context = self.context = AdoptionContext(seed, sink)
        self.cluster = Cluster(context)
        self.front = Front(context)
        self.fleet = Fleet(context)
        self.judge = Judge(context, self.cluster, self.front, self.fleet)
        self.judge.on_violation = self._end
        self.faults = Faults(context, self.cluster, self.front, self.fleet)
        self.owner: str = Owner.AUTO
        """Who was to have the group last."""
        self._admin = Process("admin")
        self._way: Client | None = None
        """The administrator's connection to kcoord."""
        self._ended: asyncio.Future[None]
        self._healed_ms = 0

    def _end(self) -> None:
        """Something was violated: there is nothing more to see."""
        if not self._ended.done():
            self._ended.set_result(None)

    async def own(self, owner: str) -> None:
        """Set who is to have the group, and repeat that until kcoord knows it."""
        self.owner = owner
        self.context.note("admin", f"the group shall be of: {owner}")
        change = AlterableConfig("gateway.owner", SET, owner)
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP_RESOURCE, GROUP, [change])])
        while self.owner == owner:
            try:
                if self._way is None or self._way.is_lost:
                    self._way = await Client.connect(self.context, "admin", FRONT)
                answer = await self._way.ask(request, 1, 5.0)
                if not answer.responses[0].error_code:
                    return
                self.context.note("admin", f"is refused: {ErrorCode(answer.responses[0].error_code).name}")
            except ConnectionLost:
                pass
            await asyncio.sleep(0.2)

    # -- the run ------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run from the start of everything until all is well."""
        loop = self.context.loop
        handler = _Lines(self.context, self.judge)
        logger = logging.getLogger("kcoord")
        before = logger.level, logger.propagate
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(logging.DEBUG if self.context.tracing else logging.ERROR)
        loop.set_exception_handler(self._fault)
        try:
            with replaced(loop, self.context.random):
                loop.run_until_complete(loop.run_for(self._admin, self._run()))
                self._clear()
        except Violation as found:
            self.judge.violation = self.judge.violation or found
        finally:
            logger.removeHandler(handler)
            logger.level, logger.propagate = before
            loop.close()
        violation = self.judge.violation
        return Outcome(
            self.seed,
            self.judge.joins,
            0,
            self.cluster._life + self.front._life,
            loop.now_ms,
            self._healed_ms,
            violation,
            fingerprint=self.context.fingerprint.value,
        )

    def _fault(self, _loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        self.judge.violated("fault", f"{context.get('message')}: {error!r}")

    def _clear(self) -> None:
        """End everything that still goes on."""
        self.faults.heal()
        for process in (self.front, self.cluster):
            process.kill(3_600_000)
        for member in self.fleet.members():
            member.process.kill()
        tasks = asyncio.all_tasks(self.context.loop)
        for task in tasks:
            task.cancel()
        self.context.loop.run_until_complete(asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60))

    async def _run(self) -> None:
        self._ended = self.context.loop.create_future()
        story = asyncio.ensure_future(self._calm() if self.context.plan.calm else self._story())
        await asyncio.wait({story, self._ended}, return_when=asyncio.FIRST_COMPLETED)
        if not story.done():
            story.cancel()
        elif not story.cancelled() and story.exception() is not None:
            error = story.exception()
            if isinstance(error, Violation):
                self.judge.violated(error.invariant, error.text)
            elif self.judge.violation is None:
                assert error is not None
                raise error

    async def _story(self) -> None:
        plan, random = self.context.plan, self.context.random
        self.context.note("plan", str(plan))
        self.cluster.start()
        self.front.start()
        for place in self.fleet.places:
            at = BROKER if random.random() < 0.5 else FRONT
            self.context.loop.later(random.random() * 2, place.start, at)
            if at == BROKER:
                pause_ms, orderly = random.randint(100, 1_500), random.random() < 0.7
                self.context.loop.later(3 + random.random() * 5, self._restart, place, pause_ms, orderly)
        self.context.loop.later(random.random() * 3, self.faults.start)
        turns = asyncio.ensure_future(self._turns(), loop=self.context.loop)
        await asyncio.sleep(plan.faulty_ms / 1000)
        self._heal()
        await turns
        await self.own(plan.ends)
        await self._be_well(plan.ends, PATIENCE_S)
        self.judge.check_commits()

    def _restart(self, place: Place, pause_ms: int, orderly: bool) -> None:
        if place.is_running:
            place.restart(FRONT, pause_ms, orderly=orderly)

    async def _turns(self) -> None:
        """Change from time to time who is to have the group."""
        while not self.faults.is_over:
            await asyncio.sleep(min(self.context.random.expovariate(1.0) * self.context.plan.turn_ms / 1000, 10))
            others = [each for each in (Owner.KCOORD, Owner.CLUSTER, Owner.AUTO) if each != self.owner]
            await self.own(self.context.random.choice(others))

    def _heal(self) -> None:
        """End all faults."""
        self.context.note("faults", "end here")
        self.faults.heal()
        self.context.network.is_slow = False
        self.cluster.start()
        self.front.start()
        for place in self.fleet.strangers:
            place.stop(orderly=True)
        for place in self.fleet.places:
            if not place.is_running:
                place.start(FRONT)
            elif place.member is not None and (place.member.at != FRONT or place.member.is_leaving):
                place.restart(FRONT, 500, orderly=True)

    async def _be_well(self, owner: str, patience_s: float) -> None:
        """Wait until all is well and stays so."""
        loop, judge = self.context.loop, self.judge
        began_s = well_s = loop.time()
        joins = judge.joins
        while True:
            wrong = judge.wrong(owner)
            if wrong is not None or judge.joins != joins:
                well_s, joins = loop.time() + LOOK_S, judge.joins
                if loop.time() > began_s + patience_s:
                    raise Violation("rest", f"{patience_s} s after the last fault: {wrong or 'no rest'}")
            elif loop.time() >= well_s + STAYS_S:
                self._healed_ms = round((well_s - began_s) * 1000)
                return
            await asyncio.sleep(LOOK_S)

    # -- calm runs ----------------------------------------------------------------------------------------------------

    async def _calm(self) -> None:
        """Adopt, release and adopt again while nothing goes wrong, and check the cost."""
        plan = self.context.plan
        self.context.note("plan", str(plan))
        self.context.network.is_slow = False
        self.cluster.start()
        self.front.start()
        await asyncio.sleep(1)
        for place in self.fleet.places:
            place.start(BROKER)
        await self._be_well(Owner.CLUSTER, SETTLES_S)
        await self.own(Owner.CLUSTER)
        for place in self.fleet.places:
            place.restart(FRONT, 100, orderly=True)
            await asyncio.sleep(self.context.random.random() * 3)
        await self._be_well(Owner.CLUSTER, SETTLES_S)
        await asyncio.sleep(plan.session_ms / 1000)  # until no member id is left that was not used
        await self._costs(Owner.KCOORD, 0)
        await self._costs(Owner.CLUSTER, 1 + plan.uses_sasl)
        await self._costs(Owner.KCOORD, 0)
        if plan.rebalance_ms >= WAITS_MS and plan.members > 1:
            await self._waits(Owner.CLUSTER)
            await self._waits(Owner.KCOORD)
            await self._is_not_waited_for()
        self.judge.check_commits()

    async def _waits(self, owner: str) -> None:
        """Move the group to `owner` while the members wait for one that is slow to join. A release begins a rebalance
        by itself; before an adoption a member is restarted. Check that no other member loses its connection.
        """
        slow, *others = self.fleet.places
        members = self.fleet.members()
        before = {each: each.losses for each in members}
        for member in members:
            member.joins_within_s = 2 * WAITS_MS / 1000
        assert slow.member is not None
        slow.member.busy_until_ms = self.context.loop.now_ms + BUSY_MS
        self.context.note(slow.name, f"does not join for {BUSY_MS} ms")
        if owner == Owner.KCOORD:
            others[-1].restart(FRONT, 100, orderly=True)
            await asyncio.sleep(1)
        await self.own(owner)
        await self._be_well(owner, SETTLES_S + BUSY_MS / 1000)
        lost = [each.name for each in members if each.is_alive and each.losses > before[each]]
        if lost:
            raise Violation("cost", f"{lost} lost their connections while the group became of: {owner}")

    async def _is_not_waited_for(self) -> None:
        """Release the group while one member is slow to join, and then leaves or dies. Check that the others go on once
        it is no member any more.
        """
        slow, *_ = self.fleet.places
        orderly, session_s = self.context.random.random() < 0.5, self.context.plan.session_ms / 1000
        assert slow.member is not None
        slow.member.busy_until_ms = self.context.loop.now_ms + BUSY_MS
        await self.own(Owner.CLUSTER)
        await asyncio.sleep(COME_S)
        self.context.note(slow.name, f"has not joined, and {'leaves' if orderly else 'dies'}")
        slow.stop(orderly=orderly)
        await self._be_well(Owner.CLUSTER, SOON_S + (0 if orderly else session_s))

    async def _costs(self, owner: str, joins: int) -> None:
        """Move the group to `owner`, and check that each member joins, but not more than `joins` times.

        With SASL a release may cost a second join (AD-15), and the only member of a group waits while it is adopted
        (AD-14).
        """
        members, plan = self.fleet.members(), self.context.plan
        before = [(each.joins, len(each.errors), each.commits) for each in members]
        for member in members:
            member.slowest_commit_ms = 0
        await self.own(owner)
        await self._be_well(owner, SETTLES_S)
        for member, (joined, errors, commits) in zip(members, before, strict=True):
            if not min(joins, 1) <= member.joins - joined <= joins:
                text = f"{member.name} joined {member.joins - joined} times when the group became of: {owner}"
                raise Violation("cost", text)
            heard = [
                each.name for each in member.errors[errors:] if each != ErrorCode.REBALANCE_IN_PROGRESS or not joins
            ]
            if heard:
                raise Violation("cost", f"{member.name} heard {heard} when the group became of: {owner}")
            waited_ms, most_ms = member.slowest_commit_ms, COMMIT_MS + 20 * plan.latency_ms
            if plan.uses_sasl and plan.members == 1:
                most_ms += plan.initial_delay_ms
            if not joins and waited_ms > most_ms:
                text = f"a commit of {member.name} waited {waited_ms} ms when the group became of: {owner}"
                raise Violation("cost", text)
            if member.position and member.commits == commits:
                raise Violation("cost", f"{member.name} could not commit when the group became of: {owner}")


class _Lines(logging.Handler):
    """kcoord's log, as lines of the trace. A logged exception ends the run."""

    def __init__(self, context: AdoptionContext, judge: Judge) -> None:
        super().__init__()
        self._context = context
        self._judge = judge

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        self._context.note("  log", record.getMessage())
        if record.exc_info and record.levelno >= logging.ERROR:
            self._judge.violated("fault", f"{record.getMessage()}: {record.exc_info[1]!r}")
