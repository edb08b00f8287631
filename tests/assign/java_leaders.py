"""How are simulated Java workers and real ones taken through the same rounds?

A `Pair` has both: the simulated ones are played at once, what the real ones are to do is written down, line by line of
JSON, for JavaLeaders.java, with what the simulated ones answered beside it. One JVM then plays all of it.

| do | with | answer |
| --- | --- | --- |
| start | worker, url, max_delay_ms | {}; a worker of that key is a new process, without any memory |
| forget | worker | {}; it lost its coordinator, and stopped all that it had |
| hash | names | hashed, copied, sorted: the orders in which Java goes through them |
| round | now_ms, generation, protocol, members (worker, member_id, snapshot), leader, fresh, synced | reported, by member id; shares; owners; memory; read |

Only those named in `synced` get their answer.
"""  # noqa: E501

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from kcoord.assign import Resource
from kcoord.assign.incremental import Answer, Memory, Seen, Snapshot, Worker, answer, eager, synced, written
from tests.kafka.java import Java

PROGRAM = Path(__file__).with_name("JavaLeaders.java")
SESSIONED, EAGER = "sessioned", "default"

Told: TypeAlias = dict[str, Any]
"""What is compared: plain values, sets as sorted lists."""


@attrs.define
class Process:
    """One simulated worker process."""

    url: str
    max_delay_ms: int
    row: tuple[Resource, ...] = ()
    memory: Memory = attrs.Factory(Memory)
    last_completed: int = -1


@attrs.frozen
class Joined:
    """Who comes to a round, and under which member id."""

    key: str
    member_id: str
    snapshot: Snapshot


@attrs.define
class Pair:
    """Simulated workers, and what real ones have to do and to answer."""

    newer_java: bool = False
    processes: dict[str, Process] = attrs.Factory(dict)
    orders: list[Told] = attrs.Factory(list)
    answers: list[Told] = attrs.Factory(list)

    def start(self, key: str, url: str, max_delay_ms: int) -> None:
        """A new process; one of that key is gone."""
        self.processes[key] = Process(url, max_delay_ms)
        self._order({}, do="start", worker=key, url=url, max_delay_ms=max_delay_ms)

    def forget(self, key: str) -> None:
        """The worker lost its coordinator for long."""
        self.processes[key].row = ()
        self._order({}, do="forget", worker=key)

    def round(
        self,
        joined: Sequence[Joined],
        leader: str,
        fresh: Snapshot,
        generation: int,
        now_ms: int,
        answered: Sequence[str],
        protocol: str = SESSIONED,
    ) -> Answer:
        """One rebalance, which only those `answered` hear of."""
        ids = {each.key: each.member_id for each in joined}
        seen = Seen(
            leader_id=ids[leader],
            workers=tuple(
                Worker(each.member_id, self.processes[each.key].url, each.snapshot.offset, self._report(each, protocol))
                for each in joined
            ),
            snapshot=next(each.snapshot for each in joined if each.key == leader),
            fresh=fresh,
            generation=generation,
            last_completed_generation=self.processes[leader].last_completed,
            now_ms=now_ms,
        )
        process = self.processes[leader]
        if protocol == EAGER:
            told = eager.answer(seen, process.memory)
        else:
            told = answer(seen, process.memory, process.max_delay_ms)
        process.memory = told.memory
        self._order(
            _told(seen, told, protocol, self.newer_java),
            do="round",
            now_ms=now_ms,
            generation=generation,
            protocol=protocol,
            leader=leader,
            fresh=attrs.asdict(fresh),
            synced=list(answered),
            members=[
                {"worker": each.key, "member_id": each.member_id, "snapshot": attrs.asdict(each.snapshot)}
                for each in joined
            ],
        )
        for key in answered:
            worker = self.processes[key]
            row = () if protocol == EAGER else worker.row
            worker.row = synced(row, told.shares[ids[key]], self.newer_java)
            worker.last_completed = generation
        return told

    def _report(self, joined: Joined, protocol: str) -> tuple[Resource, ...]:
        return () if protocol == EAGER else written(self.processes[joined.key].row, self.newer_java)

    def _order(self, expected: Told, **order: Any) -> None:
        self.orders.append(order)
        self.answers.append(expected)


def _told(seen: Seen, told: Answer, protocol: str, newer_java: bool) -> Told:
    """What the real leader must say of the round."""
    memory = told.memory
    expected: Told = {
        "shares": {
            member: {
                "error": told.error,
                "leader": seen.leader_id,
                "leader_url": told.leader_url,
                "config_offset": told.config_offset,
                "delay_ms": 0 if told.error else told.delay_ms,
                "assigned": _rows(written(share.assigned, newer_java)),
                "revoked": _sorted(share.revoked),
            }
            for member, share in told.shares.items()
        },
        "owners": _sorted((*each, member) for member, share in told.shares.items() for each in share.owned),
        "memory": {
            "previousAssignment": _sorted(memory.assigned),
            "previousRevocation": _sorted(memory.revoked),
            "revokedInPrevious": memory.revoked_for_balance,
            "numSuccessiveRevokingRebalances": memory.successive_revocations,
            "scheduledRebalance": memory.scheduled_rebalance_ms,
            "delay": memory.delay_ms,
            "previousGenerationId": memory.generation,
            "candidateWorkersForReassignment": list(memory.candidates),
            "previousMembers": sorted(memory.members),
        },
        "read": told.snapshot.offset,
    }
    if protocol != EAGER:
        expected["reported"] = {worker.member_id: _rows(worker.held) for worker in seen.workers}
    return expected


def _rows(resources: Sequence[Any]) -> list[list[Any]]:
    return [list(each) for each in resources]


def _sorted(resources: Any) -> list[list[Any]]:
    return sorted(list(each) for each in resources)


def asked(java: Java, orders: Sequence[Mapping[str, Any]]) -> list[Told]:
    """What the real ones answer, in the same form."""
    lines = java.tool(str(PROGRAM), stdin="".join(json.dumps(order) + "\n" for order in orders)).splitlines()
    answers = [json.loads(line) for line in lines]
    for each in answers:
        if "memory" in each:
            each["owners"].sort()
            for name in ("previousAssignment", "previousRevocation", "previousMembers"):
                each["memory"][name].sort()
            for share in each["shares"].values():
                share["revoked"].sort()
    return answers
