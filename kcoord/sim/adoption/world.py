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
from collections import Counter
from random import Random

from kcoord.group.group_configs import GROUP as GROUP_RESOURCE
from kcoord.group.group_configs import Owner
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import IncrementalAlterConfigsRequest, JoinGroupRequest
from kcoord.sim.adoption.client import Client, ConnectionLost
from kcoord.sim.adoption.cluster import BROKER, Cluster
from kcoord.sim.adoption.faults import Faults
from kcoord.sim.adoption.frames import Frames
from kcoord.sim.adoption.front import FRONT, Front
from kcoord.sim.adoption.judge import Judge
from kcoord.sim.adoption.loop import SimLoop
from kcoord.sim.adoption.member import GROUP, VERSIONS, Member, Nature
from kcoord.sim.adoption.plan import AdoptionPlan, draw
from kcoord.sim.adoption.process import Process
from kcoord.sim.adoption.substitutes import replaced
from kcoord.sim.adoption.wires import Address, Network
from kcoord.sim.outcome import Outcome
from kcoord.sim.trace import Sink
from kcoord.sim.violation import Violation

SET = 0
LOOK_S, STAYS_S, PATIENCE_S = 0.5, 6.0, 300.0
"""How often the run checks whether all is well, how long it must stay so, and how long that may take."""
COMMIT_MS = 500
"""How long a commit may wait while a group is adopted, besides the time of its messages."""
SETTLES_S = 60.0
"""The time within which each step of a calm run must be done."""


class Place:
    """A place with a member that is started, stopped and started again."""

    def __init__(self, world: AdoptionWorld, name: str, instance_id: str | None) -> None:
        self.name = name
        self.member: Member | None = None
        self._world = world
        self._instance_id = instance_id
        self._turn = 0

    @property
    def is_running(self) -> bool:
        """Whether its process runs."""
        return self.member is not None and self.member.is_alive

    def start(self, at: Address) -> None:
        """Start a process that begins at that address."""
        self._turn += 1
        if self.member is not None:
            self.member.kill()
        world = self._world
        world.note(self.name, f"starts at {at[0]}")
        random = Random(world.random.getrandbits(64))
        self.member = Member(world, self.name, at, world.nature, random, self._instance_id)

    def stop(self, *, orderly: bool) -> None:
        """Let it leave, or kill it."""
        if self.member is not None:
            if orderly:
                self.member.leave()
            else:
                self.member.kill()

    def restart(self, at: Address, pause_ms: int, *, orderly: bool) -> None:
        """Stop the member. After a while it is there again, at that address."""
        self.stop(orderly=orderly)
        self._turn += 1
        self._world.loop.later(pause_ms / 1000, self._back, at, self._turn)

    def _back(self, at: Address, turn: int) -> None:
        if turn == self._turn:
            self.start(at)


