"""Does a partition's history that comes in pieces give the rows that it gives as a whole, and what may be read back?"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from kcoord.pipeline.history.derive import Follower, derive
from kcoord.pipeline.history.entry import Entry, Row
from kcoord.pipeline.history.kept_follower import kept, restored
from tests.light import fewer
from tests.pipeline.log_of_all_kinds import all_kinds
from tests.pipeline.simulated_logs import Logs
from tests.pipeline.story import PARTITIONS

KINDS = ["connect", "mixed", "consumer", "classic"]


def counted(rows: Iterable[tuple[str, Row]]) -> Counter[str]:
    return Counter(f"{name} {sorted(row.items())!r}" for name, row in rows)


def check_pieces(partition: int, log: list[Entry], at_once: int) -> None:
    """After each piece: what was settled by then, with what is open, is what the log gives that ends there."""
    follower, settled = Follower(partition, PARTITIONS), list[tuple[str, Row]]()
    for start in range(0, len(log), at_once):
        settled += follower.follow(log[start : start + at_once])
        data = kept(follower)
        there = counted([*settled, *restored(data).rest()])
        assert there == counted(derive(partition, log[: start + at_once], PARTITIONS)), f"{at_once} from {start}"
        follower = restored(data)


@pytest.mark.parametrize("at_once", [1, 7])
def test_logs_of_all_kinds_in_pieces(at_once: int) -> None:
    """Pieces of one record cut through steps, too."""
    for partition, log in all_kinds().items():
        check_pieces(partition, log, at_once)


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_logs_in_pieces(kind: str, logs: Logs) -> None:
    for seed in range(fewer(20, 3)):
        check_pieces(0, logs(seed, kind), 37)


def test_what_was_followed_already_is_left_out() -> None:
    for partition, log in all_kinds().items():
        follower = Follower(partition, PARTITIONS)
        settled = [*follower.follow(log[:20]), *follower.follow(log)]
        assert counted([*settled, *follower.rest()]) == counted(derive(partition, log, PARTITIONS))


class Harm:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("true",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cannot be read"),
        (b"no pickle", "cannot be read"),
        (pickle.dumps({1: 2}), "what a stream had kept is dict"),
        (pickle.dumps(Harm()), "system does not belong there"),
        (b"\x80\x04ckcoord.pipeline.history.state\nattrs.os\n.", "attrs.os does not belong there"),
        (pickle.dumps(counted), "does not belong there"),
    ],
    ids=["nothing", "no pickle", "a dict", "a call", "something that a module has imported", "a function"],
)
def test_bytes_of_others_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        restored(data)


def test_damaged_bytes_are_refused() -> None:
    follower = Follower(0, PARTITIONS)
    _, log = next(iter(all_kinds().items()))
    list(follower.follow(log))
    data = kept(follower)
    for length in range(0, len(data), 97):
        with pytest.raises(ValueError, match="what a stream had kept"):
            restored(data[:length])
