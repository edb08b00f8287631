"""The membership of an instance in the instances' group: rounds, the map, and which partitions follow from it.

The instance joins rounds of the instances' group (`instances_group_member.py`). If it leads a round, it makes the map
(`map_assignment.py`). It holds and serves the partitions that the newest map gives it, and no others
(`partition_ownership.py`). A *place* is a member id in this group. Rules:

1. The instance releases what a map takes away. Then it asks for another round at once, in which the partitions get
   their next owners.
2. What stays is served through all rounds.
3. An instance that falls out of the group gets another place in it and holds nothing from its former place, because
   others may have had its partitions.
4. After a session timeout without a sign of membership, the instance releases everything: the group has removed it but
   cannot tell it. The leases have ended its answers before that (CG-27). If the group was unreachable for all
   instances, the old place is still valid afterwards, and so is what the map says about it.
5. The leader asks for another round if leaders of brokers' partitions have moved and have stayed there for a while
   (GW-20), or if there is a broker that the map does not know.
6. An instance that finds a partition unreadable, because a newer kcoord has written to it, reports that once, in
   another round.
7. An instance that has died (`peer_watch.py`) is removed from the group at once. Its partitions are free in the next
   round, which need not wait for the end of its session. The next owner fences it in the log in any case.
8. An instance that starts with the number and the internal address of a process that is still in the group removes that
   process first: two processes cannot listen on one address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from kcoord.instances.instance_map import EMPTY_MAP, Address, Facts, Instance, InstanceMap
from kcoord.instances.instances_group_member import GroupMember, GroupMemberSettings, Unreachable
from kcoord.instances.map_assignment import next_map, preferred_owners
from kcoord.instances.offsets_topic_leaders import NOTHING_KNOWN, Surroundings
from kcoord.instances.partition_ownership import PartitionOwnership, Shards
from kcoord.log.clock import lease_now_ms
from kcoord.protocol.primitives import DecodeError

__all__ = ["Membership"]

log = logging.getLogger("kcoord.instances")

LOOK_S = 0.25
"""The interval at which the age of the last sign of membership is checked."""
ASK_AGAIN_S = 0.2
MOVED_FOR_MS = 20_000
"""How long leaders must stay where they are before partitions move because of them."""


class Membership:
    """This instance in the instances' group. `partitions` is the number of partitions."""

    def __init__(
        self,
        instance: Instance,
        partitions: int,
        settings: GroupMemberSettings,
        shards: Shards,
        surroundings: Callable[[], Surroundings] = lambda: NOTHING_KNOWN,
        get_ready: Callable[[], Awaitable[None]] | None = None,
        is_own_address: Callable[[Address], Awaitable[bool]] | None = None,
    ) -> None:
        """`surroundings` returns what this instance sees of the upstream cluster. `get_ready` is awaited before the
        first round, when there is a connection. `is_own_address` says whether a call to an internal address reaches
        this process.
        """
        self.instance = instance
        self.map = EMPTY_MAP
        self.on_change: list[Callable[[], None]] = []
        """Functions that are called when a new map is in force."""
        self.member = GroupMember(settings, self)
        self._partitions = partitions
        self._settings = settings
        self._surroundings = surroundings
        self._get_ready = get_ready
        self._is_own_address = is_own_address
        self._shards = shards
        self._unreadable: frozenset[int] = frozenset()
        self._holdings = PartitionOwnership(shards, self.confirm, self._lost)
        self._place = ""
        self._claimed: frozenset[int] = frozenset()
        self._withdrawn: frozenset[int] = frozenset()
        self._leads = False
        self._cut_off = self._stopping = False
        self._unlike: tuple[object, int] | None = None
        self._asked_for: object = None
        self._joined = asyncio.Event()
        self._asking: asyncio.Task[bool | None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._dead: set[tuple[int, int]] = set()
        """Instances of the map that have died, by number and start time."""
        self._putting_out: dict[str, asyncio.Task[None]] = {}
        self._next_map = asyncio.Event()

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self, instance: Instance | None = None) -> None:
        """Begin to join. `instance` replaces the description of this instance from before its ports were open."""
        self.instance = instance or self.instance
        self.member.start()
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def joined(self) -> None:
        """Wait for the first map."""
        await self._joined.wait()

    async def stop(self) -> None:
        """Release all partitions in good order, then leave, so that the others take over at once."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        for task in self._putting_out.values():
            task.cancel()
        self._stopping = True
        self._fall_out()
        await self._holdings.flush_held_reply(self._patience_s)
        await self.member.leave()

    # -- facts --------------------------------------------------------------------------------------------------------

    @property
    def instance_id(self) -> int:
        return self.instance.instance_id

    @property
    def is_refused(self) -> bool:
        """Whether there is a map and this instance is not in it."""
        return self.map.epoch > 0 and not self.is_self(self.map.instances.get(self.instance_id))

    @property
    def is_cut_off(self) -> bool:
        """Whether the last sign of membership is so old that the group has removed this instance (rule 4 above)."""
        return self._cut_off

    def is_self(self, instance: Instance | None) -> bool:
        """Whether `instance` is this very process."""
        return (
            instance is not None
            and instance.instance_id == self.instance_id
            and instance.started_ms == self.instance.started_ms
        )

    def owner(self, group_id: str) -> Instance | None:
        """The instance that answers for a group; None if none does at the moment."""
        return self.map.owner_of_group(group_id)

    def has_died(self, instance: Instance) -> bool:
        """Whether this process is known to be dead although the map still names it."""
        return (instance.instance_id, instance.started_ms) in self._dead

    def living(self) -> list[Instance]:
        """The instances of the map without those that have died, ordered by number."""
        there = self.map.instances
        return [there[number] for number in sorted(there) if not self.has_died(there[number])]

    def is_awaited(self, partition: int) -> bool:
        """Whether a partition is about to get an owner: it has none, or its owner has died, or this instance owns it
        and will load it.
        """
        if self._cut_off or self._stopping or not self._place:
            return False
        owner = self.map.owner(partition)
        return owner is None or self.is_self(owner) or self.has_died(owner)

    async def changed(self) -> None:
        """Wait for the next map."""
        await self._next_map.wait()

    def died(self, instance: Instance) -> None:
        """Note that this process has died (rule 7 above). May be called again while the map names it."""
        known = self.map.instances.get(instance.instance_id)
        if known is None or known.started_ms != instance.started_ms or self.is_self(known) or self._stopping:
            return
        if not self.has_died(known):
            self._dead.add((known.instance_id, known.started_ms))
            log.warning("%s has died: its internal port refuses connections. Its groups are taken over", known)
        if known.member_id not in self._putting_out:
            task = asyncio.get_running_loop().create_task(self._evict(known))
            self._putting_out[known.member_id] = task
            task.add_done_callback(lambda _: self._putting_out.pop(known.member_id, None))

    def lives(self, instance: Instance) -> None:
        """Note that this process answers."""
        self._dead.discard((instance.instance_id, instance.started_ms))

    async def confirm(self, partition: int) -> bool:
        """Whether `partition` still belongs to this instance, as far as the group knows now.

        If the group cannot be reached, this asks again, as long as the instance has not given the partition up.
        """
        while self._holdings.wants(partition):
            place = self._place
            current = await self._is_current()
            if current is False and place == self._place:
                self._holdings.unwant(partition)
            elif current and self._holdings.wants(partition):
                return True
            elif current is None:
                await asyncio.sleep(ASK_AGAIN_S)
        return False

    # -- called by the group member (see Hooks) -----------------------------------------------------------------------

    async def connected(self) -> None:
        if self._get_ready is not None:
            await self._get_ready()
        try:
            await self._evict_predecessor()
        except Unreachable as error:  # its session ends by itself
            log.info("cannot find out whether an earlier process of this instance is still in the group: %s", error)

    def facts(self, place: str) -> bytes:
        if place != self._place:
            self._fall_out()
        self._claimed = self._holdings.held_from(place) if place else frozenset()
        surroundings = self._surroundings()
        self._leads = False
        self._unreadable = self._shards.unreadable()
        return Facts(
            instance=self.instance,
            partitions=self._partitions,
            owned=self._claimed,
            brokers=surroundings.brokers,
            leaders=surroundings.leaders,
            former=self.map if self.map.epoch else None,
            unreadable=self._unreadable,
        ).encode()

    def divide(self, leader: str, generation: int, members: Mapping[str, bytes]) -> dict[str, tuple[list[int], bytes]]:
        known: dict[str, Facts] = {}
        for member, data in members.items():
            try:
                known[member] = Facts.decode(data)
            except DecodeError as error:
                log.error(
                    "member %s of the instances' group takes no part, it is no kcoord of this version: %s",
                    member,
                    error,
                )
        outcome = next_map(known, leader, generation)
        for why in outcome.refused.values():
            log.error("%s", why)
        self._leads = True
        data = outcome.map.encode()
        numbers = {instance.member_id: number for number, instance in outcome.map.instances.items()}
        return {
            member: (sorted(outcome.map.owned_by(numbers[member])) if member in numbers else [], data)
            for member in members
        }

    def told(self, place: str, data: bytes) -> None:
        try:
            told = InstanceMap.decode(data)
        except DecodeError as error:
            log.error("this instance takes no part: the map of the instances' group cannot be read: %s", error)
            self._place, self._withdrawn = place, frozenset()
            self._holdings.want((), place)
            return
        before, self.map = self.map, told
        self._dead &= {(each.instance_id, each.started_ms) for each in told.instances.values()}
        changed, self._next_map = self._next_map, asyncio.Event()
        changed.set()
        self._place = place
        self._cut_off = False
        self._take_what_is_ours()
        self._withdrawn = told.in_transit & self._claimed
        self._lost()
        self._joined.set()
        self._tell_of(before)
        for each in self.on_change:
            each()

    async def joining(self, place: str) -> None:
        if place != self._place or not place:
            self._fall_out()
        await self._holdings.flush_held_reply(self._patience_s)

    # -- consequences -------------------------------------------------------------------------------------------------

    def _fall_out(self) -> None:
        """Rule 3 above."""
        self._place = ""
        self._holdings.want((), "")

    def _take_what_is_ours(self) -> None:
        if self._stopping:
            return
        mine = self.map.instances.get(self.instance_id)
        owns = mine is not None and mine.member_id == self._place
        self._holdings.want(self.map.owned_by(self.instance_id) if owns else (), self._place)

    def _lost(self) -> None:
        """A partition was released. When everything that the map took away is released, ask for another round
        (rule 1).
        """
        if self._withdrawn and not any(self._holdings.is_held(each) for each in self._withdrawn):
            self._withdrawn = frozenset()
            self.member.rejoin()

    async def _evict(self, instance: Instance) -> None:
        """Rule 7 above."""
        try:
            await self.member.evict(instance.member_id)
        except Unreachable as error:
            log.warning("%s is still in the instances' group: %s", instance, error)
        else:
            self.member.rejoin()

    async def _evict_predecessor(self) -> None:
        """Rule 8 above. Raises Unreachable."""
        address = self.instance.internal
        if address is None or self._is_own_address is None:
            return
        for place, data in (await self.member.described()).items():
            try:
                other = Facts.decode(data).instance
            except DecodeError:
                continue
            is_former = other.instance_id == self.instance_id and other.started_ms < self.instance.started_ms
            if is_former and other.internal == address and await self._is_own_address(address):
                log.info("%s was this instance before it was started again: removing it from the group", other)
                await self.member.evict(place)

    def _tell_of(self, before: InstanceMap) -> None:
        told = self.map
        if self.is_refused:
            other = told.instances.get(self.instance_id)
            log.error(
                "%s takes no part: %s. See the leader's log line",
                self.instance,
                f"{other} has its number; give each instance one of its own with instance.id" if other else "refused",
            )
        log.info(
            "map %d: %s; %d partitions are here, %d have no owner yet",
            told.epoch,
            ", ".join(str(each) for each in told.instances.values()),
            len(told.owned_by(self.instance_id)) if not self.is_refused else 0,
            len(told.in_transit),
        )
        deaf = [each for each in told.instances.values() if each.internal is None]
        if deaf and len(told.instances) > 1 and told.instances.keys() != before.instances.keys():
            log.warning(
                "%s takes no calls from other instances, so only its own clients reach its groups: set "
                "internal.listen and internal.secret there",
                ", ".join(str(each) for each in deaf),
            )
        behind = [str(each) for each in told.instances.values() if each.record_level < self.instance.record_level]
        if behind and told.record_level != before.record_level:
            log.info(
                "records are written as %s can read them, at level %d: newer ones are written when every instance has "
                "been upgraded",
                ", ".join(behind),
                told.record_level,
            )
        leases = {each.lease_ms for each in told.instances.values()}
        if len(leases) > 1 and leases != {each.lease_ms for each in before.instances.values()}:
            log.error("coordinator.lease.ms differs among the instances (%s): make it the same", sorted(leases))

    @property
    def _patience_s(self) -> float:
        """How long a round, or a stop, waits for partitions to be released."""
        return self._settings.session_timeout_ms / 1000 / 5

    # -- whether the group still knows this instance ------------------------------------------------------------------

    async def _is_current(self) -> bool | None:
        """Whether the group still knows this instance; None if the group cannot be reached. Callers that ask at the
        same time share one request, but no caller takes the answer to a request that was already under way.
        """
        if self._asking is not None:
            await asyncio.wait({self._asking})
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> bool | None:
        try:
            return await self.member.is_current()
        except Unreachable:
            return None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                self._look_at_age()
                self._look_at_unreadable()
                self._look_around()
            except Exception:
                log.exception("a fault of kcoord's own while watching the instances' group")

    def _look_at_age(self) -> None:
        """Rule 4 above."""
        alive_ms = self.member.alive_ms
        if alive_ms is None or not self._place:
            return
        limit_ms = self._settings.session_timeout_ms
        if self.member.is_joining:
            limit_ms += self._settings.rebalance_timeout_ms
        age_ms = lease_now_ms() - alive_ms
        if age_ms > limit_ms and not self._cut_off:
            self._cut_off = True
            log.error(
                "no answer from the instances' group for %d ms: the session is over, so all partitions are released",
                age_ms,
            )
            self._holdings.want((), self._place)
        elif age_ms < self._settings.session_timeout_ms and self.member.place == self._place:
            if self._cut_off:
                log.info("the instances' group answers again, and this instance still has its place in it")
            self._cut_off = False
            self._take_what_is_ours()

    def _look_at_unreadable(self) -> None:
        """Rule 6 above."""
        found = self._shards.unreadable() - self._unreadable
        if found and self._place and not self.member.is_joining:
            self._unreadable |= found
            self.member.rejoin()

    def _look_around(self) -> None:
        """Rule 5 above."""
        if not self._leads or self.map.in_transit or self.member.is_joining:
            return
        seen = self._surroundings()
        wanted = preferred_owners(seen.leaders, self.map.brokers, len(self.map.partitions))
        unlike = {at: to for at, to in wanted.items() if self.map.partitions[at] != to}
        strangers = seen.brokers - self.map.brokers.keys()
        if not unlike and not strangers:
            self._unlike = None
            return
        found = (tuple(sorted(unlike.items())), strangers)
        if self._unlike is None or self._unlike[0] != found:
            self._unlike = (found, lease_now_ms())
        elif lease_now_ms() - self._unlike[1] > MOVED_FOR_MS and self._asked_for != found:
            self._asked_for = found
            log.info(
                "leaders of %d partitions have moved, %d brokers are new: another round", len(unlike), len(strangers)
            )
            self.member.rejoin()
