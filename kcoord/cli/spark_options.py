"""The options that all commands have that start Spark."""

import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kcoord.cli.failure import USAGE, fail

Master = Annotated[str, typer.Option(metavar="URL", help="Spark's master, such as spark://host:7077.")]
LOCAL = f"local[{2 * (os.cpu_count() or 1)}]"
"""This machine, with two tasks for each core: while one waits for its Python or for Kafka, another one works."""
SPARK_LOG = "spark.log"
Conf = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="Any setting of Spark. May be given several times.")
]


class TableFormat(StrEnum):
    """The formats of tables."""

    PARQUET = "parquet"
    DELTA = "delta"


Format = Annotated[TableFormat, typer.Option("--format", help="The format of the tables: of Parquet files, or Delta.")]
TablesPlace = Annotated[
    str, typer.Option(metavar="DIR", help="Where kcoord pipeline history wrote the tables: a directory, or a URI.")
]


def pairs(given: list[str] | None, flag: str) -> dict[str, str]:
    """Parse the values of an option NAME=VALUE that may be given several times."""
    found = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals or not name:
            fail(f"{flag} {each!r} is not of the form NAME=VALUE", USAGE)
        found[name] = value
    return found


def place_of(out: str) -> str:
    """The place of `--out DIR`, for Spark."""
    return out if "://" in out else str(Path(out).absolute())


def shared_files(out: str) -> list[Path]:
    """The files that all executors must see: what was put into `--out DIR`. None if it is a URI."""
    return [] if "://" in out else [Path(out).absolute() / SPARK_LOG]


def spark_log(out: str) -> Path:
    """The file for the JVM's output: beside the tables, or in a temporary directory if `--out` is a URI. If nothing can
    be written there, the command ends: Spark would say so late and at length.
    """
    if "://" in out:
        return scratch_log()
    log = Path(out) / SPARK_LOG
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
    except OSError as error:
        fail(f"cannot write to {out}: {error}; give another directory")
    return log


def scratch_log() -> Path:
    """A file for the JVM's output in a temporary directory."""
    return Path(tempfile.mkdtemp(prefix="kcoord-spark-")) / SPARK_LOG
