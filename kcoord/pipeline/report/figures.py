"""Which plots are there of a group? By plotly, as parts of a page that carries plotly itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as graph
from plotly.offline import get_plotlyjs

from kcoord.pipeline.report.reading import GroupHistory, Row

RESOURCES, INTERVALS = 150, 5_000
"""So many connectors and tasks, and so many stays, fit on one time line."""
_COLOURS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0",
)  # fmt: skip
_CONFIG = {"displaylogo": False, "responsive": True}


def library() -> str:
    """Plotly's own code, for the page's head."""
    return str(get_plotlyjs())


def time_line(group: GroupHistory) -> tuple[str, str]:
    """Who owned what, one bar for each stay; and what had to be left out of it, or nothing."""
    span = group.span
    if span is None or not group.ownership:
        return "", ""
    resources = sorted({(row["connector"], row["task"]) for row in group.ownership})
    shown = set(resources[:RESOURCES])
    rows = [row for row in group.ownership if (row["connector"], row["task"]) in shown]
    left_out = []
    if len(resources) > RESOURCES:
        left_out.append(f"the first {RESOURCES} of {len(resources)} connectors and tasks are shown")
    if len(rows) > INTERVALS:
        left_out.append(f"the last {INTERVALS:,} of {len(rows):,} stays are shown")
        rows = rows[-INTERVALS:]
    names = group.names()
    figure = graph.Figure()
    for number, (worker, mine) in enumerate(_by_worker(rows, names)):
        figure.add_trace(
            graph.Bar(
                name=worker,
                y=[named(row) for row in mine],
                base=[row["from_at"] for row in mine],
                x=[_ms(row["from_at"], row["to_at"] or span[1]) for row in mine],
                orientation="h",
                marker={"color": _COLOURS[number % len(_COLOURS)]},
                customdata=[[_clock(row["from_at"]), _clock(row["to_at"]), row["ended"] or "goes on"] for row in mine],
                hovertemplate="%{y}<br>%{customdata[0]} to %{customdata[1]}, %{customdata[2]}"
                "<extra>%{fullData.name}</extra>",
            )
        )
    for row in group.rebalances:
        figure.add_vline(x=row["started"], line={"width": 1, "color": "#888", "dash": "dot"})
    names_shown = [named({"connector": each[0], "task": each[1]}) for each in reversed(resources[:RESOURCES])]
    figure.update_layout(barmode="overlay", bargap=0.15, height=140 + 20 * len(names_shown))
    figure.update_yaxes(categoryorder="array", categoryarray=names_shown, automargin=True)
    return _part(figure), "; ".join(left_out)


def rebalances(group: GroupHistory) -> str:
    """How long each rebalance took, coloured by its reason."""
    figure = graph.Figure()
    reasons = sorted({row["reason"] or "not known" for row in group.rebalances})
    for number, reason in enumerate(reasons):
        mine = [row for row in group.rebalances if (row["reason"] or "not known") == reason]
        figure.add_trace(
            graph.Scatter(
                name=reason,
                mode="markers",
                x=[row["started"] for row in mine],
                y=[(row["duration_ms"] or 0) / 1000 for row in mine],
                marker={"size": [8 + 2 * min(row["stopped"] + row["lost"], 16) for row in mine],
                        "color": _COLOURS[number % len(_COLOURS)]},
                customdata=[[row["epoch"], row["stopped"], row["lost"], row["granted"]] for row in mine],
                hovertemplate="epoch %{customdata[0]}: %{y:.2f} s, %{customdata[1]} stopped, %{customdata[2]} lost, "
                "%{customdata[3]} granted<extra>%{fullData.name}</extra>",
            )
        )  # fmt: skip
    figure.update_layout(height=320)
    figure.update_yaxes(title="seconds until at rest", rangemode="tozero")
    return _part(figure)


def balance(group: GroupHistory) -> str:
    """How much the busiest and the idlest worker had, and what nobody had."""
    figure = graph.Figure()
    times = [row["at"] for row in group.balance]
    lines = {
        "most on one worker": [row["most"] for row in group.balance],
        "least on one worker": [row["least"] for row in group.balance],
        "members": [row["members"] for row in group.balance],
        "on nobody": [
            None if row["configured"] is None else max(0, row["configured"] - row["owned"]) for row in group.balance
        ],
    }
    for number, (name, values) in enumerate(lines.items()):
        line = {"shape": "hv", "color": _COLOURS[number]}
        figure.add_trace(graph.Scatter(name=name, x=times, y=values, mode="lines", line=line))
    figure.update_layout(height=320)
    figure.update_yaxes(rangemode="tozero")
    return _part(figure)


def _part(figure: Any) -> str:
    figure.update_layout(template="plotly_white", margin={"l": 60, "r": 20, "t": 20, "b": 40}, showlegend=True)
    figure.update_xaxes(type="date")
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config=_CONFIG))


def _by_worker(rows: Sequence[Row], names: dict[str, str]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(names.get(row["member_id"]) or str(row["member_id"]), []).append(row)
    return sorted(found.items())


def named(row: Row) -> str:
    """A connector or task, as people name it."""
    return f"{row['connector']}" if row["task"] < 0 else f"{row['connector']}-{row['task']}"


def _ms(since: datetime, until: datetime) -> float:
    return max(until - since, timedelta(milliseconds=1)) / timedelta(milliseconds=1)


def _clock(at: datetime | None) -> str:
    return "now" if at is None else at.strftime("%Y-%m-%d %H:%M:%S")
