"""Does the page show what happened, and does a browser without a network draw it, whatever the groups are like?"""

from __future__ import annotations

import html
import re
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.report import figures
from kcoord.pipeline.report import page as pages
from kcoord.pipeline.report.costs import costs, moves
from kcoord.pipeline.report.page import page
from kcoord.pipeline.report.reading import read
from kcoord.pipeline.schemas import DERIVED, OUTAGES, QUARANTINE, Kind
from tests.cli.run_cli import kcoord
from tests.group.connect.world import GROUP, packed
from tests.pipeline.browser import drawn
from tests.pipeline.story import ALL, Recorder, entries, fleet_of_two, tables
from tests.pipeline.test_history import generation

PLOTS = 3
EVIL = """</script><img src=x onerror="document.title='broken'">'%{y}${z}"""
_TYPES = {
    Kind.BOOL: pa.bool_(),
    Kind.SHORT: pa.int16(),
    Kind.INT: pa.int32(),
    Kind.LONG: pa.int64(),
    Kind.DOUBLE: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.TIME: pa.timestamp("us", tz="UTC"),
    Kind.BYTES: pa.binary(),
    Kind.TEXTS: pa.list_(pa.string()),
}


def write(place: Path, found: dict[str, list[Row]]) -> Path:
    """As Spark leaves them."""
    for table in (*DERIVED, *([OUTAGES] if OUTAGES.name in found else []), QUARANTINE):
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


