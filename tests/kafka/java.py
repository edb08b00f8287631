"""How is a class of Kafka's jars run as a JVM?

Small heap, quick start: JVMs start from an archive of loaded classes (class data sharing), if `tests/archives.py` has
made it. It cuts what a broker's start or a worker's takes of a core from five seconds to two, that of a tool by half.
"""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import attrs

from tests.kafka.libs import CACHE, fetch_libs, java_command
from tests.kafka.process import ServerProcess

TOOL_DEADLINE_S = 240.0
BROKER = "kafka.Kafka"
WORKER = "org.apache.kafka.connect.cli.ConnectDistributed"
ARCHIVED = (BROKER, WORKER)
"""What has an archive of its own; all else starts from the broker's, which has most of what it needs."""
TRUSTING = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""A server's start does not verify the classes of Kafka's jars: that takes a sixth of it."""
QUIET_SHARING = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


@attrs.define(slots=False)
class Java:
    """A JDK and the jars of Kafka."""

    command: str
    libs: Path
    trusting: ClassVar[Sequence[str]] = TRUSTING
    more_jars: Sequence[Path] = ()
    """Those that stand behind Kafka's on the class path: an archive of classes bears that."""
    is_verified: bool = True
    """Else a program may name classes that these jars lack, as long as it does not come to them."""

    @classmethod
    def find(cls, connect_version: str | None = None) -> "Java":
        """With the jars of the tests' Kafka, or those of Connect workers of another version. Raises MissingTool."""
        return cls(java_command(), fetch_libs(connect_version))

    @cached_property
    def kafka_classpath(self) -> str:
        """All of Kafka's jars, in an order that does not change: an archive of classes is good for exactly one."""
        return os.pathsep.join(str(jar) for jar in sorted(self.libs.glob("*.jar")))

    @property
    def classpath(self) -> str:
        """All jars."""
        return os.pathsep.join([self.kafka_classpath, *map(str, self.more_jars)])

    @cached_property
    def _archives(self) -> Path:
        version = subprocess.run([self.command, "-version"], capture_output=True, check=True).stderr
        name = hashlib.sha256(version + self.kafka_classpath.encode()).hexdigest()[:12]
        return CACHE / "class-archives" / name

    def archive(self, main: str) -> Path:
        """The archive of classes that `main` starts from, which need not be there."""
        return self._archives / f"{main if main in ARCHIVED else BROKER}.jsa"

    def sharing(self, main: str) -> list[str]:
        """The options for an archive of classes."""
        archive = self.archive(main)
        return [f"-XX:SharedArchiveFile={archive}", *QUIET_SHARING] if archive.exists() else []

    def line(
        self, main: str, arguments: Sequence[str] = (), heap_mb: int = 256, properties: Mapping[str, str] | None = None
    ) -> list[str]:
        """The command line that runs `main`; `properties` become system properties (-D)."""
        return [
            self.command,
            f"-Xmx{heap_mb}m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Djava.awt.headless=true",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
            *self.sharing(main),
            *(() if self.is_verified else self.trusting),
            *(f"-D{name}={value}" for name, value in (properties or {}).items()),
            "-cp",
            self.classpath,
            main,
            *arguments,
        ]

    def start(
        self,
        name: str,
        main: str,
        arguments: Sequence[str],
        log: Path,
        heap_mb: int = 256,
        properties: Mapping[str, str] | None = None,
    ) -> ServerProcess:
        """Run `main` as a server."""
        command, *line = self.line(main, arguments, heap_mb, properties)
        return ServerProcess.start(name, [command, *self.trusting, *line], log)

    def run(
        self, main: str, *arguments: str, config: Mapping[str, str] | None = None, stdin: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run one of Kafka's command line tools to its end.

        `config` are client settings, handed over in a file as `--command-config`.
        """
        with tempfile.TemporaryDirectory() as scratch:
            if config:
                file = Path(scratch) / "client.properties"
                write_properties(file, config)
                arguments = (*arguments, "--command-config", str(file))
            line = self.line(main, arguments, properties={"org.slf4j.simpleLogger.defaultLogLevel": "warn"})
            return subprocess.run(
                line, input=stdin, capture_output=True, text=True, timeout=TOOL_DEADLINE_S, check=False
            )

    def tool(self, main: str, *arguments: str, config: Mapping[str, str] | None = None, stdin: str = "") -> str:
        """As `run`; what it printed on stdout. Raises AssertionError with all that it said if it failed."""
        done = self.run(main, *arguments, config=config, stdin=stdin)
        if done.returncode != 0:
            shown = " ".join([main.rsplit(".", 1)[-1], *arguments])
            raise AssertionError(f"{shown} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout


def properties_text(properties: Mapping[str, object]) -> str:
    """A Java properties file; values stand as they are but for backslashes and line breaks, which are escaped."""
    lines = (
        f"{name}={str(value).replace(chr(92), chr(92) * 2).replace(chr(10), chr(92) + 'n')}"
        for name, value in properties.items()
    )
    return "".join(f"{line}\n" for line in lines)


def write_properties(file: Path, properties: Mapping[str, object]) -> None:
    """Write `properties_text`."""
    file.write_text(properties_text(properties))
