"""Does the benchmark of restarts say when the last of many members waited too long, or one lost its membership?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import restart_in_front
from bench.restart_in_front import Back

QUICK, SLOW = Back(0.9, 1.0, 1.4, 2.0, lost=0), Back(0.9, 3.0, 5.3, 4.0, lost=0)


@pytest.mark.parametrize(
    ("restarts", "met"),
    [
        ([QUICK, SLOW, QUICK], (True, True)),
        ([SLOW, QUICK, SLOW], (True, False)),
        ([QUICK, QUICK, Back(0.9, 1.0, 1.4, 2.0, lost=1)], (False, True)),
    ],
)
def test_each_target_is_met_or_not_by_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, restarts: Sequence[Back], met: tuple[bool, bool]
) -> None:
    monkeypatch.setattr(restart_in_front, "measured", lambda _: iter(restarts))
    assert tuple(claim.met for claim in restart_in_front.run(tmp_path).claims) == met
