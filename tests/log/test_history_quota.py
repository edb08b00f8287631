"""History takes so many bytes and no more: whose goes, in what order, and when."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcoord.group.log_verification import Verifier
from kcoord.group.partition_of_group import partition_of
from kcoord.log.embedded import EmbeddedLog
from kcoord.log.history import FileHistory
from kcoord.log.history_quota import group_in, level_of
from kcoord.log.interface import RawRecord
from kcoord.protocol.records import (
    ConnectWorkerGroupConfigurationKey,
    ConnectWorkerGroupHistoryKey,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    decode_record,
    encode_record,
)
from tests.log.conftest import loaded, opened

LARGE = 100_000


def written(group_id: str, number: int, size: int = LARGE) -> list[RawRecord]:
    """A record of that group's state that replaces the one before."""
    member = MemberMetadata("m", None, "c", "/h", 1, 1, b"s" * size, b"")
    value = GroupMetadataValue("consumer", number, "range", "m", number, [member])
    return [encode_record(Record(GroupMetadataKey(group_id), value))]


def committed(group_id: str, number: int) -> list[RawRecord]:
    return [encode_record(Record(OffsetCommitKey(group_id, "t", 0), OffsetCommitValue(offset=number)))]


async def rows(directory: Path) -> Counter[str]:
    """How many rows there are of each group."""
    found: Counter[str] = Counter()
    async with FileHistory(directory) as history:
        for partition in range(history.partitions):
            async for entries in history.read(partition):
                found.update(group_in(entry.key).decode() for entry in entries)
    return found


async def write_both(log: EmbeddedLog, partition: int = 0) -> None:
    """A group that writes 4 MB, and a small one between."""
    for number in range(40):
        await log.append(partition, written("large", number))
        await log.append(partition, committed("small", number))


async def test_the_group_with_most_history_loses_the_oldest_of_it(tmp_path: Path) -> None:
    async with opened(tmp_path, history_retention_bytes=1_000_000) as log:
        await write_both(log)
        before = await loaded(log)
        await log.compact()
        assert await loaded(log) == before
    left = await rows(tmp_path)
    assert left["small"] == 40
    assert 8 <= left["large"] <= 11
    async with FileHistory(tmp_path) as history:
        kept = [decode_record(entry.key, entry.value).value async for some in history.read(0) for entry in some]
        generations = [value.generation for value in kept if isinstance(value, GroupMetadataValue)]
        assert generations == list(range(40 - left["large"], 40))


async def test_what_is_within_the_quota_stays(tmp_path: Path) -> None:
    async with opened(tmp_path, history_retention_bytes=8_000_000) as log:
        await write_both(log)
        assert await log.compact() == 0
    assert await rows(tmp_path) == {"large": 40, "small": 40}


async def test_without_a_limit_it_is_half_of_what_the_disk_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 0

    async with opened(tmp_path, history_retention_bytes=-1) as log:
        await write_both(log)
        assert await log.compact() == 0
        monkeypatch.setattr("kcoord.log.embedded.shutil.disk_usage", lambda _path: Usage)
        assert await log.compact() > 0
    assert 15 <= (await rows(tmp_path))["large"] <= 25


async def test_a_deleted_group_does_not_come_back_whatever_is_left_of_its_history(tmp_path: Path) -> None:
    """Its tombstone goes behind all that it takes away."""
    key = encode_record(Record(GroupMetadataKey("gone"), None))
    for quota in range(0, 2_000_000, 150_000):
        directory = tmp_path / str(quota)
        async with opened(directory, history_retention_bytes=quota) as log:
            for number in range(10):
                await log.append(0, written("gone", number))
            await log.append(0, [key])
            await log.append(0, committed("other", 1))
            await log.compact()
            assert await loaded(log) == committed("other", 1)


async def test_history_is_looked_at_when_much_was_written_and_not_only_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = asyncio.Event()
    keep = EmbeddedLog._keep_quota

    async def note(log: EmbeddedLog) -> int:
        taken = await keep(log)
        if taken:
            looked.set()
        return taken

    monkeypatch.setattr(EmbeddedLog, "_keep_quota", note)
    async with opened(tmp_path, history_retention_bytes=1_000_000, check_interval_ms=3_600_000) as log:
        await write_both(log)
        async with asyncio.timeout(60):
            await looked.wait()


async def test_twenty_times_the_quota_is_written_and_the_file_does_not_grow_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path, history_retention_bytes=1_000_000, check_interval_ms=3_600_000) as log:
        for number in range(200):
            await log.append(0, written("large", number))
        await log.compact()
        assert log.file.path.stat().st_size < 10_000_000
        assert await loaded(log) == written("large", 199)


async def test_the_log_is_sound_after_its_history_was_cut(tmp_path: Path) -> None:
    group_id = "large"
    partition = partition_of(group_id, 4)
    async with opened(tmp_path, history_retention_bytes=500_000) as log:
        await write_both(log, partition)
        await log.compact()
    verifier = Verifier(partition, 4)
    async with FileHistory(tmp_path) as history:
        async for entries in history.read(partition):
            for entry in entries:
                record = decode_record(entry.key, entry.value)
                assert group_in(entry.key) != b"large" or not list(verifier.see(entry.position, record))


@given(st.lists(st.integers(0, 1_000), max_size=20), st.integers(0, 10_000))
def test_all_are_cut_down_to_the_same_and_the_small_keep_theirs(sizes: list[int], quota: int) -> None:
    level = level_of(sizes, quota)
    kept = [min(size, level) for size in sizes]
    assert sum(kept) <= max(quota, 0)
    if sum(sizes) <= quota:
        assert kept == sizes
    else:
        assert sum(min(size, level + 1) for size in sizes) > quota


def test_the_group_stands_first_in_every_key() -> None:
    keys = (
        GroupMetadataKey("gr\u00fc\u00df"),
        OffsetCommitKey("gr\u00fc\u00df", "t", 1),
        ConnectWorkerGroupConfigurationKey("gr\u00fc\u00df"),
        ConnectWorkerGroupHistoryKey("gr\u00fc\u00df", 5),
    )
    for key in keys:
        assert group_in(encode_record(Record(key, None))[0]).decode() == "gr\u00fc\u00df"
    assert group_in(b"") == group_in(b"\0\1") == b""
