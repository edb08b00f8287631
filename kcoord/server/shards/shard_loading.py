"""The load of a shard from the log.

A record that cannot be decoded stops the load, with an error that names the record's offset and key. The load never
skips a record, and the partition is not served.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from kcoord.group.shard import Shard
from kcoord.log.interface import Log, LogCorrupt, LogOfNewerKcoord, StoredRecord
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.records import decode_record, is_of_newer_kcoord


async def read_shard(store: Log, partition: int, shard: Shard) -> None:
    """Take `partition` over and replay its records into `shard`.

    Raises LogOfNewerKcoord for a record that only a newer kcoord can read, LogCorrupt for a record that no kcoord can
    read, and what Log.load raises.
    """
    at, key, value = -1, b"", None
    try:
        async with aclosing(cast("AsyncGenerator[list[StoredRecord], None]", store.load(partition))) as chunks:
            async for chunk in chunks:
                for at, key, value in chunk:  # noqa: B007 (used in the error below)
                    shard.replay(decode_record(key, value))
                gc.freeze()  # these objects stay; searching them for cycles takes a third of a load
                await asyncio.sleep(0)
    except DecodeError as error:
        raise unreadable(at, key, value, error) from error


def unreadable(at: int, key: bytes, value: bytes | None, error: DecodeError) -> LogCorrupt:
    """The error for a record: what is wrong with it, where it is, and what to do."""
    record = f"its record at offset {at} (key {key.hex()}) cannot be read: {error}."
    if is_of_newer_kcoord(key, value):
        return LogOfNewerKcoord(
            f"{record} A newer kcoord wrote it: start that one, or a newer one still, instead of this"
        )
    return LogCorrupt(
        f"{record} Look at it with `kcoord log dump`, and start the kcoord that wrote it, or restore the log from a "
        "backup"
    )
