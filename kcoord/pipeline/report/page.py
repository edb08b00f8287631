"""What does the page look like? Whatever comes out of the tables is escaped; nothing is fetched from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import escape

from kcoord.pipeline.report import figures
from kcoord.pipeline.report.reading import GroupHistory, Histories, Row

GROUPS, WORST = 20, 20
"""So many groups are shown, and so many lines of each list."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; color: #222; }
h2 { margin-top: 2.5em; border-bottom: 1px solid #ccc; } table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
td, th { padding: 0.2em 0.8em; text-align: left; border-bottom: 1px solid #eee; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } .bad { color: #b00020; } .quiet { color: #666; }
"""


def page(histories: Histories) -> Iterator[str]:
    """The page, part by part."""
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kcoord: what the groups did</title>'
    yield f'<link rel="icon" href="data:,"><style>{_STYLE}</style><script>{figures.library()}</script></head><body>'
    yield "<h1>What the groups did</h1>"
    yield from _summary(histories)
    for group in histories.groups[:GROUPS]:
        yield from _group(group)
    yield "</body></html>\n"


def _summary(histories: Histories) -> Iterator[str]:
    left = len(histories.groups) - GROUPS
    if left > 0:
        told = f"The {GROUPS} groups with most rebalances are shown, {left} more are there: --group names one."
        yield f'<p class="quiet">{told}</p>'
    if histories.quarantined:
        yield f'<p class="bad">{histories.quarantined:,} records cannot be read: see the table quarantine.</p>'
    yield _table(
        ("group", "#rebalances", "#stopped", "#for nothing", "#lost", "#findings of the audit"),
        (
            (
                each.group_id,
                len(each.rebalances),
                *(sum(row[name] for row in each.rebalances) for name in ("stopped", "returned", "lost")),
                len(each.audit),
            )
            for each in histories.groups[:GROUPS]
        ),
    )


def _group(group: GroupHistory) -> Iterator[str]:
    yield f"<h2>{escape(group.group_id)}</h2>"
    if group.span is not None:
        yield f'<p class="quiet">{_at(group.span[0])} to {_at(group.span[1])} (UTC)</p>'
    yield from _audit(group)
    line, left_out = figures.time_line(group)
    if line:
        yield "<h3>Who could be running what</h3>" + line
        yield f'<p class="quiet">A dotted line is the beginning of a rebalance. {escape(left_out.capitalize())}</p>'
    if group.rebalances:
        yield "<h3>Rebalances</h3>" + figures.rebalances(group) + _rebalances(group)
    causes = group.causes()
    if causes:
        yield "<h3>Workers that caused most</h3>" + _table(
            ("worker", "#rebalances", "#stopped", "#lost", "#seconds until at rest"),
            ((c.worker, c.rebalances, c.stopped, c.lost, f"{c.duration_ms / 1000:.1f}") for c in causes[:WORST]),
        )
    if group.gaps:
        yield "<h3>The longest gaps</h3>" + _gaps(group)
    if group.balance:
        yield "<h3>Balance</h3>" + figures.balance(group)


def _audit(group: GroupHistory) -> Iterator[str]:
    if group.audit:
        yield '<h3 class="bad">What must never be</h3>' + _table(
            ("finding", "since", "until", "what"),
            ((row["finding"], _at(row["at"]), _at(row["until"]), row["what"]) for row in group.audit[:WORST]),
        )


def _rebalances(group: GroupHistory) -> str:
    worst = sorted(group.rebalances, key=lambda row: (-row["stopped"] - row["lost"], -(row["duration_ms"] or 0)))
    return _table(
        ("#epoch", "started", "reason", "#seconds until at rest", "#moved", "#stopped", "#for nothing", "#lost"),
        (
            (row["epoch"], _at(row["started"]), row["detail"] or "not known", _seconds(row), row["moved"],
             row["stopped"], row["returned"], row["lost"])
            for row in worst[:WORST]
        ),
    )  # fmt: skip


def _gaps(group: GroupHistory) -> str:
    names = group.names()
    longest = sorted(group.gaps, key=lambda row: (row["duration_ms"] is not None, -(row["duration_ms"] or 0)))
    return _table(
        ("what", "since", "#seconds", "from", "to", "because"),
        (
            (figures.named(row), _at(row["from_at"]), _seconds(row), names.get(row["from_member"], row["from_member"]),
             names.get(row["to_member"], row["to_member"]), row["reason"])
            for row in longest[:WORST]
        ),
    )  # fmt: skip


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns whose names begin with # hold numbers."""
    kinds = [' class="n"' if each.startswith("#") else "" for each in columns]
    head = "".join(f"<th{kind}>{escape(each.lstrip('#'))}</th>" for each, kind in zip(columns, kinds, strict=True))
    lines = ("".join(f"<td{kind}>{_cell(each)}</td>" for each, kind in zip(row, kinds, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return escape(f"{value:,}" if isinstance(value, int) else str(value))


def _seconds(row: Row) -> str:
    return "goes on" if row["duration_ms"] is None else f"{row['duration_ms'] / 1000:.2f}"


def _at(at: datetime | None) -> str:
    return "" if at is None else at.strftime("%Y-%m-%d %H:%M:%S")
