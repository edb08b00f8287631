"""Which commit of a member is the newest, while some of its commits wait? (GW-22, rule 6 of `offsets.py`)"""

from __future__ import annotations

import attrs
import pytest

from kcoord.gateway.session.commits_under_way import CommitsUnderWay


@attrs.define(eq=False)
class Connection:
    """A client's connection."""

    has_hung_up: bool = False

    @property
    def client(self) -> Connection:
        return self


def test_a_commit_that_waits_is_overtaken_by_one_of_the_next_connection() -> None:
    commits, first, second = CommitsUnderWay(), Connection(), Connection()
    with commits.one("g", "m", first):
        assert not commits.is_overtaken("g", "m", first)
        first.has_hung_up = True
        assert not commits.is_overtaken("g", "m", first), "nothing came since"
        with commits.one("g", "m", second):
            assert commits.is_overtaken("g", "m", first)
            assert not commits.is_overtaken("g", "m", second)
        assert commits.is_overtaken("g", "m", first), "also when the later one has been carried out"
    with commits.one("g", "m", first):
        assert not commits.is_overtaken("g", "m", first), "nothing is remembered that is over"


@pytest.mark.parametrize(("group", "member"), [("g", "other"), ("other", "m")])
def test_others_overtake_nobody(group: str, member: str) -> None:
    commits, gone, other = CommitsUnderWay(), Connection(has_hung_up=True), Connection()
    with commits.one("g", "m", gone), commits.one(group, member, other):
        assert not commits.is_overtaken("g", "m", gone)


def test_a_connection_that_is_there_is_overtaken_by_none() -> None:
    """A member may have two connections for a moment: the cluster tells which commit came first."""
    commits, first, second = CommitsUnderWay(), Connection(), Connection()
    with commits.one("g", "m", first), commits.one("g", "m", second):
        assert not commits.is_overtaken("g", "m", first)
