"""Where do the jars of Kafka and of other servers come from?

From Maven, once: the jars that `pom.xml` beside this file names are copied into `.cache/kafka-<version>-<digest of the
pom>`, which git ignores; those of Connect workers of other versions, which `connect.xml` names, those of brokers
(`broker.xml`) and of tools (`tools.xml`), and of what other poms name, the same way. What is missing on the machine is
said in one line with what to do (`MissingTool`); nothing is skipped.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

POM = Path(__file__).with_name("pom.xml")
CONNECT_POM = Path(__file__).with_name("connect.xml")
BROKER_POM = Path(__file__).with_name("broker.xml")
TOOLS_POM = Path(__file__).with_name("tools.xml")
CACHE = POM.parents[2] / ".cache"
MINIMUM_JAVA = 17


class MissingTool(RuntimeError):
    """The machine lacks something that the tests need; the message is one line: what, and what to do."""


def kafka_version() -> str:
    """The version of Kafka that the tests run on, as the pom says."""
    namespace = "{http://maven.apache.org/POM/4.0.0}"
    version = ElementTree.parse(POM).findtext(f"{namespace}properties/{namespace}kafka.version")
    assert version is not None, f"{POM} has no property kafka.version"
    return version


def java_command() -> str:
    """The `java` to run, at least version 17: that of JAVA_HOME, else the one on the PATH.

    Raises MissingTool.
    """
    advice = f"install a JDK {MINIMUM_JAVA} or later (Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        raise MissingTool(
            f"these tests need Kafka, and there is no java {f'in {home}/bin' if home else 'on the PATH'}: {advice}"
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < MINIMUM_JAVA:
        raise MissingTool(f"these tests need Kafka, and {java} is too old ({said.splitlines()[0]}): {advice}")
    return java


def fetch_libs(other_version: str | None = None, pom: Path = CONNECT_POM) -> Path:
    """The directory that holds the jars of Kafka and Connect, or those of a Connect worker (or what else `pom` names)
    of another version, fetched by Maven if they are not there yet.

    Raises MissingTool when they are not there and Maven cannot bring them.
    """
    pom, version = (POM, kafka_version()) if other_version is None else (pom, other_version)
    return fetch_jars(pom, "kafka", version)


def fetch_jars(pom: Path, name: str, version: str) -> Path:
    """The directory that holds the jars that `pom` names, whose property `<name>.version` is `version`, fetched by
    Maven if they are not there yet.

    Raises MissingTool when they are not there and Maven cannot bring them.
    """
    digest = hashlib.sha256(pom.read_bytes()).hexdigest()[:8]
    libs = CACHE / f"{name}-{version}-{digest}" / "libs"
    if libs.is_dir():
        return libs
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingTool(
            f"these tests need the jars of {name}, and there is no mvn on the PATH: install Maven (Debian: apt-get "
            "install maven)"
        )
    libs.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=libs.parent) as scratch:
        fetched = Path(scratch) / "libs"
        told = [f"-D{name}.version={version}", f"-DoutputDirectory={fetched}"]
        command = [maven, "-B", "-q", "-f", str(pom), "dependency:copy-dependencies", *told]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0 or not fetched.is_dir():
            reason = next(
                (line for line in done.stdout.splitlines() if "ERROR" in line), f"exit code {done.returncode}"
            )
            raise MissingTool(
                f"these tests need the jars of {name}, and Maven could not fetch them ({reason}): try "
                f"`{' '.join(command)}`"
            )
        try:
            fetched.rename(libs)
        except OSError:
            if not libs.is_dir():  # else another run of the tests was faster
                raise
    return libs
