"""What do those see who are no members? Descriptions, settings, offsets: all that can be read of a group."""

from __future__ import annotations

import asyncio
from typing import Any

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from tests.connectgroups.configs import asked, change
from tests.faults.caller import Caller, Lost, Reply
from tests.faults.classic_member import TOPIC, Share
from tests.faults.history import Kind, Outcome, Read, Register, Wrote, now_us

SETTING = "connect.max.size"
_SMALLEST = 1000
"""The setting's values begin here, so that no group is ever too large."""


@attrs.define(eq=False)
class Onlooker:
    """One client that reads a group and writes down what it was told."""

    caller: Caller
    _setting: int = attrs.field(default=_SMALLEST, init=False)

    async def describe(self) -> Any | None:
        """A connect group as it is shown; None where it is not there. Raises Lost."""
        group = self.caller.group
        answer, reply = await self.caller.ask(
            "describe",
            ConnectGroupDescribeRequest([group]),
            ConnectGroupDescribeResponse,
            error=lambda answer: answer.groups[0].error_code,
        )
        if reply.error is not ErrorCode.NONE:
            return None
        [described] = answer.groups
        self._read(Kind.GROUP_EPOCH, described.group_epoch, reply)
        self._read(Kind.ASSIGNMENT_EPOCH, described.assignment_epoch, reply)
        if described.members:  # what is configured is forgotten with the last member (CG-21)
            offset = described.config_offset
            self._read(Kind.CONFIG, None if offset < 0 else offset, reply)
        for member in described.members:
            self._read(Kind.URL, url_number(member.url), reply, member.member_id)
        return described

    async def describe_classic(self) -> Any:
        """A classic group as it is shown. Raises Lost."""
        answer, reply = await self.caller.ask(
            "describe",
            DescribeGroupsRequest([self.caller.group]),
            DescribeGroupsResponse,
            error=lambda answer: answer.groups[0].error_code,
        )
        return answer.groups[0] if reply.error is ErrorCode.NONE else None

    async def fetch(self, share: Share) -> bool:
        """Read all committed offsets; whether they were told. Raises Lost."""
        partitions = sorted(share.offsets)
        topics = [OffsetFetchRequestTopics(TOPIC, partition_indexes=partitions)]
        answer, reply = await self.caller.ask(
            "fetch",
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup(share.group, topics=topics)]),
            OffsetFetchResponse,
            error=lambda answer: answer.groups[0].error_code,
        )
        if reply.error is not ErrorCode.NONE:
            return False
        for topic in answer.groups[0].topics:
            for at in topic.partitions:
                offset = None if at.committed_offset < 0 else at.committed_offset
                self._read(Kind.OFFSET, offset, reply, f"{TOPIC}-{at.partition_index}")
        return True

    async def alter(self) -> None:
        """Give the group's setting a new value. Raises Lost."""
        self._setting += 1
        value, sent_us = self._setting, now_us()
        try:
            _, reply = await self.caller.ask(
                "configure",
                IncrementalAlterConfigsRequest([change(self.caller.group, {SETTING: str(value)})]),
                IncrementalAlterConfigsResponse,
                error=lambda answer: answer.responses[0].error_code,
            )
        except (Lost, asyncio.CancelledError):
            self._wrote(value, sent_us, None, Outcome.UNKNOWN)
            raise
        done = reply.error is ErrorCode.NONE
        outcome = Outcome.DONE if done else Outcome.UNKNOWN if reply.passing else Outcome.REFUSED
        self._wrote(value, reply.sent_us, reply.ended_us, outcome)

    async def read_setting(self) -> bool:
        """Read it; whether it was told. Raises Lost."""
        answer, reply = await self.caller.ask(
            "configure",
            DescribeConfigsRequest([asked(self.caller.group, SETTING)]),
            DescribeConfigsResponse,
            error=lambda answer: answer.results[0].error_code,
        )
        if reply.error is not ErrorCode.NONE:
            return False
        value = int(answer.results[0].configs[0].value or 0)
        self._read(Kind.SETTING, value if _SMALLEST < value < 2**30 else None, reply)
        return True

    def _read(self, kind: Kind, value: int | None, reply: Reply, name: str = "") -> None:
        register = Register(kind, self.caller.group, name)
        self.caller.history.add(Read(register, value, self.caller.name, reply.sent_us, reply.ended_us))

    def _wrote(self, value: int, sent_us: int, ended_us: int | None, outcome: Outcome) -> None:
        register = Register(Kind.SETTING, self.caller.group)
        self.caller.history.add(Wrote(register, value, self.caller.name, sent_us, ended_us, outcome))


def url_number(url: str | None) -> int | None:
    """The number in a url of `ConnectMember`."""
    return int(url.rpartition("/")[2]) if url else None