class AdoptionWorld:
    """One run."""

    def __init__(self, seed: int, sink: Sink | None = None) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.plan: AdoptionPlan = draw(self.random, seed)
        self._sink = sink
        plan = self.plan
        self.nature = Nature(
            plan.cooperative, plan.session_ms, plan.rebalance_ms, min(plan.interval_ms, plan.session_ms // 3),
            plan.commit_ms, plan.is_old,
        )  # fmt: skip
        self.loop = SimLoop()
        self.network = Network(self.loop, Random(self.random.getrandbits(64)), plan.latency_ms)
        if sink is not None:
            self.network.frames = Frames(self.note)
        self.judge = Judge(self)
        self.faults = Faults(self)
        self.cluster = Cluster(self, plan.append_ms)
        self.front = Front(self, plan.append_ms)
        self.places = [
            Place(self, f"m{at}", f"i{at}" if is_static else None) for at, is_static in enumerate(plan.static)
        ]
        self.strangers: list[Place] = []
        self.owner: str = Owner.AUTO
        """Who was to have the group last."""
        self.sightings: Counter[str] = Counter()
        self._admin = Process("admin")
        self._way: Client | None = None
        """The administrator's connection to kcoord."""
        self._ended: asyncio.Future[None]
        self._healed_ms = 0

    # -- for others ---------------------------------------------------------------------------------------------------

    def note(self, who: str, what: str) -> None:
        """Write a line of the trace."""
        if self._sink is not None:
            self._sink(f"{self.loop.now_ms / 1000:9.3f}  {who:<11} {what}")

    def members(self) -> list[Member]:
        """All members that live."""
        return [each.member for each in (*self.places, *self.strangers) if each.member is not None and each.is_running]

    def end(self) -> None:
        """Something was violated: there is nothing more to see."""
        if not self._ended.done():
            self._ended.set_result(None)

    def stranger(self, stays_ms: int, *, orderly: bool) -> None:
        """A client comes to the cluster directly, and goes after a while."""
        place = Place(self, f"s{len(self.strangers)}", None)
        self.strangers.append(place)
        place.start(BROKER)
        self.loop.later(stays_ms / 1000, lambda: place.stop(orderly=orderly))

    def stray_id(self) -> None:
        """A client asks the cluster for a member id and is not seen again."""
        self.note("stray", "asks for a member id")
        self.loop.run_for(Process("stray"), self._stray())

    async def _stray(self) -> None:
        try:
            client = await Client.connect(self.loop, "stray", BROKER)
            protocols = [JoinGroupRequestProtocol(name=name, metadata=b"") for name in ("cooperative", "range")]
            request = JoinGroupRequest(
                group_id=GROUP,
                session_timeout_ms=self.plan.session_ms,
                rebalance_timeout_ms=self.plan.rebalance_ms,
                protocol_type="consumer",
                protocols=protocols,
            )
            await client.ask(request, VERSIONS[JoinGroupRequest])
            client.close()
        except ConnectionLost:
            pass

    async def own(self, owner: str) -> None:
        """Set who is to have the group, and repeat that until kcoord knows it."""
        self.owner = owner
        self.note("admin", f"the group shall be of: {owner}")
        change = AlterableConfig("gateway.owner", SET, owner)
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP_RESOURCE, GROUP, [change])])
        while self.owner == owner:
            try:
                if self._way is None or self._way.is_lost:
                    self._way = await Client.connect(self.loop, "admin", FRONT)
                answer = await self._way.ask(request, 1, 5.0)
                if not answer.responses[0].error_code:
                    return
                self.note("admin", f"is refused: {ErrorCode(answer.responses[0].error_code).name}")
            except ConnectionLost:
                pass
            await asyncio.sleep(0.2)

    # -- the run ------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run from the start of everything until all is well."""
        loop = self.loop
        handler = _Lines(self)
        logger = logging.getLogger("kcoord")
        before = logger.level, logger.propagate
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(logging.DEBUG if self._sink is not None else logging.ERROR)
        loop.set_exception_handler(self._fault)
        try:
            with replaced(loop, self.random):
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
        )

    def _fault(self, _loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        self.judge.violated("fault", f"{context.get('message')}: {error!r}")

    def _clear(self) -> None:
        """End everything that still goes on."""
        self.faults.heal()
        for process in (self.front, self.cluster):
            process.kill(3_600_000)
        for member in self.members():
            member.process.kill()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60))

    async def _run(self) -> None:
        self._ended = self.loop.create_future()
        story = asyncio.ensure_future(self._calm() if self.plan.calm else self._story())
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
        plan, random = self.plan, self.random
        self.note("plan", str(plan))
        self.cluster.start()
        self.front.start()
        for place in self.places:
            at = BROKER if random.random() < 0.5 else FRONT
            self.loop.later(random.random() * 2, place.start, at)
            if at == BROKER:
                pause_ms, orderly = random.randint(100, 1_500), random.random() < 0.7
                self.loop.later(3 + random.random() * 5, self._restart, place, pause_ms, orderly)
        self.loop.later(random.random() * 3, self.faults.start)
        turns = asyncio.ensure_future(self._turns(), loop=self.loop)
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
            await asyncio.sleep(min(self.random.expovariate(1.0) * self.plan.turn_ms / 1000, 10))
            others = [each for each in (Owner.KCOORD, Owner.CLUSTER, Owner.AUTO) if each != self.owner]
            await self.own(self.random.choice(others))

    def _heal(self) -> None:
        """End all faults."""
        self.note("faults", "end here")
        self.faults.heal()
        self.network.is_slow = False
        self.cluster.start()
        self.front.start()
        for place in self.strangers:
            place.stop(orderly=True)
        for place in self.places:
            if not place.is_running:
                place.start(FRONT)
            elif place.member is not None and (place.member.at != FRONT or place.member._leaves):
                place.restart(FRONT, 500, orderly=True)

    async def _be_well(self, owner: str, patience_s: float) -> None:
        """Wait until all is well and stays so."""
        loop, judge = self.loop, self.judge
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
        self.note("plan", str(self.plan))
        self.network.is_slow = False
        self.cluster.start()
        self.front.start()
        await asyncio.sleep(1)
        for place in self.places:
            place.start(BROKER)
        await self._be_well(Owner.CLUSTER, SETTLES_S)
        await self.own(Owner.CLUSTER)
        for place in self.places:
            place.restart(FRONT, 100, orderly=True)
            await asyncio.sleep(self.random.random() * 3)
        await self._be_well(Owner.CLUSTER, SETTLES_S)
        await asyncio.sleep(self.plan.session_ms / 1000)  # until no member id is left that was not used
        await self._costs(Owner.KCOORD, 0)
        await self._costs(Owner.CLUSTER, 1)
        await self._costs(Owner.KCOORD, 0)
        self.judge.check_commits()

    async def _costs(self, owner: str, joins: int) -> None:
        """Move the group to `owner`, and check that each member joins `joins` times."""
        members = self.members()
        before = [(each.joins, len(each.errors), each.commits) for each in members]
        for member in members:
            member.slowest_commit_ms = 0
        await self.own(owner)
        await self._be_well(owner, SETTLES_S)
        for member, (joined, errors, commits) in zip(members, before, strict=True):
            if member.joins - joined != joins:
                text = f"{member.name} joined {member.joins - joined} times when the group became of: {owner}"
                raise Violation("cost", text)
            heard = [
                each.name for each in member.errors[errors:] if each != ErrorCode.REBALANCE_IN_PROGRESS or not joins
            ]
            if heard:
                raise Violation("cost", f"{member.name} heard {heard} when the group became of: {owner}")
            waited_ms, most_ms = member.slowest_commit_ms, COMMIT_MS + 20 * self.plan.latency_ms
            if not joins and waited_ms > most_ms:
                text = f"a commit of {member.name} waited {waited_ms} ms when the group became of: {owner}"
                raise Violation("cost", text)
            if member.position and member.commits == commits:
                raise Violation("cost", f"{member.name} could not commit when the group became of: {owner}")


class _Lines(logging.Handler):
    """kcoord's log, as lines of the trace. A logged exception ends the run."""

    def __init__(self, world: AdoptionWorld) -> None:
        super().__init__()
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        self._world.note("  log", record.getMessage())
        if record.exc_info and record.levelno >= logging.ERROR:
            self._world.judge.violated("fault", f"{record.getMessage()}: {record.exc_info[1]!r}")
