"""`kcoord log`: read the log and check it, also beside a running server.

The log is found by the same settings as for `kcoord serve`, from the same places: flags, `-o`, environment, `--config`.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.log.history import History
    from kcoord.settings_sources import Settings

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, help="Read the log of records, and check that it is sound.")

DataDir = Annotated[str | None, typer.Option(metavar="DIR", help="Where kcoord keeps its records.  [default: data]")]
LogBootstrap = Annotated[
    str | None, typer.Option(metavar="HOST:PORT,...", help="Brokers of the cluster that has the log's topic.")
]
Topic = Annotated[
    str | None, typer.Option("--topic", metavar="NAME", help="The log's topic.  [default: __worker_offsets]")
]
Setting = Annotated[
    list[str] | None,
    typer.Option("-o", metavar="NAME=VALUE", help="Any setting (see: kcoord settings), such as log.sasl.username=…"),
]
Config = Annotated[Path | None, typer.Option(metavar="FILE", envvar="KCOORD_CONFIG", help="Settings from a TOML file.")]
Partitions = Annotated[
    list[int] | None,
    typer.Option("-p", "--partition", metavar="N", min=0, help="Only this partition. May be given several times."),
]


@app.command("dump")
def dump_log(
    data_dir: DataDir = None,
    log_bootstrap: LogBootstrap = None,
    topic: Topic = None,
    partition: Partitions = None,
    group: Annotated[
        list[str] | None,
        typer.Option("-g", "--group", metavar="ID", help="Only records of this group. May be given several times."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Keep printing new records as they are written.")
    ] = False,
    option: Setting = None,
    config: Config = None,
) -> None:
    """Print the records as JSON lines, in the order of each partition.

    Each line has the partition, the offset, the time, the record's type, its key and its value, with the names of the
    fields. A value of null is a tombstone. Bytes are in base64. A record that cannot be decoded is printed in base64,
    with the reason.
    """
    from kcoord.cli.output import log_output

    history = _history(data_dir, log_bootstrap, topic, option, config)
    _run(log_output.dump(history, partition or [], frozenset(group or ()), follow=follow))


@app.command("verify")
def verify_log(
    data_dir: DataDir = None,
    log_bootstrap: LogBootstrap = None,
    topic: Topic = None,
    partition: Partitions = None,
    option: Setting = None,
    config: Config = None,
) -> None:
    """Replay the log and check that it is sound. If not: exit code 1, and a line for each fault.

    A log is sound if every record can be read and replayed, nothing has two owners after any step, epochs and
    generations never go back, and every group is consistent at the end.
    """
    from kcoord.cli.output import log_output

    history = _history(data_dir, log_bootstrap, topic, option, config)
    if not _run(log_output.verify(history, partition or [])):
        raise typer.Exit(FAILED)


def _history(
    data_dir: str | None, log_bootstrap: str | None, topic: str | None, option: list[str] | None, config: Path | None
) -> "History":
    from kcoord.log.history import FileHistory
    from kcoord.log.interface import LogError
    from kcoord.log.kafka.history import TopicHistory
    from kcoord.server.startup.log_opening import kafka_log_settings

    settings = log_settings(data_dir, log_bootstrap, topic, option, config)
    try:
        if settings.log == "embedded":
            return FileHistory(settings.data_dir)
        return TopicHistory(kafka_log_settings(settings))
    except (LogError, ValueError) as error:
        fail(error)


def log_settings(
    data_dir: str | None, log_bootstrap: str | None, topic: str | None, option: list[str] | None, config: Path | None
) -> "Settings":
    """The settings that name the log. If they are invalid, the command ends."""
    from kcoord.settings_sources import SettingsError, exposed_secrets, former_names, load_settings

    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # the part that matters is in the error
    if data_dir and (log_bootstrap or topic):
        fail(
            "--data-dir is for a log in a file, --log-bootstrap and --topic are for a log in a topic; give only "
            "one kind",
            USAGE,
        )
    flags = {"data_dir": data_dir, "log_bootstrap": log_bootstrap, "log_topic": topic}
    given: dict[str, object] = {field: value for field, value in flags.items() if value}
    if given:
        given["log"] = "embedded" if data_dir else "kafka"
    for warning in exposed_secrets(option or ()):
        print(f"kcoord: {printable(warning)}", file=sys.stderr)
    try:
        settings = load_settings(option or (), given, config)
    except SettingsError as error:
        fail(error, USAGE)
    for warning in former_names(option or (), config):
        print(f"kcoord: {printable(warning)}", file=sys.stderr)
    return settings


def _run(reading: Coroutine[None, None, T]) -> T:
    from kcoord.log.interface import LogError

    try:
        return asyncio.run(reading)
    except LogError as error:
        fail(error)
    except BrokenPipeError:  # the reader of the lines has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
