"""A record type that an older instance cannot read: written when all can read it, and one line where it is met."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from tests.faults.instances import PARTITIONS, make_instance
from tests.faults.log_contents import records
from tests.gateway.scripted import ask, close_all, connect, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.repository import ROOT

NEWER_TYPE = 99
GROUP_RESOURCE, SET = 32, 0
SETTING = "connect.max.size"
GROUPS = [f"g{number}" for number in range(2 * PARTITIONS)]
UNREADABLE = re.compile(r"partition (\d+) is not served: .* A newer kcoord wrote it")


class Newer(Kcoord):
    """kcoord as `newer_kcoord.py` has it."""

    def command(self) -> list[str]:
        """See Kcoord.command."""
        (python, _, _, *arguments) = super().command()
        return [python, "-m", "tests.release.newer_kcoord", *arguments]


@attrs.define
class Pair:
    """A newer instance and an older one over one topic."""

    kafka: KafkaCluster
    topic: str
    newer: Kcoord
    older: Kcoord
    value: int = 100

    async def configure(self) -> None:
        """Every group gets another value of a setting, by way of the newer instance."""
        self.value += 1
        changes = [AlterableConfig(SETTING, SET, str(self.value))]
        for group in GROUPS:
            request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP_RESOURCE, group, changes)])

            async def is_done(request: IncrementalAlterConfigsRequest = request) -> bool:
                answer = await ask(await connect(self.newer.port), request)
                return bool(answer.responses[0].error_code == ErrorCode.NONE)

            await until(is_done, f"{group} is configured")

    async def told(self, group: str, at: Kcoord) -> str | ErrorCode:
        """The setting's value as an instance tells it, or the error."""
        request = DescribeConfigsRequest([DescribeConfigsResource(GROUP_RESOURCE, group, [SETTING])])
        result: Any = (await ask(await connect(at.port), request)).results[0]
        return ErrorCode(result.error_code) if result.error_code else str(result.configs[0].value)

    def written(self) -> int:
        """Of how many groups records of the newer type are in the topic."""
        keys = {key for key, _ in records(self.kafka, self.topic)}
        return sum(int.from_bytes(key[:2], "big") == NEWER_TYPE for key in keys)

    async def write_newer_records(self) -> None:
        """Configure all groups until each has a record of the newer type: the newer one has to notice first that the
        older one has gone.
        """

        async def is_written() -> bool:
            await self.configure()
            return self.written() == len(GROUPS)

        await until(is_written, "all groups have records of the newer type")

    def complaints(self) -> list[int]:
        """The partitions that the older one says that it cannot read, line by line."""
        return [int(number) for number in UNREADABLE.findall(self.older.log.read_text())]


@asynccontextmanager
async def pair(kafka: KafkaCluster, folder: Path, site: Path) -> AsyncIterator[Pair]:
    """Both are started; the older one runs the package of `site`."""
    name = f"newer-{uuid.uuid4().hex[:8]}"
    model, older = (make_instance(kafka, folder, number, name) for number in (0, 1))
    newer = Newer(model.folder, settings=model.settings)
    older.site = site
    try:
        for each in (newer, older):
            each.start()
        yield Pair(kafka, str(older.settings["log.topic"]), newer, older)
    finally:
        await close_all()
        for each in (newer, older):
            each.remove()


async def is_shared(both: Pair) -> bool:
    """Whether the older one has a part of the groups, and everything is served."""
    told = [await both.told(group, both.older) for group in GROUPS]
    return "partitions are here" in both.older.log.read_text() and all(isinstance(each, str) for each in told)


async def test_written_when_all_can_read_it_and_left_to_who_can(kafka: KafkaCluster, tmp_path: Path) -> None:
    async with pair(kafka, tmp_path, ROOT) as both:
        await until(lambda: is_shared(both), "both serve groups")
        await both.configure()
        assert both.written() == 0, "the older one could not read it"
        assert "newer ones are written when every instance has been upgraded" in both.newer.log.read_text()

        assert both.older.stop() == 0
        await both.write_newer_records()

        both.older.start()

        async def is_left_to_the_newer() -> bool:
            told = [await both.told(group, both.older) for group in GROUPS]
            return bool(both.complaints()) and told == [str(both.value)] * len(GROUPS)

        await until(is_left_to_the_newer, "the newer one serves everything, also by way of the older one")
        await both.configure()
        assert len(both.complaints()) == len(set(both.complaints())), "one line each"


@pytest.mark.proof
async def test_0_1_0_is_spared_and_says_so_in_a_line_if_not(kafka: KafkaCluster, tmp_path: Path, release: Path) -> None:
    """It does not tell others what it cannot read, so that its partitions stay with it until it is stopped."""
    async with pair(kafka, tmp_path, release) as both:
        await until(lambda: is_shared(both), "both serve groups")
        await both.configure()
        assert both.written() == 0

        assert both.older.stop() == 0
        await both.write_newer_records()

        both.older.start()

        async def is_met() -> bool:
            told = [await both.told(group, both.newer) for group in GROUPS]
            readable = [str(both.value), ErrorCode.COORDINATOR_NOT_AVAILABLE]
            return bool(both.complaints()) and all(each in readable for each in told)

        for _ in range(20):
            await until(is_met, "each group is served, or its partition is not readable where it is")
        assert len(both.complaints()) == len(set(both.complaints())), "not again and again"

        assert both.older.stop() == 0

        async def is_served() -> bool:
            return [await both.told(group, both.newer) for group in GROUPS] == [str(both.value)] * len(GROUPS)

        await until(is_served, "the newer one serves everything")
