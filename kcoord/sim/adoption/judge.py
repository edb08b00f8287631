"""The judge of adoption and release: what must never be while a group goes from the cluster to kcoord and back, and
what must be so at the end.

| invariant | |
| --- | --- |
| unknown | no member with a share hears that it is unknown or fenced while its coordinator had to count on it |
| one owner | no two members believe to own a partition, unless nobody had to count on one of them any more |
| commit | what was acknowledged is there; no position goes back |
| generations | none falls, for members that join after it was heard |
| apart | kcoord's own JoinGroup that may wait for members goes over no member's connection, except with SASL |
| cost | if nothing goes wrong, no member notices adoption, and each member joins once at release |
| rest | once nothing goes wrong any more the group is wholly kcoord's, or wholly the cluster's, and stays so |

Excused:

1. A member that was silent for longer than its session hears one call late that it is unknown, because kcoord was away,
   or did not reach the cluster, in the middle of an adoption.
2. A static member that has joined is fenced if a JoinGroup that it sent before, over a connection that it lost or as
   the process before, arrives later.
3. What a static member is to give up in a cooperative rebalance belongs to nobody until the next rebalance, if the
   member dies before it joins again, or has died before: Kafka's brokers give its successor the same assignment without
   a rebalance, and the successor has nothing to give up.
4. A position goes back to a commit that the network has held up on its way to the cluster, if the client lost its
   connection, connected again and committed more meanwhile. Brokers carry out what arrives later, whoever has written
   it, and would do so if the client had sent it to them itself. kcoord must have passed it on before the client sent
   the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from kcoord.gateway.ownership.sentinel.described_groups import INSTANCE_ID
from kcoord.gateway.ownership.sentinel.state import PROTOCOL
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.upstream import Upstream
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.owner_setting import Owner
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import decode_request_header
from kcoord.protocol.messages import JoinGroupRequest, JoinGroupResponse, OffsetCommitRequest
from kcoord.sim.adoption.cluster import BROKER, Cluster, Node
from kcoord.sim.adoption.context import AdoptionContext
from kcoord.sim.adoption.fleet import Fleet
from kcoord.sim.adoption.frames import frames_in
from kcoord.sim.adoption.front import Front
from kcoord.sim.adoption.member import GROUP, TOPIC, Member
from kcoord.sim.adoption.wires import End
from kcoord.sim.basis.violation import Violation

AWAKE_MS = 3_000
"""For this long after a standstill a member may not have heard what it has missed."""


class Judge:
    """The judge of one run."""

    def __init__(self, context: AdoptionContext, cluster: Cluster, front: Front, fleet: Fleet) -> None:
        self._context = context
        self._cluster = cluster
        self._front = front
        self._fleet = fleet
        fleet.judge = self
        context.network.watch = self.sent
        self.on_violation: Callable[[], None] = lambda: None
        """Called with the first violation: there is nothing more to see."""
        self.committed: dict[int, int] = {}
        """Partition → the highest offset that was acknowledged."""
        self.joins = 0
        self._committed_ms: dict[int, int] = {}
        """When that was sent."""
        self._withheld: dict[int, tuple[int, set[str]]] = {}
        """Partition → the last generation whose leader gave it to nobody, and the ids of those who claimed it then."""
        self.unheard_joins: Counter[str | None] = Counter()
        """How many JoinGroups nobody has heard the answer to, by instance id."""
        self._heard_ids: set[str] = set()
        """The member ids with which anybody has joined."""
        self.violation: Violation | None = None

    def violated(self, invariant: str, text: str) -> None:
        """End the run with a violation."""
        if self.violation is None:
            self._context.note("VIOLATION", f"{invariant}: {text}")
            self.violation = Violation(invariant, text)
            self.on_violation()

    # -- what kcoord sends --------------------------------------------------------------------------------------------

    def sent(self, end: End, data: bytes) -> None:
        """Somebody has sent this."""
        is_members = isinstance(end.protocol, Upstream) and isinstance(end.protocol._owner, ClientSession)
        if is_members and not self._context.plan.uses_sasl and any(map(_waits_for_members, frames_in(data))):
            self.violated("apart", "kcoord's own JoinGroup in a release waits on the connection of a member")

    # -- what members hear --------------------------------------------------------------------------------------------

    def unknown(self, member: Member, member_id: str, api: str, error: ErrorCode) -> None:
        """A member was told that it is unknown. A newcomer that has been given nothing yet just joins again."""
        has_something = bool(member.position) or member_id in member.assigned_ids
        is_known = member_id in member.known_ids and has_something
        had_to_count_on_it = is_known and member.is_counted_on() and not member.was_late and not self._was_cut_out()
        if had_to_count_on_it and not (error == ErrorCode.FENCED_INSTANCE_ID and self._is_fenced_by_itself(member)):
            self.violated("unknown", f"{member.name} was answered {error.name} to {api} by {member_id}")

    def _was_cut_out(self) -> bool:
        """Whether the last member's JoinGroup may have been lost with somebody who died, after that member had removed
        the sentinel: with SASL the others then get a generation without it (AD-15).
        """
        died_ms = max(self._cluster.died_ms, self._front.died_ms)
        return self._context.plan.uses_sasl and self._context.loop.now_ms - died_ms < self._context.plan.session_ms

    def _is_fenced_by_itself(self, member: Member) -> bool:
        """Whether the last JoinGroup by its instance id at the cluster is an earlier one to which nobody has heard the
        answer.
        """
        shard, name = self._cluster.shard, member.instance_id
        group = None if shard is None else shard.state.groups.get(GROUP)
        if group is None or name is None or not self.unheard_joins[name]:
            return False
        self.unheard_joins[name] -= 1
        return group.static_ids.get(name) not in self._heard_ids

    def refused(self, member: Member) -> None:
        """A member was told that the group does not accept its kind."""
        if member.at[0] == self._front.name:
            self.violated("refused", f"{member.name} was refused though it came through kcoord")

    def floor(self) -> int:
        """The highest generation of the members on which their coordinator counts, and which do not leave."""
        counted = [each.generation for each in self._fleet.members() if each.is_counted_on() and not each.is_leaving]
        return max(counted, default=-1)

    def joined(self, member: Member, answer: JoinGroupResponse, floor: int) -> None:
        """A member has joined. `floor` is the floor when it asked."""
        self.joins += 1
        self._heard_ids.add(answer.member_id)
        if answer.generation_id < min(floor, self.floor()):
            self.violated("generations", f"{member.name} joined {answer.generation_id}, {floor} was heard before")

    def takes(self, member: Member, partitions: frozenset[int]) -> None:
        """From now on a member believes to own these partitions."""
        for other in self._fleet.members():
            both = partitions & other.position.keys()
            is_late = self._context.loop.now_ms < other.frozen_until_ms + AWAKE_MS
            if other is not member and both and other.is_counted_on() and not is_late and not self._was_cut_out():
                self.violated("one owner", f"{other.name} and {member.name} both own {sorted(both)}")

    def withholds(self, generation: int, claimed: dict[int, set[str]]) -> None:
        """A leader gives these partitions to nobody before those who claim them have given them up."""
        self._withheld |= {partition: (generation, ids) for partition, ids in claimed.items()}

    def _is_nobodys(self, partition: int) -> bool:
        """Whether nobody gets this partition before the next rebalance, because those who have to give it up are dead
        (3 above).
        """
        generation, ids = self._withheld.get(partition, (-1, set()))
        alive = self._fleet.members()
        is_last = generation >= max((each.generation for each in alive), default=0)
        return is_last and not any(ids & each.known_ids for each in alive)

    def acknowledged(self, member: Member, said: dict[int, int], before: dict[int, int], sent_ms: int) -> None:
        """A commit was acknowledged. `before`: the highest committed offsets when it was sent."""
        for partition, offset in said.items():
            if offset < before[partition]:
                self.violated("commit", f"{member.name} committed {offset} of {partition} after {before[partition]}")
            if offset >= self.committed.get(partition, 0):
                self.committed[partition], self._committed_ms[partition] = offset, sent_ms

    def fetched(self, member: Member, found: dict[int, int], before: dict[int, int]) -> None:
        """A member was told where to read on."""
        for partition, offset in found.items():
            if max(offset, 0) >= before[partition]:
                continue
            if not self._was_held_up(partition, offset):
                self.violated("commit", f"{member.name} reads {partition} from {offset}, {before[partition]} was said")
            self.committed[partition] = offset

    def _was_held_up(self, partition: int, offset: int) -> bool:
        """Whether the network has held up a commit of this offset that was passed on before its client sent the highest
        one (4 above).
        """
        return any(
            each.to.here == BROKER
            and each.written_ms <= self._committed_ms.get(partition, 0)
            and any(_commits(frame, partition, offset) for frame in frames_in(each.data))
            for each in self._context.network.held_up
        )

    # -- at the end ---------------------------------------------------------------------------------------------------

    def wrong(self, owner: str) -> str | None:
        """Why the group is not wholly the owner's, or not at rest. None: it is."""
        if self._cluster.shard is None or self._front.shard is None:
            return "somebody has not started"
        members = self._fleet.members()
        late = [each.name for each in members if not each.is_stable]
        if late:
            return f"{', '.join(late)} have to join"
        ids = sorted(each.member_id for each in members)
        at_cluster, at_kcoord = _group(self._cluster), _group(self._front)
        is_ours = owner == Owner.KCOORD
        has, has_not = (at_kcoord, at_cluster) if is_ours else (at_cluster, at_kcoord)
        sentinels = [] if has_not is None else [each.instance_id for each in has_not.members.values()]
        if sentinels != ([INSTANCE_ID] if is_ours else []):
            return f"beside {owner} somebody has members {sorted(has_not.members) if has_not else []}"
        if has is None or has.state is not ClassicState.STABLE or sorted(has.members) != ids:
            there = [] if has is None else sorted(has.members)
            return f"{owner} has members {there} {'' if has is None else has.state.label}, it should have {ids}"
        owned = sorted(partition for each in members for partition in each.position)
        nobodys = set(range(self._context.plan.partitions)).difference(owned)
        if len(owned) > len(set(owned)) or not all(map(self._is_nobodys, nobodys)):
            return f"{owned} are owned"
        return None

    def stored(self) -> dict[int, int]:
        """The offsets that the cluster has stored."""
        shard = self._cluster.shard
        assert shard is not None
        found = shard.state.offsets.of_topic(GROUP, TOPIC)
        return {partition: each.offset for partition, each in found.items()}

    def check_commits(self) -> None:
        """Check that everything that was acknowledged is stored."""
        stored = self.stored()
        for partition, offset in self.committed.items():
            there = stored.get(partition, 0)
            if there < offset and not self._was_held_up(partition, there):
                self.violated("commit", f"{offset} of {partition} was acknowledged, {there} is there")


def _commits(frame: bytes, partition: int, offset: int) -> bool:
    """Whether this request commits that offset."""
    header, body = decode_request_header(frame)
    if header.api_key != OffsetCommitRequest.API_KEY:
        return False
    request = OffsetCommitRequest.decode(frame, header.api_version, body)
    said = {each.partition_index: each.committed_offset for topic in request.topics for each in topic.partitions}
    return said.get(partition) == offset


def _waits_for_members(frame: bytes) -> bool:
    """Whether this is a JoinGroup by which kcoord's own member offers what the group's members speak."""
    if int.from_bytes(frame[:2], "big") != JoinGroupRequest.API_KEY:
        return False
    header, body = decode_request_header(frame)
    request = JoinGroupRequest.decode(frame, header.api_version, body)
    is_own = request.group_instance_id == INSTANCE_ID
    return is_own and not all(each.name.startswith(PROTOCOL) for each in request.protocols)


def _group(node: Node) -> ClassicGroup | None:
    assert node.shard is not None
    return node.shard.state.groups.get(GROUP)
