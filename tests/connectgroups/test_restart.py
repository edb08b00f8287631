"""Is a connect group after kill -9 what its workers were told? Epochs, members, targets, settings, history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_request import Assignor
from tests.connectgroups.worker import Worker, describe, resources
from tests.gateway.scripted import connect
from tests.kafka.kcoord_process import Kcoord

A = resources("a", "a-0", "a-1", "b", "b-0")
EAGER: dict[str, Any] = {"server_assignor": None, "client_assignors": [Assignor("eager", 0, 1, 0, 1, b"meta")]}


@pytest.fixture
def kcoord(tmp_path: Path) -> Iterator[Kcoord]:
    """A lone kcoord, as users run it."""
    process = Kcoord(tmp_path)
    try:
        yield process.start()
    finally:
        process.remove()


def durable(described: Any) -> Any:
    """What a restart must not change. An epoch that a member reached without a change of what it owns is not written
    (CG-11): the one of its last grant is shown until it says more.
    """
    members = [attrs.evolve(member, member_epoch=0) for member in described.members]
    return attrs.evolve(described, members=members)


async def test_a_stable_group_is_as_it_was(kcoord: Kcoord, name: str) -> None:
    client = await connect(kcoord.bootstrap)
    one = Worker(client, name, "w1")
    two = Worker(await connect(kcoord.bootstrap), name, "w2")
    assert await one.join(A, instance_id="i1", url="http://one") == ErrorCode.NONE
    assert await two.join() == ErrorCode.NONE
    for _ in range(3):
        assert await one.heartbeat() == ErrorCode.NONE
        assert await two.heartbeat() == ErrorCode.NONE
    assert one.owned | two.owned == A
    before = await describe(client, name)
    assert (before.group_state, before.group_epoch, before.assignment_epoch) == ("Stable", 2, 2)

    kcoord.kill_and_restart()

    client = one.client = await connect(kcoord.bootstrap)
    two.client = await connect(kcoord.bootstrap)
    assert durable(await describe(client, name)) == durable(before)
    for worker in (one, two):
        owned, epoch = worker.owned, worker.epoch
        assert await worker.heartbeat() == ErrorCode.NONE
        assert (worker.owned, worker.epoch) == (owned, epoch)
    assert (await describe(client, name)).group_epoch == 2, "nobody was disturbed"
    assert "connect group" in kcoord.log.read_text()


async def test_a_rebalance_goes_on_where_it_was(kcoord: Kcoord, name: str) -> None:
    one = Worker(await connect(kcoord.bootstrap), name, "w1")
    two = Worker(await connect(kcoord.bootstrap), name, "w2")
    assert await one.join(A) == ErrorCode.NONE
    await one.settle(A)
    assert await two.join() == ErrorCode.NONE
    assert await one.heartbeat() == ErrorCode.NONE
    kept = one.owned
    assert kept < A, "told to let go, and has not said yet that it has"
    before = await describe(two.client, name)

    kcoord.kill_and_restart()

    one.client, two.client = await connect(kcoord.bootstrap), await connect(kcoord.bootstrap)
    after = await describe(two.client, name)
    assert [(m.member_id, m.owned, m.target, m.to_release) for m in after.members] == [
        (m.member_id, m.owned, m.target, m.to_release) for m in before.members
    ]
    assert await two.heartbeat() == ErrorCode.NONE
    assert two.owned == frozenset(), "CG-2: what may still run elsewhere is given to nobody"
    assert await one.heartbeat() == ErrorCode.NONE
    assert await one.heartbeat() == ErrorCode.NONE
    await two.settle(A - kept)
    await one.settle(kept)


async def test_rule_18_what_was_prepared_dies_with_the_shard_and_rule_14_the_group_computes_again(
    kcoord: Kcoord, name: str
) -> None:
    one = Worker(await connect(kcoord.bootstrap), name, "w1")
    assert await one.join(A, **EAGER) == ErrorCode.COMPUTE_ASSIGNMENT
    prepared = await one.prepare()
    assert prepared.error_code == ErrorCode.NONE

    kcoord.kill_and_restart()

    one.client = await connect(kcoord.bootstrap)
    assert await one.heartbeat() == ErrorCode.COMPUTE_ASSIGNMENT
    refused = await one.install(prepared.group_epoch, {"w1": A})
    assert refused.error_code == ErrorCode.INVALID_ASSIGNMENT
    again = await one.prepare()
    assert (again.error_code, again.group_epoch) == (ErrorCode.NONE, prepared.group_epoch)
    assert again.members[0].assignor.metadata == b"meta"
    assert (await one.install(again.group_epoch, {"w1": A})).error_code == ErrorCode.NONE
    await one.settle(A)


async def test_each_new_epoch_has_a_line_in_the_log_with_its_reason(kcoord: Kcoord, name: str) -> None:
    one = Worker(await connect(kcoord.bootstrap), name, "w1")
    two = Worker(await connect(kcoord.bootstrap), name, "w2")
    await one.join(A)
    await two.join()
    await two.leave()
    told = [line.partition(f"connect group {name}: ")[2] for line in kcoord.log.read_text().splitlines()]
    assert [line for line in told if line] == [
        "epoch 1: worker joined: w1",
        "epoch 2: worker joined: w2",
        "epoch 3: worker left: w2",
    ]
