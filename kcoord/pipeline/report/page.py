"""The HTML page of the report. Everything from the tables is escaped, and nothing is loaded from anywhere.

For each group it first answers what somebody asks who was woken by it: what was the last rebalance, why, what moved,
how long did it take, and which were the worst. After that it shows the group over time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import escape

from kcoord.pipeline.history.causes import causes
from kcoord.pipeline.report import figures
from kcoord.pipeline.report.costs import OUTAGE, Cost, Costs, Move, costs, length_ms, moves, rest_ms
from kcoord.pipeline.report.member_words import unowned_in
from kcoord.pipeline.report.reading import GroupHistory, Histories, Row
from kcoord.resource import tell

GROUPS, LISTED, WORST = 20, 500, 20
"""How many groups are shown, how many are listed, and how many lines each list of a group has."""
STAYS = 20_000
"""How many bars the whole page has."""
PAIRS, NAMES = 8, 12
"""Of what moved: how many pairs of workers are shown, and how many names for each."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1240px; margin: 2em auto; padding: 0 1em; color: #222; }
h2 { margin-top: 2.5em; border-bottom: 1px solid #ccc; overflow-wrap: anywhere; } h3 { margin: 1.6em 0 0.3em; }
table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
td, th { padding: 0.2em 0.8em; text-align: left; border-bottom: 1px solid #eee; vertical-align: top; }
td { overflow-wrap: anywhere; min-width: 4em; } th { font-weight: 600; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; min-width: 0; } td.n { white-space: nowrap; }
.bad { color: #b00020; } .quiet { color: #666; } .said { margin: 0.2em 0; }
summary { cursor: pointer; } time { white-space: nowrap; }
"""


class Html(str):
    """Text that must not be escaped."""

    __slots__ = ()


def page(histories: Histories) -> Iterator[str]:
    """The page, part by part."""
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kcoord: what the groups did</title>'
    yield f'<link rel="icon" href="data:,"><style>{_STYLE}</style><script>{figures.library()}</script></head><body>'
    yield "<h1>What the groups did</h1>"
    cost = [costs(each) for each in histories.groups[:LISTED]]
    yield from _summary(histories, cost)
    shown = histories.groups[:GROUPS]
    for number, group in enumerate(shown):
        yield from _group(number, group, cost[number], min(figures.INTERVALS, STAYS // len(shown)))
    yield "</body></html>\n"


def _summary(histories: Histories, cost: Sequence[Costs]) -> Iterator[str]:
    if not histories.groups:
        yield "<p>There are no groups in these tables: the log that they were made from has none.</p>"
    left = len(histories.groups) - GROUPS
    if left > 0:
        told = f"The {GROUPS} groups with most rebalances are shown below, and {left:,} are not: --group names others."
        yield f'<p class="quiet">{told}</p>'
    if histories.quarantined:
        yield f'<p class="bad">{histories.quarantined:,} records cannot be read: see the table quarantine.</p>'
    if histories.groups:
        unowned = unowned_in(each.words for each in histories.groups[:LISTED])
        yield _table(
            ("group", "kind", "#members now", "#rebalances", "last one", *_cost(unowned), "#findings of the audit"),
            (
                (_link(number, each.group_id), _kind(each), _members(each), len(each.rebalances),
                 _at(each.rebalances[-1]["started"]) if each.rebalances else "", *_told(cost[number].total),
                 len(each.audit))
                for number, each in enumerate(histories.groups[:LISTED])
            ),
        )  # fmt: skip
    if len(histories.groups) > LISTED:
        yield f'<p class="quiet">{LISTED} of {len(histories.groups):,} groups are in this list.</p>'


def _group(number: int, group: GroupHistory, cost: Costs, stays: int) -> Iterator[str]:
    yield f'<h2 id="g{number}">{escape(group.group_id)}</h2>'
    if group.span is not None:
        yield f'<p class="quiet">{_at(group.span[0])} to {_at(group.span[1])} (UTC)</p>'
    moved, words = moves(group), group.words
    yield from _audit(group)
    yield from _last(group, cost, moved)
    if cost.by_reason:
        yield "<h3>Why it rebalanced</h3>" + _table(
            ("reason", "#rebalances", *_cost(words.unowned)),
            ((reason, each.rebalances, *_told(each)) for reason, each in cost.by_reason[:WORST]),
        )
    if group.outages:
        yield "<h3>When the coordinator was away</h3>" + _outages(group, cost)
        yield _said(_OF_OUTAGES.format(words=words), [])
    line, left_out = figures.time_line(group, stays)
    if line:
        yield f"<h3>Who could be {words.could_be} what</h3>" + line
        shaded = " In the shaded time the coordinator was away." if group.outages else ""
        yield _said(f"A dotted line is the beginning of a rebalance.{shaded}", left_out)
        if any("changed hands" in each for each in left_out):
            heat, left_out = figures.shares(group)
            yield f"<h3>How much each {words.member} had</h3>" + heat + _said("", left_out)
    if group.rebalances:
        plot, left_out = figures.rebalances(group, cost)
        yield "<h3>Rebalances</h3>" + plot
        yield _said("The larger, the more was stopped or lost. Gaps that a rebalance began are counted in.", left_out)
        yield from _rebalances(group, cost, moved)
    if cost.by_worker:
        yield f"<h3>{words.members.capitalize()} that caused most</h3>" + _table(
            (words.member, "#rebalances", *_cost(words.unowned)),
            ((worker, each.rebalances, *_told(each)) for worker, each in cost.by_worker[:WORST]),
        )
        yield _said(f"The {words.members} that the reasons name. What two of them caused together counts for both.", [])
    if group.gaps:
        yield "<h3>The longest gaps</h3>" + _gaps(group)
    if group.balance:
        plot, left_out = figures.balance(group)
        yield "<h3>Balance</h3>" + plot + _said("", left_out)


def _audit(group: GroupHistory) -> Iterator[str]:
    if group.audit:
        yield '<h3 class="bad">What must never be</h3>' + _table(
            ("finding", "since", "until", "what"),
            ((row["finding"], _at(row["at"]), _at(row["until"]), row["what"]) for row in group.audit[:WORST]),
        )
        if len(group.audit) > WORST:
            yield _said(f"The first {WORST} of {len(group.audit):,} are shown.", [])


def _last(group: GroupHistory, cost: Costs, moved: Sequence[Sequence[Move]]) -> Iterator[str]:
    """The last rebalance, in one line."""
    if not group.rebalances:
        yield '<p class="said">It did not rebalance.</p>'
        return
    row, its = group.rebalances[-1], cost.of[-1]
    rest = "It is not at rest yet" if row["settled"] is None else f"It was at rest after {_seconds(group, row)} s"
    gap = f"; for {its.longest_ms / 1000:,.2f} s something {group.words.ran_nowhere}" if its.longest_ms else ""
    count = sum(len(each.resources) for each in moved[-1])
    yield (
        f'<p class="said"><b>The last rebalance</b>, of {_at(row["started"])}: {escape(_why(group, row))}. '
        f"{rest}{gap}; {row['stopped']:,} stopped, {row['lost']:,} lost, {count:,} started.</p>"
    )
    if row["members"] == 0:
        yield '<p class="said">It has no members left.</p>'


_WAS_AWAY = "; the coordinator had been away"
_OF_OUTAGES = (
    "What {words.nobody_ran} in that time, and what changed when {words.members} came back, is counted here, and not "
    "for the rebalances and {words.members} before and after. No log says what {words.members} stopped by themselves "
    "meanwhile."
)


def _outages(group: GroupHistory, cost: Costs) -> str:
    pairs = list(zip(group.outages, cost.by_outage, strict=True))
    return _table(
        ("from", "until", "#seconds", "#rebalances when it was back", *_cost(group.words.unowned)),
        (
            (_at(each.from_at), _at(each.to_at), f"{each.length_ms / 1000:,.2f}", its.rebalances, *_told(its))
            for each, its in pairs[: -WORST - 1 : -1]
        ),
    )


def _rebalances(group: GroupHistory, cost: Costs, moved: Sequence[Sequence[Move]]) -> Iterator[str]:
    everything = list(zip(group.rebalances, cost.of, moved, cost.is_of_outage, strict=True))
    latest = everything[: -WORST - 1 : -1]
    few = len(everything) <= WORST
    yield f"<h4>{'All' if few else f'The latest {WORST}'}, the last one first</h4>" + _listed(group, latest)
    if not few:
        worst = sorted(everything, key=lambda each: (each[1].order, -(each[0]["duration_ms"] or 0)))
        yield f"<h4>The worst {WORST} of {len(everything):,}</h4>" + _listed(group, worst[:WORST])


def _listed(group: GroupHistory, rows: Iterable[tuple[Row, Cost, Sequence[Move], bool]]) -> str:
    return _table(
        ("#epoch", "started", "reason", "#seconds until at rest", *_cost(group.words.unowned), "what moved"),
        (
            (row["epoch"], _at(row["started"]), _why(group, row) + (_WAS_AWAY if is_of_outage else ""),
             _seconds(group, row), *_told(its), _moved(moved))
            for row, its, moved, is_of_outage in rows
        ),
    )  # fmt: skip


def _moved(moved: Sequence[Move]) -> Html:
    count = sum(len(each.resources) for each in moved)
    if not count:
        return Html()
    lines = []
    for each in moved[:PAIRS]:
        what = ", ".join(figures.short(tell(resource)) for resource in each.resources[:NAMES])
        more = f" and {len(each.resources) - NAMES:,} more" if len(each.resources) > NAMES else ""
        giver, taker = figures.short(each.giver or "nobody"), figures.short(each.taker)
        way = f"{taker} again" if each.giver == each.taker else f"{giver} → {taker}"
        lines.append(escape(f"{way}: {what}{more}"))
    if len(moved) > PAIRS:
        lines.append(f"and between {len(moved) - PAIRS:,} more pairs")
    return Html(f"<details><summary>{count:,}</summary>{'<br>'.join(lines)}</details>")


def _gaps(group: GroupHistory) -> str:
    span = group.span
    assert span is not None
    longest = sorted(group.gaps, key=lambda row: -length_ms(row, span[1]))
    return _table(
        ("what", "since", "#seconds", "from", "to", "because"),
        (
            (figures.short(figures.named(row)), _at(row["from_at"]), f"{length_ms(row, span[1]) / 1000:,.2f}",
             "nobody" if row["from_member"] is None else group.called(row["from_member"]),
             "goes on" if row["to_at"] is None else _taker(group, row),
             _because(group, row))
            for row in longest[:WORST]
        ),
    )  # fmt: skip


def _because(group: GroupHistory, row: Row) -> str:
    span = group.span
    assert span is not None
    away_ms = group.away_ms(row["from_at"], row["to_at"] or span[1])
    return f"{row['reason']}; {OUTAGE} for {away_ms / 1000:,.2f} s of it" if away_ms else str(row["reason"] or "")


def _taker(group: GroupHistory, row: Row) -> str:
    return "removed" if row["to_member"] is None else group.called(row["to_member"])


def _cost(unowned: str) -> tuple[str, ...]:
    """The headers of a cost; `unowned`: the unit of the sum of all gaps."""
    return "#stopped", "#for nothing", "#lost", f"#{unowned}", "#longest gap, s"


def _told(cost: Cost) -> tuple[object, ...]:
    return (cost.stopped, cost.returned, cost.lost, f"{cost.gaps_ms / 1000:,.1f}", f"{cost.longest_ms / 1000:,.2f}")


def _why(group: GroupHistory, row: Row) -> str:
    """The whole reason, with members by the names that the page uses elsewhere."""
    detail = str(row["detail"] or "no reason is known")
    named = sorted({each for _, members in causes(row["detail"]) for each in members}, key=len, reverse=True)
    if not named:
        return detail
    whole = rf"(?<=[:,] )(?:{'|'.join(map(re.escape, named))})(?=,|;| |$)"
    return re.sub(whole, lambda found: group.called(found[0]), detail)


def _kind(group: GroupHistory) -> str:
    return str(group.rebalances[-1]["kind"]) if group.rebalances else ""


def _members(group: GroupHistory) -> int:
    return sum(row["to_at"] is None for row in group.sessions)


def _link(number: int, group_id: str) -> Html:
    name = escape(figures.short(group_id))
    return Html(f'<a href="#g{number}">{name}</a>' if number < GROUPS else name)


def _said(text: str, left_out: Sequence[str]) -> str:
    told = " ".join([text, *(f"{each[0].upper()}{each[1:]}." for each in left_out)]).strip()
    return f'<p class="quiet">{escape(told)}</p>' if told else ""


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table. A column whose name begins with # holds numbers."""
    kinds = [' class="n"' if each.startswith("#") else "" for each in columns]
    head = "".join(f"<th{kind}>{escape(each.lstrip('#'))}</th>" for each, kind in zip(columns, kinds, strict=True))
    lines = ("".join(f"<td{kind}>{_cell(each)}</td>" for each, kind in zip(row, kinds, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Html):
        return value
    return escape(f"{value:,}" if isinstance(value, int) else str(value))


def _seconds(group: GroupHistory, row: Row) -> str:
    """How long a rebalance took, without the time in which the coordinator was away."""
    took_ms = rest_ms(group, row)
    return "not yet" if took_ms is None else f"{took_ms / 1000:,.2f}"


def _at(at: datetime | None) -> Html:
    return Html() if at is None else Html(f"<time>{at.strftime('%Y-%m-%d %H:%M:%S')}</time>")
