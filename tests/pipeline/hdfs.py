"""How do tests get a real HDFS? A name node and a data node in a process of its own: Hadoop's own small cluster, on the
jars of PySpark's Hadoop and of Maven. Permissions are HDFS's own: only the user who runs the tests may do everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from typing import Any

import attrs
import httpx
import pyspark

from tests.kafka.libs import fetch_jars, java_command
from tests.kafka.ports import port_block
from tests.kafka.process import ServerProcess
from tests.kafka.wait import eventually

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
POM = Path(__file__).with_name("hadoop.xml")
MAIN = "org.apache.hadoop.test.MiniDFSClusterManager"
SMALL = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
TIMEOUT_S = 60.0


def hadoop_version() -> str:
    """The version of PySpark's own Hadoop."""
    [jar] = SPARK_JARS.glob("hadoop-client-api-*.jar")
    return jar.stem.removeprefix("hadoop-client-api-")


@attrs.frozen
class Hdfs:
    """A running HDFS, at 127.0.0.1 only."""

    address: str
    """The name node's "host:port"."""
    web: httpx.Client
    """Its REST interface, WebHDFS."""
    process: ServerProcess

    def make_home(self, user: str) -> str:
        """Make a directory that belongs to this user, and return its path."""
        home = f"/user/{user}"
        for asked in ({"op": "MKDIRS"}, {"op": "SETOWNER", "owner": user}):
            self.web.put(home, params={**asked, "user.name": getuser()}).raise_for_status()
        return home

    def copy(self, path: str, to: Path) -> None:
        """Copy a directory with all that is in it to this machine."""
        to.mkdir(parents=True)
        for each in self._listed(path):
            name = each["pathSuffix"]
            if each["type"] == "DIRECTORY":
                self.copy(f"{path}/{name}", to / name)
            else:
                (to / name).write_bytes(self._asked(f"{path}/{name}", "OPEN").content)

    def _listed(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._asked(path, "LISTSTATUS").json()["FileStatuses"]["FileStatus"]
        return found

    def _asked(self, path: str, operation: str) -> httpx.Response:
        return self.web.get(path, params={"op": operation, "user.name": getuser()}).raise_for_status()


@contextmanager
def running_hdfs(folder: Path) -> Iterator[Hdfs]:
    """Start it; it keeps all it has in `folder`. Raises MissingTool."""
    libs = fetch_jars(POM, "hadoop", hadoop_version())
    port = port_block(2)
    details = folder / "details.json"
    command = [java_command(), *SMALL, f"-Dtest.build.data={folder}", "-cp", f"{SPARK_JARS}/*:{libs}/*", MAIN]
    ports = ["-nnport", str(port), "-httpport", str(port + 1)]
    options = ["-datanodes", "1", "-format", "-writeDetails", str(details), "-D", "dfs.replication=1"]
    process = ServerProcess.start("hdfs", [*command, *ports, *options], folder / "hdfs.log")

    def is_up() -> bool:
        """It writes the details when the data node has registered."""
        process.check_running()
        return details.exists()

    try:
        eventually(is_up, "an HDFS")
        base = f"http://127.0.0.1:{port + 1}/webhdfs/v1"
        with httpx.Client(base_url=base, timeout=TIMEOUT_S, follow_redirects=True, trust_env=False) as web:
            yield Hdfs(f"127.0.0.1:{port}", web, process)
    finally:
        process.stop()
