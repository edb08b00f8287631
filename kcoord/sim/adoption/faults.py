"""The faults of a run. Some strike at random. Others are aimed: they wait until kcoord takes a step upstream (a
JoinGroup, DescribeGroups, LeaveGroup or SyncGroup of its own), or writes that it has adopted the group. In some runs
the network also holds up kcoord's own connections for many seconds, at any of these steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import attrs

from kcoord.gateway.session.service_connection import ServiceConnection
from kcoord.gateway.session.upstream import OWN_IDS_FROM, Upstream
from kcoord.log.interface import RawRecord
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
    api_name,
)
from kcoord.sim.adoption.cluster import BROKER, Cluster
from kcoord.sim.adoption.context import AdoptionContext
from kcoord.sim.adoption.disk import Fate
from kcoord.sim.adoption.fleet import Fleet, Place
from kcoord.sim.adoption.front import FRONT, Front
from kcoord.sim.adoption.wires import End

STEPS = tuple(
    each.API_KEY
    for each in (
        JoinGroupRequest, JoinGroupRequest, LeaveGroupRequest, LeaveGroupRequest, SyncGroupRequest,
        DescribeGroupsRequest, HeartbeatRequest,
    )
)  # fmt: skip
ADOPTED = b"adopted from the cluster"
"""In the record of a group that was adopted."""
HEAD_BYTES = 12
HELD_UP_SHARE, HELD_UP_S = 0.15, (2.0, 5.0, 12.0, 28.0, 40.0)
"""The share of kcoord's steps at which its connection is held up, and for how long, in seconds."""


@attrs.define
class Aim:
    """A fault that waits for a step."""

    api_key: int
    left: int
    """How many such steps it still lets pass."""
    moment: str
    """`lost`: the request does not arrive; `sent`: it does; `answered`: its response is lost; `heard`: its response
    arrives.
    """
    what: str
    number: int | None = None
    """The correlation id of the request whose response it waits for."""
    end: End | None = None


