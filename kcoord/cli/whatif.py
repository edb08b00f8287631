"""`kcoord pipeline whatif`: a group's recorded history, replayed under other policies and delays, with drains, or with
placement rules; and which delay to set.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.cli.lab import figure, rules_of, without_empty_columns
from kcoord.cli.scenario import Kind, Policy, Restart
from kcoord.cli.spark_options import (
    LOCAL,
    Conf,
    Format,
    Master,
    TableFormat,
    TablesPlace,
    pairs,
    place_of,
    scratch_log,
    shared_files,
    spark_log,
)
from kcoord.cli.whatif_consumers import AssignorOption, replayed_consumers
from kcoord.pipeline.failure import INSTALL
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.cli.output.spark_progress import Progress
    from kcoord.pipeline.whatif.advice import Advice, Choice, Outcome
    from kcoord.pipeline.whatif.agreement import Disagreement
    from kcoord.pipeline.whatif.logged import Logged
    from kcoord.pipeline.whatif.question import Question

LONGEST_DELAY_S = 3_600
SHOWN = 20
"""How many choices are shown, best first. The table has all of them."""
FOR_CONSUMERS = frozenset({"tables", "group", "assignor", "interval", "table_format", "master", "conf"})
"""The options that say something about a group of consumers."""
PIECES = 3
"""How many pieces are named where a replay and the log disagree, worst first."""


def whatif(
    context: typer.Context,
    tables: TablesPlace,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where to write the table of all runs: a directory, or a URI. Needed for a group of Connect workers.",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option("-g", "--group", metavar="ID", help="The group; needed if there are several.")
    ] = None,
    kind: Annotated[
        list[Kind] | None,
        typer.Option(
            help="The kind of group to try. May be given several times.  [default: the recorded kind; "
            "for barrier also individual]"
        ),
    ] = None,
    policy: Annotated[
        list[Policy] | None,
        typer.Option(
            help="The policy to try. May be given several times.  [default: the recorded one; with "
            "kcoord's workers also designs I to III]"
        ),
    ] = None,
    delay: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SECONDS",
            help="The delay to try. May be given several times.  [default: usual delays, and those that fit the "
            "workers' absences]",
        ),
    ] = None,
    restart: Annotated[
        list[Restart] | None,
        typer.Option(
            help="How workers go that stopped or died. drain: drain all of them first; drain-stops: drain only "
            "those that stopped cleanly, because nobody can drain a worker that crashes; stop, kill: stop "
            "or kill all of them. May be given several times; shown beside how they really went."
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Placement rules, as for kcoord placement apply. May be given several times; shown beside no rules.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="How many runs of each choice.")] = 10,
    was_policy: Annotated[
        Policy | None,
        typer.Option("--was-policy", help="The policy by which the group really assigned.  [default: as the log says]"),
    ] = None,
    was_delay: Annotated[
        float | None,
        typer.Option(
            "--was-delay",
            metavar="SECONDS",
            min=0,
            help="How long lost work really waited.  [default: as the log says]",
        ),
    ] = None,
    session: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.1, help="The session timeout.  [default: as the log says]")
    ] = None,
    heartbeat: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0.1, help="How often workers heartbeat.  [default: 3; with kcoord's workers 5]"
        ),
    ] = None,
    start: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long a task takes to start; no log says that.")
    ] = 1.0,
    stop: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0, help="How long a task takes to stop.  [default: as seen in the log, or 1]"
        ),
    ] = None,
    assignor: Annotated[
        list[AssignorOption] | None,
        typer.Option(help="For a consumer group: the assignor to try. May be given several times.  [default: all]"),
    ] = None,
    interval: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SECONDS",
            help="For a consumer group: the assignment interval to try. May be given several times.  "
            "[default: 0, 1, 5 and 15]",
        ),
    ] = None,
    table_format: Format = TableFormat.PARQUET,
    master: Master = LOCAL,
    conf: Conf = None,
) -> None:
    """Replay a group's recorded history under other policies and delays, and recommend a delay.

    With --restart drain it also shows what the history would have cost if all workers had been drained before they
    went; with --restart drain-stops, if those had been drained that stopped cleanly, but not those that died.

    The tables of kcoord pipeline history say which workers came, went and died, and what was configured at which time.
    The output says what each choice would have cost (the median and the range of the seeds), what it would have saved,
    and how well the replay of what was really run agrees with the log.

    For a consumer group it says how many partitions each assignor and each assignment interval would have moved.
    """
    from kcoord.cli.output.spark_progress import Progress
    from kcoord.pipeline.failure import PipelineError
    from kcoord.sim.scenario import Kind as GroupKind
    from kcoord.sim.scenario import Restart as HowToGo

    for each in [*(delay or ()), *([] if was_delay is None else [was_delay])]:
        if not 0 <= each <= LONGEST_DELAY_S:
            fail(f"a delay of {each:g} is not between 0 and {LONGEST_DELAY_S:,} seconds", USAGE)
    settings = pairs(conf, "--conf")
    try:
        from kcoord.pipeline.spark.spark_tables import readable
        from kcoord.pipeline.whatif.question import Asked, question
        from kcoord.pipeline.whatif.reading import consumers_to_replay, read
    except ImportError as error:
        fail(f"a package that reads the tables is not installed here ({error}): {INSTALL}")
    told, chosen = "", None
    try:
        with (
            Progress() as progress,
            readable(tables, table_format.value, master, scratch_log(), settings, progress.say) as source,
        ):
            consumers = consumers_to_replay(source, group)
            if consumers is not None:
                _check_for_consumers(context, consumers)
                told = replayed_consumers(source, consumers, [each.value for each in assignor or ()], interval or ())
            elif assignor or interval:
                fail("--assignor and --interval are for consumer groups", USAGE)
            elif out is None:
                fail("--out is missing: where to write the table of all runs", USAGE)
            else:
                chosen = read(source, group)
    except PipelineError as error:
        fail(error)
    if chosen is None or out is None:
        print(told, end="")
        return
    group, found = chosen
    asked = Asked(
        kinds=[GroupKind(each) for each in kind or ()],
        policies=[each.value for each in policy or ()],
        delays=delay or (),
        restarts=[HowToGo(each) for each in restart or ()],
        rules=rules_of(rules),
        seeds=seeds,
        policy=None if was_policy is None else was_policy.value,
        delay=was_delay,
        session=session,
        heartbeat=heartbeat,
        start=start,
        stop=stop,
    )
    try:
        wanted = question(found, asked)
        with Progress() as progress:
            advice = _replayed(wanted, out, master, settings, progress)
    except PipelineError as error:
        fail(error)
    print(shown(printable(group), wanted, advice, wanted.logged_by_episode(found)), end="")
    print(f"{len(wanted.cells):,} runs. The table of all is in {out}/whatif")
    if any(each.doubles for each in advice.outcomes):
        fail("two workers had the same task at once in a run, which is a bug in kcoord: see `doubles`", FAILED)


def _check_for_consumers(context: typer.Context, group: str) -> None:
    """Ends the command if options were given that say nothing about a group of consumers."""
    needless = [f"--{each.replace('_', '-')}" for each in _given(context) - FOR_CONSUMERS]
    if needless:
        fail(
            f"{printable(group)} is a group of consumers: it has assignors (--assignor) and assignment "
            f"intervals (--interval). These options are for Connect workers: {', '.join(sorted(needless))}",
            USAGE,
        )


def _given(context: typer.Context) -> frozenset[str]:
    """The options of the command line."""
    sources = {each: context.get_parameter_source(each) for each in context.params}
    return frozenset(each for each, source in sources.items() if source is not None and source.name == "COMMANDLINE")


def _replayed(wanted: "Question", out: str, master: str, settings: dict[str, str], progress: "Progress") -> "Advice":
    from kcoord.pipeline.failure import PipelineError
    from kcoord.pipeline.schemas import WHATIF
    from kcoord.pipeline.spark.remote_place import check_answers, usable
    from kcoord.pipeline.spark.session import session
    from kcoord.pipeline.spark.store import Store
    from kcoord.pipeline.spark.whatif import replay_all
    from kcoord.pipeline.whatif.advice import NotReplayed, advise

    check_answers(out, settings)
    progress.say("starting Spark")
    episodes = {each.name: each for each in wanted.episodes}
    with session(
        master, spark_log(out), kafka=False, settings=settings, shared=shared_files(out), say=progress.say
    ) as spark:
        progress.watch(spark)
        with usable(out):
            rows = replay_all(Store(spark, place_of(out), (WHATIF,)), episodes, wanted.cells, progress.say)
    try:
        return advise(rows, wanted.recorded)
    except NotReplayed as error:
        raise PipelineError(f"nothing could be replayed: {error}") from None


# -- what is shown -----------------------------------------------------------------------------------------------------


def shown(group: str, wanted: "Question", advice: "Advice", recorded: "Mapping[str, Logged]") -> str:
    """All results as text. `recorded`: what the log says of each piece."""
    from kcoord.pipeline.whatif.agreement import disagreements

    apart = disagreements(advice, wanted, recorded)
    recommended = None if apart else advice.recommended
    parts = [_heading(group, wanted), _table(advice, recommended)]
    parts.append(_refusal(apart, wanted.away_ms() / 1000) if apart else _recommendation(wanted, advice))
    parts += [_ways(wanted, advice), _check(advice, {name: recorded[name] for name in advice.pieces}.values())]
    parts += [f"Not replayed: {each}\n" for each in advice.failed]
    return "\n".join(each for each in parts if each)


def _heading(group: str, wanted: "Question") -> str:
    fleet, fitted, episodes = wanted.fleet, wanted.fitted, wanted.episodes
    changes = [event.do.value for each in episodes for event in each.scenario.events]
    went = f"{changes.count('stop'):,} workers stopped, {changes.count('kill'):,} died"
    run = "unknown" if wanted.recorded is None else f"{wanted.recorded.kind} by {wanted.recorded.policy}"
    mixed = ", at times another kind" if fleet.is_mixed else ""
    slow = [f"{name} takes {times:.0f} times as long to stop" for name, times in sorted(fleet.stopping.workers.items())]
    slow += [f"{name} takes {ms / 1000:.0f} s to stop" for name, ms in sorted(fleet.stopping.connectors_ms.items())]
    return (
        f"{group}: {len(changes):,} changes ({went}) from {_time(episodes[0].from_ms)} to {_time(episodes[-1].to_ms)} "
        f"(UTC), in {len(episodes):,} pieces. "
        f"Really run: {run}{mixed}, delay {fitted.delay:g} s, session {fitted.session:g} s. "
        f"Tasks start in {fitted.start:g} s and stop in {fitted.stop:.3g} s{''.join(f'; {each}' for each in slow)}.\n"
    )


def _table(advice: "Advice", recommended: "Outcome | None") -> str:
    rows = []
    for each in advice.outcomes[:SHOWN]:
        saved = advice.saved(each)
        notes = [
            note for note, which in (("as recorded", advice.recorded), ("recommended", recommended)) if each is which
        ]
        figures, choice = each.figures, each.choice
        rows.append(
            (
                choice.kind.value,
                choice.policy,
                f"{choice.delay:g} s",
                choice.restart or "",
                choice.rules or "",
                figure(figures["stopped"], 0, " s"),
                "" if recommended is None else "-" if saved is None else f"{saved:,.0f} s",
                figure(figures["longest_gap"], 1, " s"),
                figure(figures["moved"], 0),
                figure(figures["rebalances"], 0),
                ", ".join(notes),
            )
        )
    left = len(advice.outcomes) - SHOWN
    varied, figures_of = ("GROUP", "POLICY", "DELAY", "RESTART", "RULES"), ("STOPPED", "SAVED", "LONGEST GAP", "MOVED")
    return without_empty_columns((*varied, *figures_of, "REBALANCES", ""), rows) + (
        f"and {left:,} more, which are worse\n" if left > 0 else ""
    )


def _refusal(apart: "Sequence[Disagreement]", away_s: float) -> str:
    """The text that nothing is recommended, and where and by how much the replays and the log differ."""
    from kcoord.pipeline.whatif.agreement import FIGURES

    said = ["Nothing is recommended: the replays of what was really run and the recorded log disagree.\n"]
    for each in apart:
        what, unit = FIGURES[each.figure]
        digits = 1 if each.figure == "longest_unowned" else 0
        where = [
            f"{name}: {figure(spread, digits)}{unit} and {value:,.{digits}f}{unit}"
            for name, spread, value in each.pieces[:PIECES]
        ]
        left = len(each.pieces) - len(where)
        more = f", and {left:,} more pieces" if left > 0 else ""
        said.append(
            f"  {what}: {figure(each.replayed, digits)}{unit} in the replays, {each.recorded:,.{digits}f}{unit} "
            f"in the log (up to {each.allowed:,.{digits}f}{unit} apart would count as agreement). "
            + (f"By pieces, from (UTC) {'; '.join(where)}{more}.\n" if where else "\n")
        )
    if away_s:
        said.append(
            f"The coordinator was away for {away_s:,.0f} s of that time. The replays know neither that nor what "
            "workers did then.\n"
        )
    said.append(
        "The replays may assume something that was not so. Say what it was with --was-policy, --was-delay, "
        "--session, --heartbeat and --stop.\n"
    )
    return "".join(said)


def _recommendation(wanted: "Question", advice: "Advice") -> str:
    from kcoord.pipeline.whatif.advice import reason

    chosen, best = advice.recommended, advice.best
    saved = advice.saved(chosen)
    said = f"Recommended: a delay of {chosen.choice.delay:g} s"
    if advice.recorded is None:
        said += f" with {chosen.choice.kind} by {chosen.choice.policy}"
    elif chosen is advice.recorded:
        said += ", as it was"
    elif saved is not None:
        said += f", not {advice.recorded.choice.delay:g} s: it would have saved {_saved(advice, chosen)}"
    said += f". {reason(advice, *wanted.fleet.absences_ms())}\n"
    if advice.recorded is not None and best is not chosen and best.stopped.greatest < chosen.stopped.least:
        said += f"Better than any delay alone: {_words(best.choice)}, would have saved {_saved(advice, best)}.\n"
    return said


def _ways(wanted: "Question", advice: "Advice") -> str:
    """What each way to restart and each file of rules would have cost, by the best choice of each."""
    best: dict[tuple[str | None, str | None], Outcome] = {}
    for each in advice.outcomes:
        if each.choice.restart or each.choice.rules:
            best.setdefault((each.choice.restart, each.choice.rules), each)
    said = [_beside(each, advice.recorded) for each in best.values()]
    if any(restart == "drain-stops" for restart, _ in best) and not any(
        event.do.value == "stop" for each in wanted.episodes for event in each.scenario.events
    ):
        said.append(
            "With restart drain-stops nothing was drained: no worker stopped cleanly. If workers that died were "
            "killed to be restarted, --restart drain says what drains would have saved."
        )
    return "".join(f"{each}\n" for each in said)


def _beside(outcome: "Outcome", recorded: "Outcome | None") -> str:
    def told(name: str, what: str, digits: int = 0) -> str:
        instead = "" if recorded is None else f" instead of {recorded.figures[name].middle:,.{digits}f}"
        return f"{outcome.figures[name].middle:,.{digits}f}{instead} {what}"

    return (
        f"With {_words(outcome.choice)}: {told('stopped', 'task-seconds stopped')}, a longest gap of "
        f"{told('longest_gap', 's', 1)}, {told('moved', 'moved')}, {told('rebalances', 'rebalances')}."
    )


def _words(choice: "Choice") -> str:
    restart = "" if choice.restart is None else f", restart {choice.restart}"
    rules = "" if choice.rules is None else f", rules {choice.rules}"
    return f"{choice.kind} by {choice.policy}, delay {choice.delay:g} s{restart}{rules}"


def _saved(advice: "Advice", outcome: "Outcome") -> str:
    recorded = advice.recorded
    assert recorded is not None
    middle = recorded.stopped.middle - outcome.stopped.middle
    least, greatest = (
        recorded.stopped.least - outcome.stopped.greatest,
        recorded.stopped.greatest - outcome.stopped.least,
    )
    return f"{middle:,.0f} of {recorded.stopped.middle:,.0f} task-seconds ({least:,.0f} to {greatest:,.0f})"


def _check(advice: "Advice", pieces: "Iterable[Logged]") -> str:
    from kcoord.pipeline.whatif.logged import total

    recorded = total(pieces)
    if advice.recorded is None:
        return (
            "The fleet ran none of these policies, so kcoord cannot say how well a replay agrees with the log. "
            "See --was-policy.\n"
        )
    figures = advice.recorded.figures
    return (
        "How well the replays agree: with what was really run their logs say that tasks had nobody for "
        f"{figure(figures['unowned'], 0)} s, the recorded log says {recorded.unowned:,.0f} s; handed over "
        f"{figure(figures['handed_over'], 0)} and {recorded.handed_over:,}; epochs {figure(figures['epochs'], 0)} and "
        f"{recorded.epochs:,}.\n"
    )


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
