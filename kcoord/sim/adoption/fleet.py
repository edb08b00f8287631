"""The fleet of a run: places with members, and strangers, which go to the cluster directly."""

from __future__ import annotations

from random import Random

from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import JoinGroupRequest
from kcoord.sim.adoption.client import Client, ConnectionLost
from kcoord.sim.adoption.cluster import BROKER
from kcoord.sim.adoption.context import AdoptionContext
from kcoord.sim.adoption.member import GROUP, VERSIONS, Member, MemberJudge, Nature
from kcoord.sim.adoption.process import Process
from kcoord.sim.adoption.wires import Address


class Place:
    """A place with a member that is started, stopped and started again."""

    def __init__(self, fleet: Fleet, name: str, instance_id: str | None) -> None:
        self.name = name
        self.member: Member | None = None
        self._fleet = fleet
        self._context = fleet.context
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
        context, fleet = self._context, self._fleet
        context.note(self.name, f"starts at {at[0]}")
        random = Random(context.random.getrandbits(64))
        self.member = Member(context, fleet.judge, self.name, at, fleet.nature, random, self._instance_id)

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
        self._context.loop.later(pause_ms / 1000, self._back, at, self._turn)

    def _back(self, at: Address, turn: int) -> None:
        if turn == self._turn:
            self.start(at)


class Fleet:
    """All places of a run."""

    judge: MemberJudge
    """Set by the judge itself."""

    def __init__(self, context: AdoptionContext) -> None:
        self.context = context
        plan = context.plan
        self.nature = Nature(
            plan.cooperative, plan.session_ms, plan.rebalance_ms, min(plan.interval_ms, plan.session_ms // 3),
            plan.commit_ms, plan.is_old,
        )  # fmt: skip
        self.places = [
            Place(self, f"m{at}", f"i{at}" if is_static else None) for at, is_static in enumerate(plan.static)
        ]
        self.strangers: list[Place] = []

    def members(self) -> list[Member]:
        """All members that live."""
        return [each.member for each in (*self.places, *self.strangers) if each.member is not None and each.is_running]

    def stranger(self, stays_ms: int, *, orderly: bool) -> None:
        """A client comes to the cluster directly, and goes after a while."""
        place = Place(self, f"s{len(self.strangers)}", None)
        self.strangers.append(place)
        place.start(BROKER)
        self.context.loop.later(stays_ms / 1000, lambda: place.stop(orderly=orderly))

    def stray_id(self) -> None:
        """A client asks the cluster for a member id and is not seen again."""
        self.context.note("stray", "asks for a member id")
        self.context.loop.run_for(Process("stray"), self._stray())

    async def _stray(self) -> None:
        plan = self.context.plan
        try:
            client = await Client.connect(self.context, "stray", BROKER)
            protocols = [JoinGroupRequestProtocol(name=name, metadata=b"") for name in ("cooperative", "range")]
            request = JoinGroupRequest(
                group_id=GROUP,
                session_timeout_ms=plan.session_ms,
                rebalance_timeout_ms=plan.rebalance_ms,
                protocol_type="consumer",
                protocols=protocols,
            )
            await client.ask(request, VERSIONS[JoinGroupRequest])
            client.close()
        except ConnectionLost:
            pass