class Faults:
    """Everything that goes wrong in one run."""

    def __init__(self, context: AdoptionContext, cluster: Cluster, front: Front, fleet: Fleet) -> None:
        self._context = context
        self._cluster = cluster
        self._front = front
        self._fleet = fleet
        self._random = context.random
        self._holdups = Random(f"held up {context.seed}")
        """Of their own: what else a seed draws is the same without them."""
        self._aims: list[Aim] = []
        self._awaits_adoption = False
        self.is_over = context.plan.calm
        context.network.on_send = self._sends
        front.on_append = self._appends

    def start(self) -> None:
        """Begin."""
        if not self.is_over:
            self._again()

    def heal(self) -> None:
        """From now on nothing goes wrong."""
        self.is_over = True
        self._aims.clear()
        self._awaits_adoption = False

    def _again(self) -> None:
        pause_ms = self._random.expovariate(1.0) * self._context.plan.pause_ms
        self._context.loop.later(pause_ms / 1000, self._strike)

    def _strike(self) -> None:
        if self.is_over:
            return
        weights = self._context.plan.weights
        [kind] = self._random.choices(list(weights), list(weights.values()))
        _FAULTS[kind](self)
        self._again()

    def _ms(self, *longest: int) -> int:
        return self._random.randint(1, self._random.choice(longest))

    def _later(self, ms: float, call: Callable[[], None]) -> None:
        self._context.loop.later(ms / 1000, self._unless_over, call)

    def _unless_over(self, call: Callable[[], None]) -> None:
        if not self.is_over:
            call()

    # -- members ------------------------------------------------------------------------------------------------------

    def _place(self, *, running: bool = True) -> Place | None:
        found = [each for each in self._fleet.places if each.is_running == running]
        return self._random.choice(found) if found else None

    def _member_dies(self) -> None:
        place = self._place()
        if place is not None and len([each for each in self._fleet.places if each.is_running]) > 1:
            place.stop(orderly=False)

    def _member_leaves(self) -> None:
        place = self._place()
        if place is not None and len([each for each in self._fleet.places if each.is_running]) > 1:
            place.stop(orderly=True)

    def _member_comes(self) -> None:
        place = self._place(running=False)
        if place is not None:
            place.start(FRONT)

    def _member_bounces(self) -> None:
        place = self._place()
        if place is not None:
            place.restart(FRONT, self._ms(100, 2_000, 8_000), orderly=self._random.random() < 0.7)

    def _goes_direct(self) -> None:
        place = self._place()
        if place is not None:
            place.restart(BROKER, self._ms(100, 2_000), orderly=self._random.random() < 0.7)
            self._later(self._ms(3_000, 15_000), lambda: place.restart(FRONT, self._ms(1_000), orderly=True))

    def _member_cut(self) -> None:
        place = self._place()
        if place is not None and place.member is not None:
            self._context.note(place.name, "is cut off for a moment")
            place.member.cut()

    def _member_frozen(self) -> None:
        place = self._place()
        if place is not None and place.member is not None:
            ms = self._ms(1_000, 8_000, 25_000)
            self._context.note(place.name, f"stands still for {ms} ms")
            place.member.frozen_until_ms = self._context.loop.now_ms + ms

    def _stranger(self) -> None:
        """A client that does not know of kcoord joins, or asks, for a while."""
        self._fleet.stranger(self._ms(500, 4_000, 12_000), orderly=self._random.random() < 0.5)

    def _stray_id(self) -> None:
        """A client asks the cluster for a member id, and does not use it."""
        self._fleet.stray_id()

    # -- kcoord -------------------------------------------------------------------------------------------------------

    def _kcoord_dies(self) -> None:
        self._front.kill(self._ms(200, 2_000, 7_000))

    def _append_fails(self) -> None:
        if self._front.is_up:
            self._front.log.next = self._random.choice((Fate.IN_DOUBT, Fate.ROLLED_BACK))

    def _append_slow(self) -> None:
        if self._front.is_up:
            self._front.log.takes_s = self._ms(500, 3_000) / 1000

    def _adoption_append(self) -> None:
        self._awaits_adoption = True

    def _appends(self, batch: Sequence[RawRecord]) -> None:
        """kcoord writes something."""
        if not self._awaits_adoption or not any(value and ADOPTED in value for _, value in batch):
            return
        self._awaits_adoption = False
        log = self._front.log
        what = self._random.choice(("fails", "fails", "slow", "dies", "dies"))
        self._context.note("fault", f"the record of adoption: {what}")
        if what == "fails":
            log.next = self._random.choice((Fate.IN_DOUBT, Fate.ROLLED_BACK))
        elif what == "slow":
            log.takes_s = self._ms(1_000, 4_000) / 1000
        else:
            self._later(self._random.random() * self._context.plan.append_ms * 1.5, self._kcoord_dies)

    # -- the cluster --------------------------------------------------------------------------------------------------

    def _cluster_dies(self) -> None:
        self._cluster.kill(self._ms(200, 2_000, 5_000))

    def _upstream_cut(self) -> None:
        for end in self._context.network.wires_of("kcoord", BROKER[0]):
            if self._random.random() < 0.6:
                self._cut(end)

    def _cut(self, end: End) -> None:
        self._context.note("fault", f"the connection of {end.process.name} to {end.there[0]} is cut")
        end.sever()

    def _upstream_stalls(self) -> None:
        for end in self._context.network.wires_of("kcoord", BROKER[0]):
            if self._random.random() < 0.5:
                seconds = self._ms(300, 2_000) / 1000
                end.stall(seconds)
                if self._random.random() < 0.5:
                    end.peer.stall(seconds)

    # -- aimed --------------------------------------------------------------------------------------------------------

    def _aim(self, what: str) -> None:
        moment = self._random.choice(("lost", "sent", "sent", "answered", "heard"))
        self._aims.append(Aim(self._random.choice(STEPS), self._random.randint(0, 2), moment, what))
        del self._aims[:-4]

    def _kcoord_at_step(self) -> None:
        self._aim("kcoord dies")

    def _cluster_at_step(self) -> None:
        self._aim("the cluster dies")

    def _cut_at_step(self) -> None:
        self._aim("the connection is cut")

    def _sends(self, end: End, data: bytes) -> bool:
        """Whether what is sent arrives."""
        if self._context.plan.holds_up and not self.is_over and end.there == BROKER:
            self._hold_up(end, data)
        if not self._aims or len(data) < HEAD_BYTES:
            return True
        if end.there == BROKER and end.process is self._front.process:
            return self._asks(end, data)
        if end.here == BROKER and end.peer.process is self._front.process:
            return self._answers(end, data)
        return True

    def _asks(self, end: End, data: bytes) -> bool:
        api_key, number = int.from_bytes(data[4:6], "big"), int.from_bytes(data[8:12], "big", signed=True)
        if number < OWN_IDS_FROM:
            return True
        for aim in [each for each in self._aims if each.api_key == api_key and each.number is None]:
            if aim.left:
                aim.left -= 1
                continue
            if aim.moment in ("lost", "sent"):
                self._aims.remove(aim)
                self._hit(aim, end)
                return aim.moment == "sent"
            aim.number, aim.end = number, end
        return True

    def _hold_up(self, end: End, data: bytes) -> None:
        """kcoord asks over a connection of its own: now and then nothing arrives for a while, there, here, or both."""
        is_own = isinstance(end.protocol, Upstream) and isinstance(end.protocol._owner, ServiceConnection)
        api_key = int.from_bytes(data[4:6], "big")
        if not is_own or api_key not in STEPS or self._holdups.random() >= HELD_UP_SHARE:
            return
        seconds = self._holdups.choice(HELD_UP_S)
        ends = self._holdups.choice(((end,), (end.peer,), (end, end.peer)))
        self._context.note("fault", f"#{end.here[1]} is held up for {seconds} s with kcoord's own {api_name(api_key)}")
        for each in ends:
            each.stall(seconds)

    def _answers(self, end: End, data: bytes) -> bool:
        number = int.from_bytes(data[4:8], "big", signed=True)
        for aim in [each for each in self._aims if each.number == number and each.end is end.peer]:
            self._aims.remove(aim)
            self._hit(aim, end.peer)
            return aim.moment == "heard"
        return True

    def _hit(self, aim: Aim, end: End) -> None:
        self._context.note("fault", f"{api_name(aim.api_key)} of kcoord's own, {aim.moment}: {aim.what}")
        late_ms = (
            0.0 if aim.moment in ("lost", "answered") else self._random.random() * 4 * self._context.plan.latency_ms
        )
        down_ms = self._ms(200, 2_000, 6_000)
        if aim.what == "kcoord dies":
            self._later(late_ms, lambda: self._front.kill(down_ms))
        elif aim.what == "the cluster dies":
            self._later(late_ms, lambda: self._cluster.kill(down_ms))
        else:
            self._later(late_ms, lambda: self._cut(end))


_FAULTS: dict[str, Callable[[Faults], None]] = {
    "member_dies": Faults._member_dies,
    "member_leaves": Faults._member_leaves,
    "member_comes": Faults._member_comes,
    "member_bounces": Faults._member_bounces,
    "member_cut": Faults._member_cut,
    "member_frozen": Faults._member_frozen,
    "stranger": Faults._stranger,
    "stray_id": Faults._stray_id,
    "goes_direct": Faults._goes_direct,
    "kcoord_dies": Faults._kcoord_dies,
    "kcoord_at_step": Faults._kcoord_at_step,
    "append_fails": Faults._append_fails,
    "append_slow": Faults._append_slow,
    "adoption_append": Faults._adoption_append,
    "cluster_dies": Faults._cluster_dies,
    "cluster_at_step": Faults._cluster_at_step,
    "upstream_cut": Faults._upstream_cut,
    "cut_at_step": Faults._cut_at_step,
    "upstream_stalls": Faults._upstream_stalls,
}