def joined(*found: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The tables of several groups."""
    return {table.name: [row for each in found for row in each.get(table.name, [])] for table in DERIVED}


def renamed(group_id: str, connector: str, worker: str) -> dict[str, list[Row]]:
    """The small fleet under other names."""
    found = tables(entries(fleet_of_two().written))
    for rows in found.values():
        for row in rows:
            row["group_id"] = group_id
            for name, value in {"connector": connector, "url": worker, "detail": f"worker joined: {worker}"}.items():
                if row.get(name) is not None or (name == "url" and name in row):
                    row[name] = value
    return found


def at_rest() -> dict[str, list[Row]]:
    """A group of which the log tells no rebalance: compaction has left what its members could be running."""
    found = renamed("at rest", "a", "w")
    return {name: found[name] for name in ("ownership", "sessions")}


def written(place: Path, to: Path) -> Path:
    to.write_text("".join(page(read(place))))
    return to


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the small fleet."""
    return write(tmp_path_factory.mktemp("tables"), tables(entries(fleet_of_two().written)))


def without_code(text: str) -> str:
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def words(text: str) -> str:
    """What somebody reads, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", without_code(text))).split())


# -- what it says ------------------------------------------------------------------------------------------------------


def test_what_the_page_says(place: Path) -> None:
    text = words("".join(page(read(place))))
    assert "The last rebalance , of " in text
    assert ": session expired: W1. It was at rest after " in text
    assert "0 stopped, 2 lost, 2 started." in text
    assert "2 W1 → W2: A, A-0" in text
    assert "Workers that caused most" in text
    assert "What must never be" not in text


def test_what_it_cost(place: Path) -> None:
    """What was lost with W1, nobody could be running until W2 had it: that is the cost of its end, and of W1."""
    [group] = read(place).groups
    found = costs(group)
    lost = [row["duration_ms"] for row in group.gaps if row["from_member"] == "W1" and row["epoch"] == 3]
    assert len(lost) == 2
    assert (found.of[2].gaps_ms, found.of[2].longest_ms) == (sum(lost), max(lost))
    assert [(name, each.rebalances, each.stopped, each.lost) for name, each in found.by_worker] == [
        ("W1", 2, 0, 2),
        ("W2", 1, 1, 0),
    ]
    assert {name: each.rebalances for name, each in found.by_reason} == {"session expired": 1, "worker joined": 2}
    assert found.total.rebalances == 3
    assert found.total.gaps_ms == sum(each.gaps_ms for each in found.of) == sum(r["duration_ms"] for r in group.gaps)


def test_what_moved(place: Path) -> None:
    [group] = read(place).groups
    told = [[(each.giver, each.taker, list(each.resources)) for each in its] for its in moves(group)]
    assert told == [
        [(None, "W1", [("A", -1), ("A", 0), ("A", 1)])],
        [("W1", "W2", [("A", 1)])],
        [("W1", "W2", [("A", -1), ("A", 0)])],
    ]


def test_a_static_worker_that_was_away_is_a_cause(tmp_path: Path) -> None:
    """No epoch begins, and nobody runs what it had: it is told all the same."""
    world = Recorder()
    world.join("W1", instance_id="one", config_offset=1, configured_connectors_and_tasks=packed(ALL))
    world.compute("W1", 0, {"W1": ALL})
    world.beat("W1", 0)
    world.beat("W1", -2, instance_id="one")
    world.now_ms += 5_000
    world.join("W1", instance_id="one", config_offset=1, configured_connectors_and_tasks=packed(ALL))
    [group] = read(write(tmp_path / "t", tables(entries(world.written)))).groups
    [(worker, cost), *_] = costs(group).by_worker
    assert (worker, cost.rebalances) == ("one", 1)
    assert cost.longest_ms >= 5_000
    assert "worker away" in words("".join(page(read(tmp_path / "t"))))


def test_what_is_too_much_is_left_out_and_that_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for where, name, value in (
        (figures, "RESOURCES", 2), (figures, "POINTS", 2), (figures, "LINES", 1), (figures, "WORKERS", 1),
        (pages, "WORST", 2), (pages, "STAYS", 3), (pages, "NAMES", 1),
    ):  # fmt: skip
        monkeypatch.setattr(where, name, value)
    text = words("".join(page(read(place))))
    for said in (
        "Of 3 connectors and tasks those 2 are shown that changed hands most.",
        "The last 3 of 4 stays are shown.",
        "The last 1 of 3 dotted lines are shown.",
        "The first 1 of 2 workers are shown.",
        "The last 2 of 3 are shown.",
        "The latest 2, the last one first",
        "The worst 2 of 3",
        "W1 → W2: A and 1 more",
    ):
        assert said in text, said


def test_many_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "GROUPS", 1)
    monkeypatch.setattr(pages, "LISTED", 2)
    found = joined(*(renamed(name, "a", "w") for name in ("g1", "g2", "g3")))
    text = words("".join(page(read(write(tmp_path / "t", found)))))
    assert "The 1 groups with most rebalances are shown below, and 2 are not" in text
    assert "2 of 3 groups are in this list." in text
    assert "g2" in text
    assert "g3" not in text


# -- in a browser ------------------------------------------------------------------------------------------------------


def plots(document: str) -> int:
    assert "<title>kcoord: what the groups did</title>" in document
    count = len(re.findall(r'class="[^"]*js-plotly-plot', document))
    assert document.count('class="main-svg"') >= count
    return count


def test_nothing_is_fetched(place: Path) -> None:
    text = "".join(page(read(place)))
    assert not re.search(
        r"<(script|link|img|iframe)[^>]+(src|href)=.?(https?:)?//", text.replace(figures.library(), "")
    )
    assert "@import" not in without_code(text)


@pytest.mark.long("starts Chromium")
def test_a_browser_draws_it(place: Path, tmp_path: Path) -> None:
    document = drawn(written(place, tmp_path / "report.html"), tmp_path)
    assert plots(document) == PLOTS
    assert document.count('class="trace bars"') == 2  # one group of bars for each worker


@pytest.mark.long("starts Chromium")
def test_a_browser_draws_groups_of_all_kinds(tmp_path: Path) -> None:
    """Names that are markup, numbers, dates, long, in other scripts; a group of consumers; one at rest; one forged."""
    names = (EVIL, "17", "2020-01-01", "x" * 249, "日本 ünï")
    classic = tables(entries([(1_000, [generation(1, "Stable", "m1")]), (3_000, [generation(2, "Empty")])]))
    forged = renamed("forged", "a", "w")
    row = forged["epochs"][0]
    where = {"at": row["at"], "until": None, "connector": EVIL, "task": 0, "member_ids": [EVIL], "what": EVIL}
    audit = {name: row[name] for name in ("partition", "group_id", "incarnation", "protocol_type")}
    forged["audit"] = [{**audit, "finding": "double owner", "offset": 1, **where}]
    found = joined(*(renamed(each, each, each) for each in names), classic, at_rest(), forged)
    out = written(write(tmp_path / "t", found), tmp_path / "report.html")
    assert EVIL not in without_code(out.read_text())
    document = drawn(out, tmp_path)
    assert plots(document) == PLOTS * (len(names) + 1) + 2 + 1
    assert "What must never be" in document
    assert "It did not rebalance." in document
    ticks = {html.unescape(each) for each in re.findall(r'class="ytick"><text[^>]*>([^<]*)<', document)}
    assert {figures.short(f"{each}-0") for each in names} <= ticks


@pytest.mark.long("starts Chromium")
def test_a_browser_opens_a_page_of_nothing(tmp_path: Path) -> None:
    document = drawn(written(write(tmp_path / "t", {}), tmp_path / "report.html"), tmp_path)
    assert plots(document) == 0
    assert "There are no groups in these tables" in document


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = kcoord("pipeline", "report", "--tables", place, "--out", out)
    assert (done.code, done.out) == (0, f"1 group in {out}\n"), done.err
    with pytest.raises(PipelineError, match=f"there is no group other in .*: it has {GROUP}"):
        read(place, ["other"])


def said(tables_: Path, out: Path) -> str:
    done = kcoord("pipeline", "report", "--tables", tables_, "--out", out)
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1
    return done.err


def test_what_is_wrong_is_said(place: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "report.html", "make the tables with kcoord pipeline history --out "
    assert f"there is no directory {tmp_path / 'none'}: {again}" in said(tmp_path / "none", out)
    other = tmp_path / "other"
    other.mkdir()
    assert f"{other} is no directory of all tables, it has no epochs: {again}" in said(other, out)
    older = write(tmp_path / "older", {})
    parquet.write_table(pa.table({"group_id": pa.array([], pa.string())}), older / "gaps" / "part-0.parquet")
    assert "/gaps lacks incarnation, connector, " in said(older, out)
    assert "so another version of kcoord has made it" in said(older, out)
    damaged = write(tmp_path / "damaged", {})
    (damaged / "gaps" / "part-0.parquet").write_bytes(b"PAR1 no more")
    assert f"{damaged}/gaps cannot be read: " in said(damaged, out)
    assert f"{tmp_path}/none/report.html cannot be written: " in said(place, tmp_path / "none" / "report.html")
    assert not out.exists()


def test_times_are_python_s_own_whatever_unit_they_are_written_in(place: Path, tmp_path: Path) -> None:
    """Spark writes nanoseconds without a zone."""
    other = write(tmp_path / "t", tables(entries(fleet_of_two().written)))
    for file in other.glob("*/*.parquet"):
        table = parquet.read_table(file)
        types = [pa.timestamp("ns") if pa.types.is_timestamp(each.type) else each.type for each in table.schema]
        cast = table.cast(pa.schema(list(zip(table.schema.names, types, strict=True))))
        parquet.write_table(cast, file, use_deprecated_int96_timestamps=True)
    [group], [same] = read(other).groups, read(place).groups
    assert group.ownership == same.ownership
    assert {type(row["from_at"]) for row in group.ownership} == {datetime}


def test_tables_with_more_or_fewer_columns_that_are_not_shown_will_do(place: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "t", tables(entries(fleet_of_two().written)))
    file = other / "ownership" / "part-0.parquet"
    table = parquet.read_table(file)
    parquet.write_table(table.drop_columns(["whole"]).append_column("new", pa.nulls(len(table), pa.int32())), file)
    assert "".join(page(read(other))).count("js-plotly") == "".join(page(read(place))).count("js-plotly")
