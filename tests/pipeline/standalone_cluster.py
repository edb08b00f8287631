"""How do tests get a real Spark cluster? A master and two workers with one core each, from PySpark's own jars. The
Python of its executors has what executors must have (pyarrow, pandas), and nothing of kcoord.
"""

from __future__ import annotations

import os
import sysconfig
import venv
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import psutil
import pyspark

from tests.kafka.libs import java_command
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess
from tests.kafka.wait import eventually
from tests.pipeline.spark import QUICK

WORKERS = 2
SCALA = "2.13"
"""What Spark's own scripts would tell a worker, which looks for its jars by that."""
SMALL = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
OF_PYARROW = ("pyarrow",)
OF_PANDAS = ("pandas", "numpy", "dateutil", "pytz", "tzdata", "six.py")


def bare_python(folder: Path, packages: Collection[str] = (*OF_PYARROW, *OF_PANDAS)) -> Path:
    """A Python that has only these packages beside its own library."""
    venv.create(folder, symlinks=True)
    ours = Path(sysconfig.get_path("purelib"))
    theirs = next(folder.glob("lib/python*/site-packages"))
    for package in packages:
        for found in [*ours.glob(package), *ours.glob(f"{package.removesuffix('.py')}-*.dist-info")]:
            (theirs / found.name).symlink_to(found)
        for libraries in ours.glob(f"{package}.libs"):
            (theirs / libraries.name).symlink_to(libraries)
    return folder / "bin" / "python"


@attrs.frozen
class SparkCluster:
    """A running cluster."""

    master: str
    workers: list[ServerProcess]
    settings: dict[str, str]
    """What a session needs to run on it."""

    def kill_executor(self) -> None:
        """Kill one of the executors with SIGKILL. Its worker starts another one."""
        children = [each for worker in self.workers for each in psutil.Process(worker.popen.pid).children()]
        children[0].kill()


@contextmanager
def spark_cluster(folder: Path, python: Path) -> Iterator[SparkCluster]:
    """Start it; its executors run `python`."""
    address = f"spark://127.0.0.1:{free_port()}"
    master = _start(folder, "master", ["master.Master", "--port", address.rpartition(":")[2]])
    workers: list[ServerProcess] = []
    try:
        eventually(lambda: f"Starting Spark master at {address}" in _printed(master), "a master")
        workers.extend(start_worker(folder, number, address) for number in range(WORKERS))
        for each in workers:
            _registered(each)
        settings = QUICK | {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": QUICK["spark.driver.extraJavaOptions"],
            "spark.pyspark.python": str(python),
        }
        yield SparkCluster(address, workers, settings)
    finally:
        for each in (*workers, master):
            each.stop()


def start_worker(folder: Path, number: int, master: str) -> ServerProcess:
    """A worker of one core."""
    options = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{number}"), master]
    return _start(folder, f"worker-{number}", ["worker.Worker", *options])


def _start(folder: Path, name: str, words: list[str]) -> ServerProcess:
    jars = Path(pyspark.__file__).parent / "jars"
    command = [java_command(), *SMALL, "-cp", f"{jars}/*", f"org.apache.spark.deploy.{words[0]}"]
    place = ["--host", "127.0.0.1", "--webui-port", "0"]
    environment = os.environ | {
        "SPARK_HOME": str(jars.parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": SCALA,
    }
    return ServerProcess.start(name, [*command, *place, *words[1:]], folder / f"{name}.log", environment)


def _registered(worker: ServerProcess) -> None:
    eventually(lambda: "Successfully registered with master" in _printed(worker), f"{worker.name} at its master")


def _printed(process: ServerProcess) -> str:
    process.check_running()
    return process.log.read_text(errors="replace")
