"""Does the page show what happened, and does a browser without a network draw it?"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.report.page import page
from kcoord.pipeline.report.reading import read
from kcoord.pipeline.tables import DERIVED, QUARANTINE, Kind
from tests.cli.run_cli import kcoord
from tests.group.connect.world import GROUP
from tests.pipeline.story import entries, fleet_of_two, tables

PLOTS = 3
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_TYPES = {
    Kind.BOOL: pa.bool_(),
    Kind.SHORT: pa.int16(),
    Kind.INT: pa.int32(),
    Kind.LONG: pa.int64(),
    Kind.TEXT: pa.string(),
    Kind.TIME: pa.timestamp("us", tz="UTC"),
    Kind.BYTES: pa.binary(),
    Kind.TEXTS: pa.list_(pa.string()),
}


def write(place: Path, found: dict[str, list[Row]]) -> Path:
    """As Spark leaves them."""
    for table in (*DERIVED, QUARANTINE):
        columns = {}
        for column in table.columns:
            values = [row[column.name] for row in found.get(table.name, [])]
            if column.kind is Kind.TIME:
                values = [None if each is None else each * 1000 for each in values]
            columns[column.name] = pa.array(values, _TYPES[column.kind])
        (place / table.name).mkdir(parents=True)
        parquet.write_table(pa.table(columns), place / table.name / "part-0.parquet")
        (place / table.name / "_SUCCESS").touch()
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the small fleet."""
    return write(tmp_path_factory.mktemp("tables"), tables(entries(fleet_of_two().written)))


def without_code(text: str) -> str:
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_what_the_page_says(place: Path) -> None:
    text = html.unescape(without_code("".join(page(read(place)))))
    assert "session expired: W1" in text
    assert "Workers that caused most" in text
    assert "What must never be" not in text
    [group] = read(place).groups
    assert [(each.worker, each.rebalances, each.stopped, each.lost) for each in group.causes()] == [
        ("W1", 2, 0, 2),
        ("W2", 1, 1, 0),
    ]


def test_nothing_is_fetched_and_names_are_only_names(place: Path, tmp_path: Path) -> None:
    found = tables(entries(fleet_of_two().written))
    evil = "<script>alert(1)</script>"
    for rows in found.values():
        for row in rows:
            row["group_id"] = evil
            for name in ("connector", "url", "detail"):
                if row.get(name) is not None:
                    row[name] = evil
    text = "".join(page(read(write(tmp_path / "evil", found))))
    assert evil not in text
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=.?(https?:)?//", without_code(text))


def test_the_command(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = kcoord("pipeline", "report", "--tables", place, "--out", out)
    assert (done.code, done.out) == (0, f"1 groups in {out}\n"), done.err
    missing = kcoord("pipeline", "report", "--tables", tmp_path / "none", "--out", out)
    assert "make the tables with kcoord pipeline history" in missing.err
    with pytest.raises(PipelineError, match=f"there is no group other in .*: it has {GROUP}"):
        read(place, ["other"])


def test_a_browser_draws_it(place: Path, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("there is no Chromium on the PATH (Debian: apt-get install chromium)")
    out = tmp_path / "report.html"
    out.write_text("".join(page(read(place))))
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'browser'}",
        "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", out.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line], done.stderr
    drawn = re.findall(r'class="js-plotly-plot|class="[^"]*js-plotly-plot', done.stdout)
    assert len(drawn) == PLOTS
    assert done.stdout.count('class="main-svg"') >= PLOTS
    assert done.stdout.count('class="trace bars"') == 2  # one group of bars for each worker
