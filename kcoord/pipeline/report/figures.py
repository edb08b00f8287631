"""The plots of a group, by plotly, as parts of a page that contains plotly itself.

Names are never interpreted: the value on an axis is a number, and its label is the escaped name. So no name is taken
for a number, a date or markup. If there is more than a browser draws quickly, only a part is drawn, and the page says
which.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Any

import plotly.graph_objects as graph
from plotly.offline import get_plotlyjs

from kcoord.pipeline.report.costs import UNKNOWN, Costs, length_ms, rest_ms
from kcoord.pipeline.report.reading import GroupHistory, Row
from kcoord.resource import Resource, tell

RESOURCES, INTERVALS, POINTS, LINES = 120, 4_000, 3_000, 300
"""The most resources, and the most stays, on one time line; the most points on a plot; the most dotted
lines.
"""
WORKERS, MOMENTS = 200, 160
"""For the plot of how much each worker had: the most workers, and the number of times."""
LEGEND = 24
"""With more workers than this, their names are shown only on hovering."""
NAME = 42
"""A longer name is cut in the middle when it labels something."""
_COLOURS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0",
)  # fmt: skip
_CONFIG = {"displaylogo": False, "responsive": True}


def library() -> str:
    """Plotly's own code, for the head of the page."""
    return str(get_plotlyjs())


def time_line(group: GroupHistory, at_most: int = INTERVALS) -> tuple[str, list[str]]:
    """Who owned what, with one bar for each stay; and what was left out."""
    span = group.span
    if span is None or not group.ownership:
        return "", []
    resources, left_out = _shown(group, span[1])
    rows = [row for row in group.ownership if (row["connector"], row["task"]) in resources]
    if len(rows) > at_most:
        left_out.append(f"the last {at_most:,} of {len(rows):,} stays are shown")
        rows = rows[-at_most:]
    places = {resource: len(resources) - number for number, resource in enumerate(sorted(resources))}
    figure = graph.Figure()
    workers = _by_worker(group, rows)
    for number, (worker, mine) in enumerate(workers):
        figure.add_trace(
            graph.Bar(
                name=label(worker),
                y=[places[Resource(row["connector"], row["task"])] for row in mine],
                base=[row["from_at"] for row in mine],
                x=[_ms(row["from_at"], row["to_at"] or span[1]) for row in mine],
                orientation="h",
                width=0.8,
                marker={"color": _COLOURS[number % len(_COLOURS)]},
                customdata=[
                    [label(named(row)), _clock(row["from_at"]), _clock(row["to_at"]), row["ended"] or "goes on"]
                    for row in mine
                ],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]} to %{customdata[2]}, %{customdata[3]}"
                "<extra>%{fullData.name}</extra>",
            )
        )
    starts = [row["started"] for row in group.rebalances]
    if len(starts) > LINES:
        left_out.append(f"the last {LINES} of {len(starts):,} dotted lines are shown")
    labels = [label(tell(each)) for each in places]
    figure.update_layout(
        barmode="overlay",
        height=140 + 20 * len(places),
        shapes=[*(_shade(each.from_at, each.to_at) for each in group.outages[-LINES:]), *map(_line, starts[-LINES:])],
        showlegend=len(workers) <= LEGEND,
    )
    figure.update_yaxes(
        tickvals=list(places.values()), ticktext=labels, automargin=True, range=[0.4, len(places) + 0.6], showgrid=False
    )
    return _part(figure), left_out


def shares(group: GroupHistory) -> tuple[str, list[str]]:
    """How much each worker had at each time: what can be seen of a fleet whose tasks do not fit on a time line."""
    span = group.span
    changes: defaultdict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for row in group.ownership:
        mine = changes[group.called(row["member_id"])]
        mine.append((row["from_at"], 1))
        if row["to_at"] is not None:
            mine.append((row["to_at"], -1))
    if span is None or not changes:
        return "", []
    workers = sorted(changes)
    what = group.words.members
    left_out = [f"the first {WORKERS} of {len(workers):,} {what} are shown"] if len(workers) > WORKERS else []
    step = (span[1] - span[0]) / MOMENTS
    moments = [span[0] + step * (number + 1) for number in range(MOMENTS)]
    figure = graph.Figure(
        graph.Heatmap(
            x=moments,
            y=list(range(min(len(workers), WORKERS))),
            z=[_sums(sorted(changes[worker]), moments) for worker in workers[:WORKERS]],
            text=[[label(worker)] * MOMENTS for worker in workers[:WORKERS]],
            hovertemplate="%{text}<br>%{x}: %{z}<extra></extra>",
            colorscale="Blues",
        )
    )
    labels = [label(worker) for worker in workers[:WORKERS]]
    figure.update_layout(height=160 + (16 if len(labels) <= LEGEND else 8) * len(labels))
    figure.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels, automargin=True, autorange="reversed")
    return _part(figure), left_out


