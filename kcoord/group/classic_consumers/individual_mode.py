"""Individual mode: which groups of classic consumers are led without a barrier, one consumer at a time (KG-26).

| members | kind |
| --- | --- |
| at least one of the new protocol | a consumer group, always |
| only classic consumers, `consumer.classic.mode` is `barrier` | a classic group |
| only classic consumers, `individual` | a consumer group, unless `gateway.owner` is `cluster` |
| the same, but one of them needs its leader to assign | a classic group: nobody else knows how |

A consumer needs a leader if it names an assignor that is not one of Kafka's own, or if it gives range or roundrobin
data of its own to assign by. A consumer group may become a classic one only where `consumer.migration.policy` lets it.
"""

from __future__ import annotations

from kcoord.group.state.connect_settings import ClassicMode
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import Protocols
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.consumer_group import PROTOCOL_TYPE
from kcoord.group.state.owner_setting import OWNER, Owner
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.consumer_embedded import has_user_data
from kcoord.protocol.embedded import EmbeddedError

RANGE, UNIFORM = "range", "uniform"
ASSIGNORS = {"range": RANGE, "roundrobin": UNIFORM, "sticky": UNIFORM, "cooperative-sticky": UNIFORM}
"""The clients' own assignors, each with the one of kcoord's that assigns in its place."""
STICKY = frozenset(("sticky", "cooperative-sticky"))
"""Those to which a consumer says what it has in data of their own. kcoord knows that without it."""


def is_individual(state: ShardState, group_id: str) -> bool:
    """Whether the classic consumers of that group are to be led one by one. One that is to be the cluster's is not:
    the cluster knows only classic groups.
    """
    own = state.configurations.get(group_id, {})
    individual = state.consumer_settings(group_id).classic_mode is ClassicMode.INDIVIDUAL
    return individual and own.get(OWNER) != Owner.CLUSTER


def needs_leader(protocols: Protocols) -> bool:
    """Whether a consumer that offers these protocols can only be assigned to by a consumer that leads."""
    return not all(name in ASSIGNORS and _says_all(name, metadata) for name, metadata in protocols)


def _says_all(assignor: str, metadata: bytes) -> bool:
    """Whether a subscription has all by which that assignor assigns, and nothing else."""
    try:
        return assignor in STICKY or not has_user_data(metadata)
    except EmbeddedError:
        return False


def is_to_be_led_alone(state: ShardState, group: ClassicGroup) -> bool:
    """Whether a classic group with members is to become a consumer group, by its settings and its members."""
    return (
        bool(group.members)
        and group.state is not ClassicState.DEAD
        and group.protocol_type == PROTOCOL_TYPE
        and is_individual(state, group.group_id)
        and not _needs_leader(group)
    )


def _needs_leader(group: ClassicGroup) -> bool:
    """Whether any of its members does. All are looked at once for each version of the group."""
    version, needs = group.needs_leader
    if version != group.version:
        needs = any(needs_leader(member.protocols) for member in group.members.values())
        group.needs_leader = group.version, needs
    return needs


def is_led_alone(state: ShardState, group_id: str) -> bool:
    """Whether a group is to become a consumer group of classic members, once what there is of their topics is known. So
    is one without members, if its settings say so: the first member will tell.
    """
    classic = state.groups.get(group_id)
    if classic is not None and classic.members:
        return is_to_be_led_alone(state, classic)
    modern = state.modern_group(group_id)
    return not (modern is not None and modern.members) and is_individual(state, group_id)


def may_begin(state: ShardState, group_id: str, protocol_type: str, protocols: Protocols) -> bool:
    """Whether a consumer that joins a group of that name, without members, begins a consumer group."""
    classic, connect = state.groups.get(group_id), state.connect.get(group_id)
    is_taken = classic is not None and (classic.members or classic.pending or classic.rebalance is not None)
    return (
        protocol_type == PROTOCOL_TYPE
        and not is_taken
        and not (connect is not None and connect.members)
        and is_individual(state, group_id)
        and bool(protocols)
        and not needs_leader(protocols)
    )
