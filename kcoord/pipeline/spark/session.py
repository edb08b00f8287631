"""The start of Spark, and the errors if it cannot start.

What the JVM prints (its own log, Ivy's report) goes to a file, for people who look for the cause of a failure.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from kcoord.pipeline.failure import INSTALL, PipelineError, reason_of
from kcoord.pipeline.spark.delta_tables import DELTA_CONNECTOR, DELTA_SETTINGS, EXTENSIONS
from kcoord.pipeline.spark.executor_report import check, reports
from kcoord.pipeline.spark.package_archives import ship
from kcoord.pipeline.spark.step_messages import Say, silent

KAFKA_CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
"""Maven coordinates of Spark's source for Kafka."""
CARRIED = "org.slf4j:slf4j-api"
"""A dependency of the connector that Spark has already."""
PACKAGES, EXCLUDES = "spark.jars.packages", "spark.jars.excludes"
"""Spark's settings, lists with commas between, for what it fetches from Maven Central, and for what it leaves out."""
MINIMUM_JAVA = 17
TASKS_A_CORE = 4
"""Few tasks for each core, because each costs a fifth of a second of CPU (Python looks through the archives that Spark
hands it each time); more than one, so that no core waits long for another.
"""
MOST_TASKS = 10_000
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable by which `spark-submit` tells a program of the JVM that it has started."""
STANDALONE = "spark://"
PATIENCE_S = 20.0
NO_EXECUTOR = "waiting: the cluster has not run anything yet. Other applications may have all its cores or memory"
HAS_COMPILED = "spark.kcoord.compiled"
"""A setting of a session: whether compiled modules were taken along to its executors."""
PYTHON = "spark.pyspark.python"
"""Spark's setting for the Python of its executors."""
WITHOUT_WAITING = {"spark.locality.wait": "0s"}
"""On one machine, a task must not wait for a better place. Spark waits for one if some rows of a job are kept here and
others are blocks of an HDFS. But on one machine it looks again only when a task ends: if none runs, it waits forever.
"""
ANSWERS_WITHIN_S = 10
"""How long a standalone master of Spark's may take to accept a connection, in s."""


@contextlib.contextmanager
def session(
    master: str,
    log: Path,
    *,
    kafka: bool,
    delta: bool = False,
    settings: Mapping[str, str] | None = None,
    shared: Collection[Path] = (),
    say: Say = silent,
) -> Iterator[Any]:
    """A SparkSession, stopped at the end. `log`: the file for the JVM's output. `kafka`: with the source for Kafka.
    `delta`: with the format of Delta Lake.

    Where `spark-submit` has started this process, its master and its packages count, not those given here.

    `settings` are Spark's own, and take precedence over those here (see `joined`). On a cluster, executors get kcoord
    from here, and must have what kcoord does not take along, and see the files `shared`. Raises PipelineError.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise PipelineError(f"PySpark is not installed here ({error}): {INSTALL}") from None
    is_submitted = SUBMITTED in os.environ
    if not is_submitted:
        _check_java()
        _check_master(master)
    given = dict(settings or {})
    ours = {
        "spark.app.name": "kcoord",
        "spark.log.level": "WARN",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if is_local(master):
        ours |= WITHOUT_WAITING
    packages = [*([KAFKA_CONNECTOR] if kafka else ()), *([DELTA_CONNECTOR] if delta else ())]
    if packages:
        ours |= {PACKAGES: ",".join(packages), EXCLUDES: CARRIED}
    if delta:
        ours |= DELTA_SETTINGS
    builder = SparkSession.builder if is_submitted else SparkSession.builder.master(master)
    wanted = joined(ours, given)
    for name, value in wanted.items():
        builder = builder.config(name, value)
    with _stderr_to(log), _pythons(given.get(PYTHON)):  # the JVM inherits both
        try:
            spark = builder.getOrCreate()
        except Exception as error:
            raise PipelineError(_why_not(error, master, log, wanted.get(PACKAGES, ""))) from None
    try:
        if not is_local(spark.sparkContext.master):
            say("looking at the executors")
            with _later(PATIENCE_S, lambda: say(NO_EXECUTOR)):
                give_kcoord(spark, shared)
        yield spark
    finally:
        with contextlib.suppress(Exception):  # the JVM may be gone
            spark.stop()


def give_kcoord(spark: Any, shared: Collection[Path] = ()) -> None:
    """Give the executors of a cluster kcoord, if they have what it needs and see the files `shared`. Raises
    PipelineError.
    """
    found = reports(spark, shared)
    check(found)
    fits = all(each.fits for each in found)
    ship(spark, fits=fits)
    spark.conf.set(HAS_COMPILED, str(fits).lower())


def has_compiled(spark: Any) -> bool:
    """Whether the executors of a cluster have the compiled modules that kcoord's reader of topics needs."""
    return bool(spark.conf.get(HAS_COMPILED, "false") == "true")