def rebalances(group: GroupHistory, costs: Costs) -> tuple[str, list[str]]:
    """How long each rebalance took, colored by its reason; and what was left out."""
    figure = graph.Figure()
    pairs = list(zip(group.rebalances, costs.of, strict=True))
    left_out = [f"the last {POINTS:,} of {len(pairs):,} are shown"] if len(pairs) > POINTS else []
    by_reason: defaultdict[str, list[Any]] = defaultdict(list)
    for row, cost in pairs[-POINTS:]:
        by_reason[row["reason"] or UNKNOWN].append((row, cost))
    for number, (reason, mine) in enumerate(sorted(by_reason.items())):
        figure.add_trace(
            graph.Scatter(
                name=label(reason),
                mode="markers",
                x=[row["started"] for row, _ in mine],
                y=[max(rest_ms(group, row) or 0, cost.longest_ms) / 1000 for row, cost in mine],
                marker={"size": [8 + 2 * min(row["stopped"] + row["lost"], 12) for row, _ in mine],
                        "color": _COLOURS[number % len(_COLOURS)]},
                customdata=[
                    [row["epoch"], row["stopped"], row["lost"], row["granted"], (rest_ms(group, row) or 0) / 1000,
                     cost.longest_ms / 1000]
                    for row, cost in mine
                ],
                hovertemplate="epoch %{customdata[0]}: at rest after %{customdata[4]:.2f} s, longest gap "
                "%{customdata[5]:.2f} s, %{customdata[1]} stopped, %{customdata[2]} lost, %{customdata[3]} granted"
                "<extra>%{fullData.name}</extra>",
            )
        )  # fmt: skip
    figure.update_layout(height=320, showlegend=True)
    figure.update_yaxes(title=f"seconds until all {group.words.ran_again}", rangemode="tozero")
    return _part(figure), left_out


def balance(group: GroupHistory) -> tuple[str, list[str]]:
    """How many workers there were, how much the busiest and the least busy had, and how much nobody had."""
    figure = graph.Figure()
    rows = group.balance[-POINTS:]
    left_out = (
        [f"the last {POINTS:,} of {len(group.balance):,} changes are shown"] if len(group.balance) > POINTS else []
    )
    lines: dict[str, list[int | None]] = {"members": [row["members"] for row in rows]}
    if group.ownership:
        lines[f"most on one {group.words.member}"] = [row["most"] for row in rows]
        lines[f"least on one {group.words.member}"] = [row["least"] for row in rows]
    if any(row["configured"] is not None for row in rows):
        lines["on nobody"] = [
            None if row["configured"] is None else max(0, row["configured"] - row["owned"]) for row in rows
        ]
    for number, (name, values) in enumerate(lines.items()):
        line = {"shape": "hv", "color": _COLOURS[number]}
        figure.add_trace(graph.Scatter(name=name, x=[row["at"] for row in rows], y=values, mode="lines", line=line))
    figure.update_layout(height=320, showlegend=True)
    figure.update_yaxes(rangemode="tozero")
    return _part(figure), left_out


def named(row: Row) -> str:
    """The name of a connector, a task or a partition, for people."""
    return f"{row['connector']}" if row["task"] < 0 else f"{row['connector']}-{row['task']}"


def short(text: str) -> str:
    """The text, cut in the middle if it is long."""
    return text if len(text) <= NAME else f"{text[: NAME // 2]}…{text[-NAME // 2 + 1 :]}"


def label(text: str) -> str:
    """The text as a label for plotly, which reads some markup."""
    return escape(short(text), quote=False)


# Inside


def _shown(group: GroupHistory, until: datetime) -> tuple[set[Resource], list[str]]:
    """The resources to show. If not all fit: those that changed hands most, and had the longest gaps."""
    stays = Counter(Resource(row["connector"], row["task"]) for row in group.ownership)
    if len(stays) <= RESOURCES:
        return set(stays), []
    gaps: defaultdict[Resource, float] = defaultdict(float)
    for row in group.gaps:
        gaps[Resource(row["connector"], row["task"])] += length_ms(row, until)
    chosen = sorted(stays, key=lambda each: (-stays[each], -gaps[each], each))[:RESOURCES]
    said = f"of {len(stays):,} {group.words.resources} those {RESOURCES} are shown that changed hands most"
    return set(chosen), [said]


def _part(figure: Any) -> str:
    figure.update_layout(template="plotly_white", margin={"l": 60, "r": 20, "t": 20, "b": 40})
    figure.update_xaxes(type="date")
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config=_CONFIG))


def _line(at: datetime) -> dict[str, Any]:
    style = {"width": 1, "color": "#888", "dash": "dot"}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": style}


def _shade(since: datetime, until: datetime) -> dict[str, Any]:
    paint = {"fillcolor": "#b00020", "opacity": 0.15, "layer": "below", "line": {"width": 0}}
    return {"type": "rect", "xref": "x", "yref": "paper", "x0": since, "x1": until, "y0": 0, "y1": 1, **paint}


def _by_worker(group: GroupHistory, rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(group.called(row["member_id"]), []).append(row)
    return sorted(found.items())


def _sums(changes: Sequence[tuple[datetime, int]], moments: Sequence[datetime]) -> list[int]:
    """How much the worker had at each moment."""
    times, sums = [at for at, _ in changes], [0]
    for _, change in changes:
        sums.append(sums[-1] + change)
    return [sums[bisect_right(times, moment)] for moment in moments]


def _ms(since: datetime, until: datetime) -> float:
    return max(until - since, timedelta(milliseconds=1)) / timedelta(milliseconds=1)


def _clock(at: datetime | None) -> str:
    return "now" if at is None else at.strftime("%Y-%m-%d %H:%M:%S")
