"""How do tests get a server that speaks S3's protocol? S3Proxy, in a process of its own, on Maven's jars. It knows one
user, whose signatures it checks, and keeps each bucket as a directory and each object as a file.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from tests.kafka.java import write_properties
from tests.kafka.libs import fetch_jars, java_command
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess
from tests.kafka.wait import eventually
from tests.pipeline.hdfs import SMALL, hadoop_version

VERSION = "4.1.0"
POM = Path(__file__).with_name("s3.xml")
S3A_POM = Path(__file__).with_name("s3a.xml")
MAIN = "org.gaul.s3proxy.Main"
TO_STDOUT = "-Dorg.slf4j.simpleLogger.logFile=System.out"
"""S3Proxy makes a logger of its stderr, to which this logger would write."""
USER, SECRET = "history", "the-secret-of-history"


def hadoop_aws() -> str:
    """Maven coordinates of Hadoop's S3A. Maven fetches it where it is not there yet: from its cache Spark takes it."""
    version = hadoop_version()
    kept = Path.home() / ".m2/repository/org/apache/hadoop/hadoop-aws" / version
    maven = shutil.which("mvn")
    if maven is not None and not list(kept.glob("*.jar")):
        command = [maven, "-B", "-q", "-f", str(S3A_POM), "dependency:resolve", f"-Dhadoop.version={version}"]
        subprocess.run(command, check=False)  # Spark tries for itself, and says why it cannot
    return f"org.apache.hadoop:hadoop-aws:{version}"


@attrs.frozen
class S3:
    """A running server, at 127.0.0.1 only."""

    port: int
    folder: Path
    """Its buckets."""

    def make_bucket(self, name: str) -> None:
        """An empty bucket."""
        (self.folder / name).mkdir()

    def copy(self, bucket: str, name: str, to: Path) -> None:
        """Copy all objects whose names begin with this directory's to this machine."""
        shutil.copytree(self.folder / bucket / name, to)

    @property
    def settings(self) -> dict[str, str]:
        """What a session of Spark needs to find it."""
        return {
            "spark.jars.packages": hadoop_aws(),
            "spark.hadoop.fs.s3a.endpoint": f"http://127.0.0.1:{self.port}",
            "spark.hadoop.fs.s3a.path.style.access": "true",
        }

    @property
    def environment(self) -> dict[str, str]:
        """What says who one is."""
        return {"AWS_ACCESS_KEY_ID": USER, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}


@contextmanager
def running_s3(folder: Path) -> Iterator[S3]:
    """Start it; it keeps all it has in `folder`. Raises MissingTool."""
    libs = fetch_jars(POM, "s3proxy", VERSION)
    found = S3(free_port(), folder / "buckets")
    found.folder.mkdir()
    file = folder / "s3proxy.properties"
    properties = {
        "s3proxy.authorization": "aws-v4",
        "s3proxy.identity": USER,
        "s3proxy.credential": SECRET,
        "s3proxy.endpoint": f"http://127.0.0.1:{found.port}",
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(found.folder),
    }
    write_properties(file, properties)
    command = [java_command(), *SMALL, TO_STDOUT, "-cp", f"{libs}/*", MAIN, "--properties", str(file)]
    process = ServerProcess.start("s3proxy", command, folder / "s3proxy.log")

    def answers() -> bool:
        process.check_running()
        with socket.create_connection(("127.0.0.1", found.port)):
            return True

    try:
        eventually(answers, "a server for S3", retry=OSError)
        yield found
    finally:
        process.stop()