@contextlib.contextmanager
def _later(after_s: float, call: Callable[[], None]) -> Iterator[None]:
    """Call something, if the body takes longer than `after_s`."""
    timer = threading.Timer(after_s, call)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def joined(ours: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """All settings. Those that are `given` take precedence. Lists of packages and of extensions are joined, so that
    whoever adds one keeps those of `ours`, unless they name another version of it.
    """
    lists = {
        name: ",".join((_by_package(ours[name]) | _by_package(given[name])).values())
        for name in (PACKAGES, EXCLUDES, EXTENSIONS)
        if name in ours and name in given
    }
    return {**ours, **given, **lists}


def _by_package(listed: str) -> dict[tuple[str, ...], str]:
    """Maven coordinates by group and artifact, of a list with commas."""
    return {tuple(each.split(":")[:2]): each for each in map(str.strip, listed.split(",")) if each}


def is_local(master: str) -> bool:
    """Whether Spark runs Python on this machine only, with what is installed here."""
    return re.fullmatch(r"local(\[[^\]]*\])?", master) is not None


def most_tasks(spark: Any, a_core: int = TASKS_A_CORE) -> int:
    """The most tasks into which a log is split. If executors come and go with the work, the number of cores at this
    moment says nothing.
    """
    context = spark.sparkContext
    comes_and_goes = context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true"
    return MOST_TASKS if comes_and_goes else a_core * int(context.defaultParallelism)


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    advice = f"install Java {MINIMUM_JAVA} or later (Debian: openjdk-17-jre-headless), or set JAVA_HOME"
    if java is None:
        raise PipelineError(
            f"Spark needs Java, and there is none {f'in {home}/bin' if home else 'on the PATH'}: {advice}"
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < MINIMUM_JAVA:
        raise PipelineError(
            f"Spark needs Java {MINIMUM_JAVA}, and {java} is {said.splitlines()[0] if said else 'none'}: {advice}"
        )


def _check_master(master: str) -> None:
    """At least one master of a standalone cluster must accept a connection: Spark itself would wait for it forever."""
    if not master.startswith(STANDALONE):
        return
    failed = []
    for address in master.removeprefix(STANDALONE).split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWERS_WITHIN_S).close()
        except ValueError:
            raise PipelineError(_no_such(master)) from None
        except OSError as error:
            failed.append(f"{address}: {error}")
        else:
            return
    raise PipelineError(
        f"no Spark master answers at {master} ({'; '.join(failed)}): see that it runs and can be reached"
    )


def _no_such(master: str) -> str:
    return f"Spark has no master {master!r}: give local[2], spark://host:7077, yarn or k8s://…"


def _why_not(error: Exception, master: str, log: Path, packages: str) -> str:
    printed = log.read_text(errors="replace") if log.exists() else ""
    told = f"{error}\n{printed}"
    if "Could not parse Master URL" in told or "Master must either be" in told:
        return _no_such(master)
    if "All masters are unresponsive" in told or "Failed to connect to master" in told:
        return f"no Spark master answers at {master}: see that it runs and can be reached"
    if "Master removed our application" in told:
        return f"no executor could be started on {master}: the logs of its workers say why; {log} has the driver's"
    if "unresolved dependency" in told or "download failed" in told:
        return (
            f"Spark's packages could not be fetched ({packages}): see that they are named correctly, and that Maven "
            f"Central, or a mirror by --conf spark.jars.ivySettings=FILE, can be reached; {log} has the details"
        )
    return f"Spark did not start on {master}: {reason_of(error)}; {log} has the details"


@contextlib.contextmanager
def _pythons(executors: str | None) -> Iterator[None]:
    """Tell a Spark that starts which Pythons to use. PySpark looks at the environment, and not at its own setting."""
    before = {name: os.environ.get(name) for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")}
    if executors is not None:
        os.environ["PYSPARK_PYTHON"] = executors
    for name in before:
        os.environ.setdefault(name, sys.executable)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
