"""The plan of a run: how many members, how fast, what goes wrong, and who is to have the group when."""

from __future__ import annotations

from random import Random

import attrs

from kcoord.group.state.owner_setting import Owner

MEMBER_FAULTS = ("member_dies", "member_leaves", "member_comes", "member_bounces", "member_cut", "member_frozen")
PLACE_FAULTS = ("stranger", "stray_id", "goes_direct")
KCOORD_FAULTS = ("kcoord_dies", "kcoord_at_step", "append_fails", "append_slow", "adoption_append")
CLUSTER_FAULTS = ("cluster_dies", "cluster_at_step", "upstream_cut", "cut_at_step", "upstream_stalls")
FAULTS = (*MEMBER_FAULTS, *PLACE_FAULTS, *KCOORD_FAULTS, *CLUSTER_FAULTS)


@attrs.frozen
class AdoptionPlan:
    """The plan of one run."""

    calm: bool
    """Whether nothing goes wrong: then the run counts what adoption and release cost."""
    members: int
    static: tuple[bool, ...]
    cooperative: bool
    partitions: int
    latency_ms: float
    append_ms: float
    session_ms: int
    rebalance_ms: int
    interval_ms: int
    commit_ms: int
    initial_delay_ms: int
    longest_session_ms: int
    """The longest session timeout that the cluster allows."""
    adopts: bool
    """`gateway.adopt=auto`."""
    faulty_ms: int
    pause_ms: int
    """The mean time between two faults."""
    turn_ms: int
    """The mean time between two changes of who is to have the group."""
    weights: dict[str, int]
    ends: str
    """Who is to have the group at the end."""
    is_old: bool
    """Whether members that are not static are clients from before KIP-394."""
    uses_sasl: bool
    """Whether the cluster's clients have to say who they are."""
    holds_up: bool
    """Whether the network holds up kcoord's own connections to the cluster for many seconds."""


def draw(random: Random, seed: int) -> AdoptionPlan:
    """The plan that the seed draws. `random` was made from the seed."""
    choice = random.choice
    members = choice((1, 2, 2, 3, 3, 4))
    statics = choice((0.0, 0.0, 0.5, 1.0))
    return AdoptionPlan(
        calm=random.random() < 0.1,
        members=members,
        static=tuple(random.random() < statics for _ in range(members)),
        cooperative=random.random() < 0.5,
        partitions=choice((1, 3, 6)),
        latency_ms=choice((1.0, 3.0, 10.0, 30.0)),
        append_ms=choice((1.0, 5.0, 30.0)),
        session_ms=choice((6_000, 10_000, 20_000)),
        rebalance_ms=choice((10_000, 30_000, 60_000)),
        interval_ms=choice((300, 1_000, 2_000)),
        commit_ms=choice((50, 300, 1_000, 3_000)),
        initial_delay_ms=choice((0, 300, 3_000)),
        longest_session_ms=choice((1_800_000, 1_800_000, 60_000)),
        adopts=random.random() < 0.7,
        faulty_ms=choice((20_000, 40_000, 60_000)),
        pause_ms=choice((400, 1_500, 4_000, 10_000)),
        turn_ms=choice((6_000, 12_000, 25_000)),
        weights=_weights(random),
        ends=choice((Owner.KCOORD, Owner.KCOORD, Owner.CLUSTER)),
        is_old=seed % 8 == 5,  # these are not drawn: what else a seed draws is the same as before there were they
        uses_sasl=seed % 8 == 3,
        holds_up=seed % 16 == 4,
    )


def _weights(random: Random) -> dict[str, int]:
    """The weights of a few kinds of faults, or of most of them."""
    share = random.choice((0.15, 0.3, 0.7))
    found = {kind: random.choice((1, 1, 3)) for kind in FAULTS if random.random() < share}
    return found or {random.choice(FAULTS): 1}
