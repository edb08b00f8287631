"""Where do the tests' own connector classes come from? javac compiles them once, against the jars of the cache."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import zipfile
from pathlib import Path

from tests.kafka.java import Java
from tests.kafka.libs import CACHE

HERE = Path(__file__).parent
CLASS = "kcoord.fleet.NotingSource"
EXACTLY_ONCE_CLASS = "kcoord.fleet.ExactlyOnceSource"
SINK_CLASS = "kcoord.fleet.NotingSink"
ASKED = "org/apache/kafka/connect/source/ExactlyOnceSupport.class"
"""In Connect's interface since 3.3."""
SERVICES = "META-INF/services/"
SOURCES, SINKS = "org.apache.kafka.connect.source.SourceConnector", "org.apache.kafka.connect.sink.SinkConnector"


def noting_jar(java: Java) -> Path:
    """The jar with the connectors that these jars bear, compiled if it is not there yet. Raises AssertionError with
    what javac says.
    """
    services = {SOURCES: [CLASS, EXACTLY_ONCE_CLASS] if _has(java, ASKED) else [CLASS], SINKS: [SINK_CLASS]}
    sources = [HERE / f"{name.rpartition('.')[2]}.java" for names in services.values() for name in names]
    text = b"".join([each.read_bytes() for each in sources])
    digest = hashlib.sha256(text + java.classpath.encode()).hexdigest()[:12]
    jar = CACHE / "connectors" / f"noting-{digest}.jar"
    if jar.exists():
        return jar
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent) as scratch:
        classes = Path(scratch) / "classes"
        compiler = [java.command, "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17"]
        command = [*compiler, "-cp", java.classpath, "-d", str(classes), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"the tests' connectors do not compile:\n{done.stdout}{done.stderr}"
        part = Path(scratch) / "noting.jar"
        with zipfile.ZipFile(part, "w") as archive:
            for service, names in services.items():
                archive.writestr(f"{SERVICES}{service}", "".join([f"{name}\n" for name in names]))
            for file in sorted(classes.rglob("*.class")):
                archive.write(file, file.relative_to(classes))
        part.rename(jar)  # another run of the tests may have been faster: it made the same
    return jar


def _has(java: Java, entry: str) -> bool:
    """Whether the interface that connectors are written against has this class."""
    interface = next(java.libs.glob("connect-api-*.jar"))
    with zipfile.ZipFile(interface) as archive:
        return entry in archive.namelist()


def java_with_connector(java: Java) -> Java:
    """The same JDK, whose class path has the connector too, which is compiled where that was not done yet."""
    return Java(java.command, java.libs, (noting_jar(java),))
