"""Do the three case studies come out over real sockets, row for row? All that can hold does (CG-32).

They are of the draft KIP that connect groups come from (docs/decisions/0035-errata-of-the-draft.md).

The worker library against kcoord as users run it; each table is what ConnectGroupDescribe says. `MaxWaitMs` is 0, and
a worker heartbeats when the test says so. The corrections: W2 is at epoch 0, not 1, before its first grant (CG-10);
the bounce's text says 37 where its table says 36; members and tasks as plainly meant (W1, W3; BT1).
"""

from __future__ import annotations

import asyncio

import attrs

from kcoord.assign import Assignment, Group, MemberAssignment
from kcoord.assign.cooperative import CooperativeAssignor
from tests.kafka.kcoord_process import Kcoord
from tests.worker.stepped import Observer, Stepped, Table, meant

ALL = "AC0 AT1 AT2 BC0 BT1"
TARGETS = {"W1": "AC0 AT1", "W2": "BC0 BT1", "W3": "AT2"}
AFTER = {"W1": "AC0 AT1 BC0", "W3": "AT2 BT1"}


async def test_an_empty_group_gets_its_first_and_its_second_worker(
    kcoord: Kcoord, group: str, observer: Observer
) -> None:
    w1, w2 = (Stepped(kcoord.port, group, name, [CooperativeAssignor()], ALL) for name in ("W1", "W2"))
    assert (await observer.describe()).group_state == "Dead"

    await w1.join()
    assert await observer.table() == (1, 0, {}, {"W1": (0, "")})
    await w1.compute()
    assert await observer.table() == (1, 1, {"W1": ALL}, {"W1": (0, "")})
    await w1.beat()
    assert await observer.table() == (1, 1, {"W1": ALL}, {"W1": (1, ALL)})
    assert w1.runs == meant(ALL)

    await w2.join()
    assert await observer.table() == (2, 1, {"W1": ALL}, {"W1": (1, ALL), "W2": (0, "")})
    await w1.beat()
    await w1.compute()
    targets = {"W1": "AC0 AT1 AT2", "W2": "BC0 BT1"}
    assert await observer.table() == (2, 2, targets, {"W1": (1, ALL), "W2": (0, "")})

    await w2.beat()
    assert w2.runs == meant("")
    await w1.beat()
    assert await observer.table() == (2, 2, targets, {"W1": (1, ALL), "W2": (0, "")})
    await w1.release()
    assert await observer.table() == (2, 2, targets, {"W1": (2, "AC0 AT1 AT2"), "W2": (0, "")})
    await w2.beat()
    assert await observer.table() == (2, 2, targets, {"W1": (2, "AC0 AT1 AT2"), "W2": (2, "BC0 BT1")})
    assert (w1.runs, w2.runs) == (meant("AC0 AT1 AT2"), meant("BC0 BT1"))
    for worker in (w1, w2):
        await worker.close()


class FromATable(CooperativeAssignor):
    """Begins and ends with the tables of the case study; between them as it is.

    At the end it would itself give BC0 to W3, which has no connector yet, and BT1 to W1.
    """

    def assign(self, group: Group) -> Assignment:
        if not any(member.target for member in group.members):
            return _as_in(TARGETS)
        return _as_in(AFTER) if group.remaining_delay_ms == 0 else super().assign(group)


def _as_in(table: dict[str, str]) -> Assignment:
    return Assignment(tuple(MemberAssignment(name, meant(names)) for name, names in table.items()))


@attrs.define
class Three:
    """W1, W2 and W3, all at epoch 35; W3 is the one that computes."""

    w1: Stepped
    w2: Stepped
    w3: Stepped
    observer: Observer

    @classmethod
    async def at_epoch_35(cls, kcoord: Kcoord, group: str, observer: Observer) -> Three:
        w1, w2, w3 = (Stepped(kcoord.port, group, name, [FromATable()], ALL) for name in TARGETS)
        for worker in (w3, w1, w2):
            await worker.join()
        for reason in range(32):
            await w1.give_reason(reason % 2 + 1)
        await w3.compute()
        for worker in (w1, w2, w3):
            await worker.beat()
        three = cls(w1, w2, w3, observer)
        members = {name: (35, names) for name, names in TARGETS.items()}
        assert await observer.table() == (35, 35, TARGETS, members)
        return three

    async def w2_is_put_out(self) -> None:
        """It does not heartbeat; the others do, once, in the middle of its session."""
        await asyncio.sleep(3)
        await self.w1.beat()
        await self.w3.beat()
        remaining = {"W1": (35, "AC0 AT1"), "W3": (35, "AT2")}
        await self.comes((36, 35, TARGETS, remaining))

        await self.w3.beat()
        await self.w3.compute()
        assert await self.observer.table() == (36, 36, TARGETS, remaining)

        await self.w1.beat()
        await self.w3.beat()
        assert await self.observer.table() == (36, 36, TARGETS, {"W1": (36, "AC0 AT1"), "W3": (36, "AT2")})

    async def comes(self, expected: Table) -> None:
        """Wait until the group is so."""
        while (seen := await self.observer.table()) != expected:
            assert seen[:2] < expected[:2], (seen, expected)
            await asyncio.sleep(0.05)

    async def close(self) -> None:
        for worker in (self.w1, self.w2, self.w3):
            await worker.close()


async def test_a_worker_leaves_for_good(kcoord: Kcoord, group: str, observer: Observer) -> None:
    three = await Three.at_epoch_35(kcoord, group, observer)
    await three.w2_is_put_out()

    await three.comes((37, 36, TARGETS, {"W1": (36, "AC0 AT1"), "W3": (36, "AT2")}))
    await three.w3.beat()
    await three.w3.compute()
    assert await observer.table() == (37, 37, AFTER, {"W1": (36, "AC0 AT1"), "W3": (36, "AT2")})
    await three.w1.beat()
    await three.w3.beat()
    assert await observer.table() == (37, 37, AFTER, {name: (37, names) for name, names in AFTER.items()})
    await three.close()


async def test_a_worker_bounces(kcoord: Kcoord, group: str, observer: Observer) -> None:
    three = await Three.at_epoch_35(kcoord, group, observer)
    await three.w2_is_put_out()

    await three.w2.beat()  # at epoch 35: it is not known any more
    assert three.w2.runs == meant("BC0 BT1")
    await three.w2.stop()  # and joins with epoch 0, with its old member id
    members = {"W1": (36, "AC0 AT1"), "W2": (36, "BC0 BT1"), "W3": (36, "AT2")}
    assert await observer.table() == (37, 36, TARGETS, members)

    await three.w3.beat()
    await three.w3.compute()
    assert await observer.table() == (37, 37, TARGETS, members)
    for worker in (three.w1, three.w2, three.w3):
        await worker.beat()
    assert await observer.table() == (37, 37, TARGETS, {name: (37, names) for name, names in TARGETS.items()})
    assert (three.w1.runs, three.w2.runs, three.w3.runs) == tuple(map(meant, TARGETS.values()))
    await three.close()
