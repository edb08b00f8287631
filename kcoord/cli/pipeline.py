"""`kcoord pipeline`: tables made from the log by Spark, and what can be evaluated from them.

The log is found as by `kcoord log`: by the settings that `kcoord serve` takes.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import USAGE, fail
from kcoord.cli.lab import lab
from kcoord.cli.log import Config, DataDir, LogBootstrap, Setting, Topic, log_settings
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
from kcoord.cli.whatif import whatif
from kcoord.pipeline.failure import INSTALL

if TYPE_CHECKING:
    from kcoord.cli.output.spark_progress import Progress
    from kcoord.pipeline.spark.history import Outcome
    from kcoord.pipeline.spark.sources import Source
    from kcoord.pipeline.spark.store import Store
    from kcoord.settings_sources import Settings

app = typer.Typer(
    no_args_is_help=True, help="Make tables from the log with Spark (pip install '.[spark]'), and evaluate them."
)


@app.callback()
def _pipeline() -> None:
    pass


@app.command("history")
def history(
    out: Annotated[str, typer.Option(metavar="DIR", help="Where to write the tables: a directory, or a URI.")],
    data_dir: DataDir = None,
    log_bootstrap: LogBootstrap = None,
    topic: Topic = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Read only what is new since the last time (for a log in a topic).")
    ] = False,
    every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=1, help="With --stream: repeat at this interval, until Ctrl-C."),
    ] = None,
    table_format: Format = TableFormat.PARQUET,
    master: Master = LOCAL,
    conf: Conf = None,
    kafka_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting for Kafka's Java client, with which Spark reads the topic. May be given several times.",
        ),
    ] = None,
    option: Setting = None,
    config: Config = None,
) -> None:
    """Make tables of the log: epochs, rebalances, who ran what and when, gaps, and an audit.

    docs/pipeline.md explains the tables. The same log gives the same tables. Tables that were there are replaced.
    """
    from kcoord.cli.output.spark_progress import Progress
    from kcoord.pipeline.failure import PipelineError
    from kcoord.pipeline.spark.remote_place import check_answers, usable
    from kcoord.pipeline.spark.session import is_local, session
    from kcoord.pipeline.spark.store import Store

    if every is not None and not stream:
        fail("--every needs --stream", USAGE)
    settings = log_settings(data_dir, log_bootstrap, topic, option, config)
    kafka = settings.log == "kafka"
    if stream and not kafka:
        fail("--stream is for a log in a topic; a log in a file is always read as a whole", USAGE)
    spark_settings, client = pairs(conf, "--conf"), pairs(kafka_option, "--kafka-option")
    try:
        source = _source(settings, client)
        check_answers(out, spark_settings)
        log, shared = spark_log(out), shared_files(out)
        is_delta = table_format is TableFormat.DELTA
        by_spark = stream or bool(client) or is_delta or "://" in out or not is_local(master)
        with Progress() as progress:
            progress.say("starting Spark")
            with session(
                master,
                log,
                kafka=kafka and by_spark,  # otherwise its tasks read the topic without Spark's module for Kafka
                delta=is_delta,
                settings=spark_settings,
                shared=shared,
                say=progress.say,
            ) as spark:
                progress.watch(spark)
                with usable(out):
                    store = Store(spark, place_of(out), format=table_format.value)
                    outcome = _run(store, source, progress, stream=stream, every_s=every)
    except PipelineError as error:
        fail(error)
    print(_told(outcome, out))


@app.command("report")
def report(
    tables: TablesPlace,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    group: Annotated[
        list[str] | None,
        typer.Option("-g", "--group", metavar="ID", help="Only this group. May be given several times."),
    ] = None,
    table_format: Format = TableFormat.PARQUET,
    master: Master = LOCAL,
    conf: Conf = None,
) -> None:
    """Make one HTML page from the tables: who owned what, why the group rebalanced, the worst gaps, who caused most.

    The page needs no server and no network. The command starts Spark only for tables at a URI, or in Delta's format.
    """
    from kcoord.cli.output.spark_progress import Progress
    from kcoord.pipeline.failure import PipelineError

    try:
        from kcoord.pipeline.report.page import page
        from kcoord.pipeline.report.reading import read
        from kcoord.pipeline.spark.spark_tables import readable
    except ImportError as error:
        fail(f"a package that draws the page is not installed here ({error}): {INSTALL}")
    settings = pairs(conf, "--conf")
    try:
        with (
            Progress() as progress,
            readable(tables, table_format.value, master, scratch_log(), settings, progress.say) as found,
        ):
            histories = read(found, group or ())
    except PipelineError as error:
        fail(error)
    try:
        with out.open("w", encoding="utf-8") as file:
            file.writelines(page(histories))
    except OSError as error:
        fail(f"{out} cannot be written: {error}")
    count = len(histories.groups)
    print(f"{count:,} {'group' if count == 1 else 'groups'} in {out}")


app.command("lab")(lab)
app.command("whatif")(whatif)


def _run(store: "Store", source: "Source", progress: "Progress", *, stream: bool, every_s: float | None) -> "Outcome":
    from kcoord.pipeline.spark.history import run_batch, run_stream
    from kcoord.pipeline.spark.sources import TopicSource

    if stream:
        assert isinstance(source, TopicSource)
        return run_stream(store, source, progress.say, every_s=every_s)
    return run_batch(store, source, progress.say)


def _source(settings: "Settings", client: dict[str, str]) -> "Source":
    from kcoord.log.interface import LogError
    from kcoord.pipeline.failure import PipelineError
    from kcoord.pipeline.spark.sources import FileSource, TopicSource
    from kcoord.server.startup.log_opening import kafka_log_settings

    if settings.log == "embedded":
        return FileSource.look(settings.data_dir)
    try:
        return TopicSource.look(kafka_log_settings(settings), client)
    except (LogError, ValueError) as error:
        raise PipelineError(str(error)) from None


def _told(outcome: "Outcome", out: str) -> str:
    lost = f", {outcome.quarantined:,} that cannot be read (quarantine)" if outcome.quarantined else ""
    audit = f"{outcome.findings:,} findings" if outcome.findings else "nothing found"
    return f"{outcome.records:,} records{lost}; audit: {audit}. The tables are in {out}"
