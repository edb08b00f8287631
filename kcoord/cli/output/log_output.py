"""How a log is printed as JSON lines, and how it is verified."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from kcoord.group.log_verification import Finding, Verifier, group_of
from kcoord.log.history import Entry, History
from kcoord.log.interface import LogUnusable
from kcoord.printable import printable
from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Struct
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.records import Record, decode_record

LOOK_AGAIN_S = 0.5


async def dump(history: History, partitions: Sequence[int], groups: frozenset[str], *, follow: bool) -> None:
    """Print all records of these partitions (none given: all) and of these groups (none given: all). Raises
    LogError.
    """
    async with history:
        chosen = chosen_of(history, partitions)
        after = dict.fromkeys(chosen, 0)
        while True:
            for partition in chosen:
                async for entries in history.read(partition, after[partition]):
                    after[partition] = entries[-1].position + 1
                    sys.stdout.writelines(lines(entries, groups))
            sys.stdout.flush()
            if not follow:
                return
            await asyncio.sleep(LOOK_AGAIN_S)


async def verify(history: History, partitions: Sequence[int]) -> bool:
    """Print the faults and how much was checked. Returns whether all is sound. Raises LogError."""
    found = records = groups = 0
    async with history:
        chosen = chosen_of(history, partitions)
        for partition in chosen:
            verifier = Verifier(partition, history.partitions)
            async for entries in history.read(partition):
                for finding in checked(verifier, entries):
                    found += 1
                    print(told(partition, finding), flush=True)
            for finding in verifier.end():
                found += 1
                print(told(partition, finding), flush=True)
            records += verifier.records
            groups += verifier.groups
    how = "sound" if not found else f"{found} faults"
    print(f"{records} records of {groups} groups in {len(chosen)} partitions: {how}", file=sys.stderr)
    return not found


def chosen_of(history: History, partitions: Sequence[int]) -> list[int]:
    """The partitions to read. Raises LogUnusable for a partition that the log does not have."""
    for partition in partitions:
        if partition >= history.partitions:
            raise LogUnusable(f"there is no partition {partition}: the log has {history.partitions}, from 0")
    return sorted(set(partitions)) or list(range(history.partitions))


# -- verifying ---------------------------------------------------------------------------------------------------------


def checked(verifier: Verifier, entries: Iterable[Entry]) -> Iterator[Finding]:
    """The faults in `entries`, which are whole steps."""
    for entry in entries:
        try:
            record = decode_record(entry.key, entry.value)
        except DecodeError as error:
            yield Finding(entry.position, f"the record cannot be read: {error} (key {entry.key.hex()})")
        else:
            yield from verifier.see(entry.position, record)
    yield from verifier.step_done()


def told(partition: int, finding: Finding) -> str:
    """A finding as one line."""
    where = "in the end" if finding.position is None else f"offset {finding.position}"
    return printable(f"partition {partition}, {where}: {finding.what}")


# -- printing ----------------------------------------------------------------------------------------------------------


def lines(entries: Iterable[Entry], groups: frozenset[str] = frozenset()) -> Iterator[str]:
    """Records as JSON, one line each."""
    for entry in entries:
        try:
            record = decode_record(entry.key, entry.value)
        except DecodeError as error:
            if not groups:
                yield _line(entry, {"error": str(error), "key": _base64(entry.key), "value": _base64(entry.value)})
            continue
        if not groups or group_of(record) in groups:
            yield _line(entry, shown(record))


def shown(record: Record) -> dict[str, Any]:
    """A record as data: its type, its key, its value."""
    value = None if record.value is None else of_struct(record.value)
    return {"type": record.key.NAME.removesuffix("Key"), "key": of_struct(record.key), "value": value}


def of_struct(struct: Struct) -> dict[str, Any]:
    """A struct with the field names of its schema."""
    return {field.name: _of_field(field, getattr(struct, field.attribute)) for field in struct.FIELDS}


def _of_field(field: Field, value: Any) -> Any:
    if value is None:
        return None
    if field.is_array:
        return [_of_one(each) for each in value]
    return _of_one(value)


def _of_one(value: Any) -> Any:
    if isinstance(value, Struct):
        return of_struct(value)
    return _base64(value) if isinstance(value, bytes | bytearray | memoryview) else value


def _base64(data: bytes | bytearray | memoryview | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _line(entry: Entry, what: dict[str, Any]) -> str:
    at = datetime.fromtimestamp(entry.at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"partition": entry.partition, "offset": entry.position, "at": at, **what}) + "\n"
