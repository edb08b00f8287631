"""How long does the first join of an empty group take, at a broker alone and with kcoord in front of it?

Both the broker and kcoord let an empty group wait for more members (`group.initial.rebalance.delay.ms`, 3 s by
default). The two waits must run side by side: who comes first through kcoord must not wait twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import attrs

from bench.asking import Client
from bench.members import ASSIGNMENT, METADATA, NOT_YET, PROTOCOL, REBALANCE_MS
from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually

DELAY_MS = 3_000
"""Kafka's default, and kcoord's."""
SESSION_MS = 45_000
ROUNDS = 7
MOST_BESIDE_S = 0.05
"""How much longer the first join may take with kcoord in front, s."""
ALONE, IN_FRONT = "Kafka", "kcoord in front of it"
KINDS = ("consumer", "connect")
FIND_VERSION, DESCRIBE_VERSION, JOIN_VERSION, SYNC_VERSION = 4, 5, 9, 5


@attrs.frozen
class Waited:
    """One first join, in s from the member's first request."""

    id_given: float
    """Until it was told its member id."""
    joined: float
    """Until it was told its generation."""
    synced: float
    """Until it had its assignment."""


def run(folder: Path) -> Outcome:
    """Measure both, in turn."""
    taken: dict[tuple[str, str], list[Waited]] = {}
    with kafka(folder, group_initial_rebalance_delay_ms=DELAY_MS) as broker:
        process = Kcoord(folder / "kcoord", broker.cluster.bootstrap, (".*",))
        try:
            process.start()
            sides = {ALONE: broker.side.address, IN_FRONT: ("127.0.0.1", process.port)}
            for number in range(ROUNDS + 1):  # the first one warms up
                for kind in KINDS:
                    for name, address in sides.items():
                        waited = first_join(address, f"first-{kind}-{number}-{len(name)}", kind)
                        if number:
                            taken.setdefault((kind, name), []).append(waited)
        finally:
            process.remove()
    return outcome(taken)


def first_join(bootstrap: tuple[str, int], group: str, kind: str) -> Waited:
    """One member joins a group that nobody has joined before, and leaves no trace but its session."""
    with Client(coordinator(bootstrap, group)) as client:
        eventually(lambda: is_loaded(client, group), f"group {group} has a coordinator", every_s=0.05)
        began = time.monotonic()
        member_id = ask_to_join(client, group, kind, "", ErrorCode.MEMBER_ID_REQUIRED).member_id
        id_given = time.monotonic() - began
        joined = ask_to_join(client, group, kind, member_id, ErrorCode.NONE)
        waited = time.monotonic() - began
        synced = client.ask(
            SyncGroupRequest(
                group_id=group,
                generation_id=joined.generation_id,
                member_id=member_id,
                protocol_type=kind,
                protocol_name=PROTOCOL,
                assignments=[SyncGroupRequestAssignment(member_id, ASSIGNMENT)],
            ),
            SYNC_VERSION,
            SyncGroupResponse,
        )
        if synced.error_code:
            raise AssertionError(f"SyncGroup: {ErrorCode(synced.error_code).name}")
        return Waited(id_given, waited, time.monotonic() - began)


def coordinator(bootstrap: tuple[str, int], group: str) -> tuple[str, int]:
    """Where the group's coordinator is, or kcoord's port for it."""

    def found() -> tuple[str, int]:
        with Client(bootstrap) as client:
            request = FindCoordinatorRequest(coordinator_keys=[group])
            [told] = client.ask(request, FIND_VERSION, FindCoordinatorResponse).coordinators
        if told.error_code:
            raise NotYet(f"FindCoordinator: {ErrorCode(told.error_code).name}")
        return told.host, told.port

    return eventually(found, f"group {group} has a coordinator", retry=OSError)


def is_loaded(client: Client, group: str) -> bool:
    """Whether the coordinator answers for the group."""
    request = DescribeGroupsRequest(groups=[group])
    [told] = client.ask(request, DESCRIBE_VERSION, DescribeGroupsResponse).groups
    return told.error_code not in NOT_YET


def ask_to_join(client: Client, group: str, kind: str, member_id: str, expected: ErrorCode) -> JoinGroupResponse:
    """One JoinGroup. Raises AssertionError if its answer is another one."""
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=REBALANCE_MS,
        member_id=member_id,
        protocol_type=kind,
        protocols=[JoinGroupRequestProtocol(PROTOCOL, METADATA)],
    )
    joined = client.ask(request, JOIN_VERSION, JoinGroupResponse)
    if joined.error_code != expected:
        raise AssertionError(f"JoinGroup: {ErrorCode(joined.error_code).name}")
    return joined


def outcome(taken: Mapping[tuple[str, str], Sequence[Waited]]) -> Outcome:
    """What was reached."""
    figures = Table(
        ["member", "server", "member id after", "joined after", "joined after, all rounds", "synced after"],
        [
            [
                kind,
                name,
                f"{median(each.id_given for each in all_waited) * 1000:.0f} ms",
                f"{median(each.joined for each in all_waited):.2f} s",
                f"{min(each.joined for each in all_waited):.2f} to {max(each.joined for each in all_waited):.2f} s",
                f"{median(each.synced for each in all_waited):.2f} s",
            ]
            for (kind, name), all_waited in taken.items()
        ],
    )
    claims = []
    for kind in KINDS:
        alone, in_front = (median(each.synced for each in taken[kind, name]) for name in (ALONE, IN_FRONT))
        claims.append(
            Claim(
                f"first join of an empty group, {kind}, default delays on both sides",
                f"≤ {MOST_BESIDE_S:g} s more than at the broker alone",
                f"{in_front:.2f} s; Kafka alone {alone:.2f} s",
                in_front - alone <= MOST_BESIDE_S,
            )
        )
    how = (
        f"`group.initial.rebalance.delay.ms` is {DELAY_MS / 1000:.0f} s, the default, at the broker and at kcoord. One "
        "member joins a group that nobody has joined before, with the whole handshake: JoinGroup for its member id, "
        f"JoinGroup, SyncGroup. {ROUNDS} groups of each kind at each side, in turn, after one that warms up; medians, "
        "from the first request on."
    )
    return Outcome("The first join of an empty group", how, claims, [figures])
