"""When are groups adopted without a word? In a new installation, not where kcoord ran before it could."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kcoord.config import load_settings
from kcoord.server.adopt_default import adopt_default, adopts_by_itself


@pytest.mark.parametrize(
    ("given", "log_is_new", "has_broker_map", "holds"),
    [
        (None, True, False, "auto"),
        (None, False, True, "manual"),
        (None, False, False, "manual"),
        (None, True, True, "manual"),
        ("auto", False, True, "auto"),
        ("manual", True, False, "manual"),
    ],
    ids=[
        "all is new",
        "0.1.0 was here, with an embedded log",
        "0.1.0 was here, with a topic, and this data directory is new",
        "0.1.0 was here, and the log is another",
        "it is set, and 0.1.0 was here",
        "it is set, and all is new",
    ],
)
def test_what_holds(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    given: str | None,
    log_is_new: bool,
    has_broker_map: bool,
    holds: str,
) -> None:
    caplog.set_level(logging.INFO)
    data = tmp_path / "data"
    if has_broker_map:
        data.mkdir()
        (data / "brokers.json").write_text("{}")
    values = {"data.dir": str(data)} | ({} if given is None else {"gateway.adopt": given})
    settings = load_settings(options=[f"{name}={value}" for name, value in values.items()], environment={})
    if given is not None or has_broker_map or log_is_new:
        assert adopts_by_itself(settings) == (holds == "auto"), "as `kcoord check` says before"
    assert adopt_default(settings, log_is_new) == holds
    assert ("kcoord groups adopt" in caplog.text) == (given is None and holds == "manual")


def test_a_new_installation_stays_one(tmp_path: Path) -> None:
    """At its second start it has a log and a broker map, too."""
    settings = load_settings(options=[f"data.dir={tmp_path / 'data'}"], environment={})
    assert adopt_default(settings, log_is_new=True) == "auto"
    (tmp_path / "data" / "brokers.json").write_text("{}")
    assert adopt_default(settings, log_is_new=False) == "auto"
