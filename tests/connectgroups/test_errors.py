"""Does each API answer each error that it has, and does a request that is refused change nothing?

One group with a worker that computes by itself (`w1`, assignor `eager`), a static one (`w2`, instance `i2`), an away
static one (`w3`, instance `i3`); then each row of the table, and the group is as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as beat
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    Request,
)
from tests.connectgroups.worker import Worker, describe, packed, resources
from tests.gateway.scripted import connect
from tests.server.harness import Client, Running
from tests.server.members import Member

A = resources("a", "a-0")
EAGER = [beat.Assignor("eager", 0, 2, 0, 1, b"")]


@attrs.frozen
class World:
    """The group, its workers, and the epoch that is being computed."""

    group_id: str
    w1: Worker
    w2: Worker
    computing: int


async def world(server: Running, client: Client, name: str) -> World:
    w1 = Worker(client, name, "w1")
    w2 = Worker(await connect(server.port), name, "w2")
    w3 = Worker(await connect(server.port), name, "w3")
    client_side: dict[str, Any] = {"server_assignor": None, "client_assignors": EAGER}
    assert await w1.join(A, **client_side) == ErrorCode.COMPUTE_ASSIGNMENT
    assert await w2.join(instance_id="i2", **client_side) == ErrorCode.NONE
    assert await w3.join(instance_id="i3", **client_side) == ErrorCode.NONE
    assert await w3.leave(-2, instance_id="i3") == ErrorCode.NONE
    while True:
        prepared = await w1.prepare()
        assert prepared.error_code == ErrorCode.NONE
        done = await w1.install(prepared.group_epoch, {"w1": A, "w2": frozenset(), "w3": frozenset()})
        assert done.error_code == ErrorCode.NONE, done
        if prepared.group_epoch == (await describe(client, name)).group_epoch:
            break
        await w1.heartbeat()
    await w1.settle(A)
    changed = [beat.Assignor("eager", 0, 2, 1, 1, b"again")]
    assert await w1.heartbeat(client_assignors=changed) == ErrorCode.COMPUTE_ASSIGNMENT, "now it computes anew"
    await w2.heartbeat()
    return World(name, w1, w2, (await describe(client, name)).group_epoch)


def heartbeat(member_id: str = "w1", epoch: int | None = None, **fields: Any) -> Callable[[World], Request]:
    return lambda it: ConnectGroupHeartbeatRequest(
        fields.get("group_id", it.group_id),
        member_id,
        it.w1.epoch if epoch is None else epoch,
        **{name: value for name, value in fields.items() if name != "group_id"},
    )


def join(member_id: str = "new", **fields: Any) -> Callable[[World], Request]:
    """A whole join, but for what `fields` say."""
    whole: dict[str, Any] = {"rebalance_timeout_ms": 60_000, "client_assignors": EAGER, "connectors_and_tasks": []}
    return heartbeat(member_id, 0, **{**whole, **fields})


def prepare(member_id: str = "w1", epoch: int | None = None, group_id: str | None = None) -> Callable[[World], Request]:
    return lambda it: ConnectGroupPrepareAssignmentRequest(
        it.group_id if group_id is None else group_id, member_id, it.w1.epoch if epoch is None else epoch
    )


def target(member_id: str, *names: str) -> install.Member:
    connectors = [each for each in names if "-" not in each]
    tasks = [install.ConnectorTaskId(each.split("-")[0], int(each.split("-")[1])) for each in names if "-" in each]
    return install.Member(member_id, [install.ConnectorsAndTasks(connectors, tasks)])


def installs(*members: install.Member, member_id: str = "w1", **fields: Any) -> Callable[[World], Request]:
    return lambda it: ConnectGroupInstallAssignmentRequest(
        **{
            "group_id": it.group_id,
            "member_id": member_id,
            "member_epoch": it.w1.epoch,
            "group_epoch": it.computing,
            "members": list(members),
            **fields,
        }
    )


def assignor(name: str = "eager", low: int = 0, high: int = 2, version: int = 1) -> list[beat.Assignor]:
    return [beat.Assignor(name, low, high, 0, version, b"")]


INVALID, UNKNOWN = ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_MEMBER_ID
FENCED, UNSUPPORTED = ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNSUPPORTED_ASSIGNOR
BAD = ErrorCode.INVALID_ASSIGNMENT
WHOLE = (target("w1", "a", "a-0"), target("w2"), target("w3"))

# "rule n" in a row's name is CG-n (docs/rules/connect-groups.md).
HEARTBEATS = [
    ("no group id", join(group_id=""), INVALID, "GroupId"),
    ("no member id", join(""), INVALID, "MemberId"),
    ("an epoch below -2", heartbeat(epoch=-3), INVALID, "MemberEpoch"),
    ("-2 without instance id", heartbeat(epoch=-2), INVALID, "InstanceId"),
    ("-2 of one that is not static", heartbeat(epoch=-2, instance_id="i1"), INVALID, ""),
    ("an empty instance id", join(instance_id=""), INVALID, "InstanceId"),
    ("no rebalance timeout in a join", join(rebalance_timeout_ms=0), INVALID, "RebalanceTimeoutMs"),
    ("a rebalance timeout below 0", heartbeat(rebalance_timeout_ms=-5), INVALID, "RebalanceTimeoutMs"),
    ("both kinds of assignor", join(server_assignor="uniform"), INVALID, "both"),
    ("an assignor without name", join(client_assignors=assignor("")), INVALID, "Name"),
    ("a minimum below -1", join(client_assignors=assignor(low=-2)), INVALID, "MinimumVersion"),
    ("a maximum below 0", join(client_assignors=assignor(low=-1, high=-1, version=-1)), INVALID, "MaximumVersion"),
    ("a maximum below the minimum", join(client_assignors=assignor(low=2, high=1)), INVALID, "MaximumVersion"),
    ("a version below the minimum", join(client_assignors=assignor(low=2, version=1)), INVALID, "Version"),
    ("a version above the maximum", join(client_assignors=assignor(version=3)), INVALID, "Version"),
    ("a task below 0", heartbeat(connectors_and_tasks=packed([("a", -2)])), INVALID, "task"),
    ("a resource without name", heartbeat(connectors_and_tasks=packed([("", 1)])), INVALID, "task"),
    ("a wait below 0", heartbeat(max_wait_ms=-1), INVALID, "MaxWaitMs"),
    ("a join with something owned", join(connectors_and_tasks=packed(A)), INVALID, "owns"),
    ("rule 29: an epoch in a group that is not there", heartbeat(epoch=3, group_id="nowhere"), UNKNOWN, ""),
    ("a member that is not there", heartbeat("nobody", 3), UNKNOWN, "nobody"),
    ("rule 6: epoch 0, fields left out, unknown", heartbeat("nobody", 0), UNKNOWN, "nobody"),
    ("leaving without being there", heartbeat("nobody", -1), UNKNOWN, "nobody"),
    ("rule 5: a younger epoch", heartbeat(epoch=99), FENCED, "epoch"),
    ("rule 12: an older epoch without what is owned", heartbeat(epoch=1), FENCED, "epoch"),
    ("owning what was not granted", heartbeat(connectors_and_tasks=packed(resources("z"))), FENCED, "granted"),
    ("an assignor that the server has not", join(client_assignors=None, server_assignor="best"), UNSUPPORTED, ""),
    ("rule 16: a range that leaves nobody to compute", join(client_assignors=assignor(low=7, high=9, version=8)),
     UNSUPPORTED, ""),
    ("rule 28: an instance that is there", join(instance_id="i2"), ErrorCode.UNRELEASED_INSTANCE_ID, "w2"),
    ("rule 28: another's instance in a heartbeat", heartbeat(instance_id="i2"), ErrorCode.FENCED_INSTANCE_ID, "w2"),
    ("rule 29: a classic group", join(group_id="classic"), ErrorCode.GROUP_ID_NOT_FOUND, "classic"),
]  # fmt: skip

OTHERS = [
    ("no group id", prepare(group_id=""), INVALID, "GroupId"),
    ("no member id", prepare(""), INVALID, "MemberId"),
    ("an epoch below 0", prepare(epoch=-1), INVALID, "MemberEpoch"),
    ("a group that is not there", prepare(group_id="nowhere"), ErrorCode.GROUP_ID_NOT_FOUND, "nowhere"),
    ("rule 29: a classic group", prepare(group_id="classic"), ErrorCode.GROUP_ID_NOT_FOUND, "classic"),
    ("rule 19: not chosen", prepare("w2"), UNKNOWN, ""),
    ("rule 19: a wrong epoch", prepare(epoch=99), FENCED, ""),
    ("no group id", installs(*WHOLE, group_id=""), INVALID, "GroupId"),
    ("no member id", installs(*WHOLE, member_id=""), INVALID, "MemberId"),
    ("a delay below 0", installs(*WHOLE, scheduled_delay_ms=-1), INVALID, "ScheduledDelayMs"),
    ("a member without id", installs(target("")), INVALID, "MemberId"),
    ("rule 29: a classic group", installs(*WHOLE, group_id="classic"), ErrorCode.GROUP_ID_NOT_FOUND, "classic"),
    ("rule 19: not chosen", installs(*WHOLE, member_id="w2"), UNKNOWN, ""),
    ("rule 19: a wrong epoch", installs(*WHOLE, member_epoch=99), FENCED, ""),
]


def named(value: object) -> str:
    """A row is called by what it is about."""
    return value if isinstance(value, str) and " " in value else ""


@pytest.mark.parametrize(("why", "request_of", "error", "says"), [*HEARTBEATS, *OTHERS], ids=named)
async def test_what_is_refused_is_named_and_changes_nothing(
    server: Running,
    client: Client,
    name: str,
    why: str,
    request_of: Callable[[World], Request],
    error: ErrorCode,
    says: str,
) -> None:
    it = await world(server, client, name)
    request = request_of(it)
    by = it.w2.client if getattr(request, "member_id", "") == "w2" else client
    classic = await Member.joined(await connect(server.port), "classic")
    before = await describe(client, name)
    answer: Any = await by.ask(request, 0)
    assert ErrorCode(answer.error_code) == error, answer
    assert says in (answer.error_message or ""), answer
    after = await describe(client, name)
    assert after == before, "a request that is wrong changes nothing"
    assert (await classic.heartbeat()).error_code == ErrorCode.NONE
    assert await it.w1.heartbeat() == ErrorCode.COMPUTE_ASSIGNMENT, "CG-17: it is asked until it has installed"


@pytest.mark.parametrize("epoch", [1, 999])
async def test_rule_18_an_install_of_another_epoch_than_the_prepared_one_is_refused(
    server: Running, client: Client, name: str, epoch: int
) -> None:
    it = await world(server, client, name)
    for _ in range(2):  # before a Prepare, and after one
        before = await describe(client, name)
        assert (await it.w1.install(epoch, {"w1": A, "w2": frozenset(), "w3": frozenset()})).error_code == BAD
        assert await describe(client, name) == before
        assert (await it.w1.prepare()).group_epoch == it.computing
    assert (await it.w1.install(it.computing, {"w1": A, "w2": frozenset(), "w3": frozenset()})).error_code == 0


INSTALLS = [
    ("a configured resource left out", installs(target("w1", "a"), target("w2"), target("w3"))),
    ("a resource that is not configured", installs(target("w1", "a", "a-0", "b"), target("w2"), target("w3"))),
    ("a resource given twice", installs(target("w1", "a", "a-0"), target("w2", "a"), target("w3"))),
    ("a member that is not there", installs(*WHOLE, target("nobody"))),
    ("a member twice", installs(*WHOLE, target("w1"))),
]


@pytest.mark.parametrize(("why", "request_of"), INSTALLS, ids=named)
async def test_rules_18_and_20_an_assignment_that_does_not_fit_is_refused_and_another_computes(
    server: Running, client: Client, name: str, why: str, request_of: Callable[[World], Request]
) -> None:
    it = await world(server, client, name)
    prepared = await it.w1.prepare()
    assert prepared.group_epoch == it.computing
    before = await describe(client, name)
    answer: Any = await client.ask(request_of(it), 0)
    assert ErrorCode(answer.error_code) == BAD, answer
    after = await describe(client, name)
    assert [(m.member_id, m.owned, m.target) for m in after.members] == [
        (m.member_id, m.owned, m.target) for m in before.members
    ]
    assert after.assignment_epoch == before.assignment_epoch
    assert after.computing_member_id == "w2"
    assert await it.w2.heartbeat() == ErrorCode.COMPUTE_ASSIGNMENT


async def test_a_group_has_a_largest_size(server: Running, client: Client, name: str) -> None:
    for number in range(4):
        assert await Worker(client, name, f"w{number}").join(A) == ErrorCode.NONE
    assert await Worker(client, name, "w4").join(A) == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert await Worker(client, name, "w3").join(A) == ErrorCode.NONE, "one that is in already may join anew"


async def test_rule_28_a_static_worker_that_was_replaced_is_fenced(server: Running, client: Client, name: str) -> None:
    older, younger = Worker(client, name, "older"), Worker(await connect(server.port), name, "younger")
    assert await older.join(A, instance_id="i") == ErrorCode.NONE
    assert await older.leave(-2, instance_id="i") == ErrorCode.NONE
    assert await younger.join(A, instance_id="i") == ErrorCode.NONE
    assert await older.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
    assert await older.join(A, instance_id="i") == ErrorCode.FENCED_INSTANCE_ID


async def test_describe_says_for_each_group_what_it_is(server: Running, client: Client, name: str) -> None:
    await Member.joined(await connect(server.port), "classic")
    await Worker(client, name).join(A)
    answer: Any = await client.ask(ConnectGroupDescribeRequest(["nowhere", name, "classic"]), 0)
    assert [(each.group_id, ErrorCode(each.error_code)) for each in answer.groups] == [
        ("nowhere", ErrorCode.GROUP_ID_NOT_FOUND),
        (name, ErrorCode.NONE),
        ("classic", ErrorCode.GROUP_ID_NOT_FOUND),
    ]
    assert (await client.ask(ConnectGroupDescribeRequest([]), 0)).groups == []  # type: ignore[attr-defined]
