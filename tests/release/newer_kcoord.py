"""A kcoord of a release to come: it knows one record type more, and writes such a record beside each group's settings.

`python -m tests.release.newer_kcoord serve …` is `kcoord serve …` of that release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcoord.protocol import record_levels

OLDER_LEVEL = record_levels.RECORD_LEVEL
NEWER_LEVEL = record_levels.RECORD_LEVEL = OLDER_LEVEL + 1  # before those who take it over are imported
NEWER_TYPE = 99
record_levels.TYPE_LEVELS[NEWER_TYPE] = NEWER_LEVEL

from kcoord.cli import main  # noqa: E402
from kcoord.group.shard import Shard  # noqa: E402
from kcoord.group.state.transition import Transition  # noqa: E402
from kcoord.protocol import records  # noqa: E402
from kcoord.protocol.records import (  # noqa: E402
    ConnectWorkerGroupHistoryValue,
    ConnectWorkerGroupMetadataKey,
    Record,
)


class NewerKey(ConnectWorkerGroupMetadataKey):
    """The key of the record that only this release knows."""

    API_KEY = NEWER_TYPE
    NAME = "NewerKey"


def _decode_key(data: bytes, position: int) -> Any:
    return NewerKey(ConnectWorkerGroupMetadataKey._DECODERS[0](data, position).group_id)


records._KEYS[NEWER_TYPE] = (NewerKey, ConnectWorkerGroupHistoryValue)
records._DECODERS[NEWER_TYPE] = (_decode_key, ConnectWorkerGroupHistoryValue._DECODERS)
_alter_config, _replay = Shard._alter_config, Shard.replay


def alter_config(
    self: Shard, transition: Transition, group_id: str, values: Mapping[str, str], forgets_configured: bool
) -> None:
    """As before, and one record more where all can read it."""
    _alter_config(self, transition, group_id, values, forgets_configured)
    if transition.state.record_level >= NEWER_LEVEL:
        transition.step.records.append(Record(NewerKey(group_id), ConnectWorkerGroupHistoryValue()))


def replay(self: Shard, record: Record) -> None:
    """As before; the newer record says nothing of the groups."""
    if not isinstance(record.key, NewerKey):
        _replay(self, record)


Shard._alter_config = alter_config  # type: ignore[method-assign]
Shard.replay = replay  # type: ignore[method-assign]

if __name__ == "__main__":
    main()
