"""Where does the tests' own connector class come from? javac compiles it once, against the jars of the cache."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import zipfile
from pathlib import Path

from tests.kafka.java import Java
from tests.kafka.libs import CACHE

SOURCE = Path(__file__).with_name("NotingSource.java")
CLASS = "kcoord.fleet.NotingSource"
SERVICE = "META-INF/services/org.apache.kafka.connect.source.SourceConnector"


def noting_jar(java: Java) -> Path:
    """The jar with the connector, compiled if it is not there yet. Raises AssertionError with what javac says."""
    digest = hashlib.sha256(SOURCE.read_bytes() + java.classpath.encode()).hexdigest()[:12]
    jar = CACHE / "connectors" / f"noting-{digest}.jar"
    if jar.exists():
        return jar
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent) as scratch:
        classes = Path(scratch) / "classes"
        compiler = [java.command, "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17"]
        command = [*compiler, "-cp", java.classpath, "-d", str(classes), str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{SOURCE.name} does not compile:\n{done.stdout}{done.stderr}"
        part = Path(scratch) / "noting.jar"
        with zipfile.ZipFile(part, "w") as archive:
            archive.writestr(SERVICE, f"{CLASS}\n")
            for file in sorted(classes.rglob("*.class")):
                archive.write(file, file.relative_to(classes))
        part.rename(jar)  # another run of the tests may have been faster: it made the same
    return jar


def java_with_connector(java: Java) -> Java:
    """The same JDK, whose class path has the connector too, which is compiled where that was not done yet."""
    return Java(java.command, java.libs, (noting_jar(java),))
