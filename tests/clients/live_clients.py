"""What does a client to a test that lives while its group moves, whichever library it is made of?

It notes each record that it has processed, commits it, and tells what a user would see as a failure. It can be bounced:
ended in order, and started again with another address. Java's is a program of its own (`CountingConsumer.java`), and so
is franz-go's (`franz_go/main.go`); the others are members (`members.py`) that commit what each poll has brought.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import subprocess
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs
import confluent_kafka
from aiokafka.errors import CommitFailedError
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from kafka.errors import KafkaConnectionError

from tests.clients.members import Aiokafka, KafkaPython, Librdkafka, Member
from tests.kafka.java import Java
from tests.kafka.libs import CACHE
from tests.kafka.process import ServerProcess
from tests.kafka.security import PLAINTEXT, ClientSecurity
from tests.kafka.wait import NotYet

PROGRAM = Path(__file__).with_name("CountingConsumer.java")
FRANZ_GO = Path(__file__).with_name("franz_go")
NOTES = ("read", "committed", "later", "aborted", "assigned", "revoked", "lost", "closed", "has")
"""The first words of the program's own lines; all others are what a user sees."""
EVERY_S = 0.05
"""How long it is between two records of a load. Each of them is replicated, read by somebody, and committed: many more
keep the brokers busy, and are no more likely to be what goes wrong.
"""
TIMEOUT_S = 120.0
SESSION_MS = 60_000
"""Longer than a broker takes to start again on a busy machine."""
ENDED_BY_SIGTERM = 143
NOT_NOW = frozenset(
    {
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError._TIMED_OUT,
    }
)
"""Errors of a commit after which it is tried again with the next poll, as at any rebalance and any broker's death."""


@attrs.define
class Notes:
    """What a client has noted in all its lives."""

    acknowledged: list[str] = attrs.Factory(list)
    """Values that were processed and then committed."""
    open: list[str] = attrs.Factory(list)
    """Values that were processed, and whose commit was not acknowledged yet."""
    uncommitted: list[str] = attrs.Factory(list)
    """Values that were processed by one that lost its partitions, or ended, before it could commit them."""
    unsaid: list[str] = attrs.Factory(list)
    """Values that were processed by one that commits by itself, before it gave its partitions up. The library does not
    say whether their commit was acknowledged; it does not repeat one that failed then, at a cluster without kcoord too.
    """
    assignments: int = 0
    lost: int = 0
    """How often it heard that its partitions are others' already."""
    complaints: list[str] = attrs.Factory(list)
    """What a user would see as a failure."""

    def committed(self) -> None:
        """All that is open is acknowledged."""
        self.acknowledged += self.open
        self.open = []

    def given_up(self) -> None:
        """What is open will not be committed any more."""
        self.uncommitted += self.open
        self.open = []

    def gives_up(self) -> None:
        """What is open is committed now, or not."""
        self.unsaid += self.open
        self.open = []

    @property
    def processed(self) -> list[str]:
        return [*self.acknowledged, *self.open, *self.uncommitted, *self.unsaid]


class LiveClient(Protocol):
    """A client of a group."""

    @property
    def notes(self) -> Notes:
        """What it has noted until now."""

    security: ClientSecurity
    """How it logs in, from its next start on."""

    def start(self, bootstrap: str) -> None:
        """Begin, at this address."""

    def stop(self) -> None:
        """End in order."""

    def kill(self) -> None:
        """Make sure that it is gone; nobody asks how."""

    def check(self) -> None:
        """Raise AssertionError where it has ended by itself."""


# -- Java --------------------------------------------------------------------------------------------------------------


def with_program(java: Java) -> Java:
    """The same JDK, whose class path has the program too, compiled where that was not done yet."""
    digest = hashlib.sha256(PROGRAM.read_bytes() + java.classpath.encode()).hexdigest()[:12]
    jar = CACHE / "programs" / f"counting-{digest}.jar"
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=jar.parent) as scratch:
            classes = Path(scratch) / "classes"
            compiler = [java.command, "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17"]
            command = [*compiler, "-cp", java.classpath, "-d", str(classes), str(PROGRAM)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"the tests' consumer does not compile:\n{done.stdout}{done.stderr}"
            part = Path(scratch) / "counting.jar"
            with zipfile.ZipFile(part, "w") as archive:
                for file in sorted(classes.rglob("*.class")):
                    archive.write(file, file.relative_to(classes))
            part.rename(jar)
    return Java(java.command, java.libs, (jar,))


@attrs.define
class ProgramClient(ABC):
    """A consumer that is a program of its own, and notes by lines in its log what it does."""

    log: Path
    group: str
    topic: str
    name: str
    settings: Mapping[str, str] = attrs.Factory(dict)
    target: str = "-"
    security: ClientSecurity = PLAINTEXT
    _process: ServerProcess | None = attrs.field(default=None, init=False)

    @abstractmethod
    def _line(self, bootstrap: str) -> list[str]:
        """The command line."""

    def start(self, bootstrap: str) -> None:
        self._process = ServerProcess.start(f"the consumer {self.name}", self._line(bootstrap), self.log)

    def stop(self) -> None:
        assert self._process is not None
        assert self._process.stop() == ENDED_BY_SIGTERM, self._process.tail()

    def check(self) -> None:
        assert self._process is not None
        self._process.check_running()

    def kill(self) -> None:
        if self._process is not None and self._process.running:
            self._process.kill()

    def freeze(self) -> None:
        """Let it stand still."""
        assert self._process is not None
        self._process.freeze()

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.thaw()

    @property
    def assigned(self) -> frozenset[tuple[str, int]]:
        """The partitions that it has now."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        said = [line for line in text.splitlines(keepends=True) if line.startswith("has ") and line.endswith("\n")]
        named = [each.rpartition("-") for each in said[-1].split()[1:]] if said else []
        return frozenset((topic, int(number)) for topic, _, number in named)

    @property
    def notes(self) -> Notes:
        notes = Notes()
        acknowledges = self.settings.get("enable.auto.commit") != "true"
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        for line in text.splitlines(keepends=True):
            word, _, rest = line.strip().partition(" ")
            if not line.endswith("\n"):
                break
            if word == "read":
                notes.open.append(rest)
            elif word == "committed":
                notes.committed()
            elif word == "revoked" and not acknowledges:
                notes.gives_up()
            elif word in ("lost", "closed"):
                notes.given_up()
                notes.lost += word == "lost"
            elif word == "assigned":
                notes.assignments += 1
            elif word not in NOTES:
                notes.complaints.append(line.rstrip())
        return notes


@attrs.define
class JavaClient(ProgramClient):
    """Java's consumer; with `target` one that copies in transactions."""

    java: Java = attrs.field(kw_only=True)

    def _line(self, bootstrap: str) -> list[str]:
        arguments = [bootstrap, self.group, self.topic, self.target, self.name]
        arguments += [f"{name}={value}" for name, value in {**self.settings, **self.security.java()}.items()]
        quiet = {"org.slf4j.simpleLogger.defaultLogLevel": "warn"}
        return self.java.line("CountingConsumer", arguments, 128, quiet)


# -- franz-go ----------------------------------------------------------------------------------------------------------


@functools.cache
def franz_go() -> Path:
    """The program with franz-go's consumer, compiled where that was not done yet. It needs Go."""
    sources = sorted(each for each in FRANZ_GO.iterdir() if each.is_file())
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:12]
    program = CACHE / "programs" / f"franz-go-{digest}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        part = program.with_suffix(".part")
        command = ["go", "build", "-mod=readonly", "-o", str(part), "."]
        done = subprocess.run(command, cwd=FRANZ_GO, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"the tests' Go program does not compile:\n{done.stdout}{done.stderr}"
        part.rename(program)
    return program


@attrs.define
class FranzGoClient(ProgramClient):
    """franz-go's consumer."""

    def _line(self, bootstrap: str) -> list[str]:
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        return [str(franz_go()), bootstrap, self.group, self.topic, self.name, *settings]


# -- the libraries -----------------------------------------------------------------------------------------------------


class _Living(Member):
    """A member that commits what each poll has brought.

    `acknowledged`, by partition: the offset of the last commit that was acknowledged, where the library tells it.
    """

    def __init__(self, notes: Notes, acknowledged: dict[tuple[str, int], int], *where: Any, **options: Any) -> None:
        self.notes, self.acknowledged = notes, acknowledged
        super().__init__(*where, **{"session_ms": SESSION_MS} | options)  # its thread begins at once

    def give_up(self) -> None:
        """End it without waiting for that."""
        self._stop.set()

    def _poll(self) -> list[str]:
        values = super()._poll()  # type: ignore[safe-super]
        self.notes.open += values
        self.commit_now()
        return values

    def commit_now(self) -> None:
        """Commit what was processed, or leave it for later."""
        if not self.notes.open:
            return
        try:
            self._commit()
        except NotYet:
            return
        self.notes.committed()

    def _giving_up(self, are_lost: bool) -> None:
        self.notes.lost += are_lost
        if not are_lost:
            self.commit_now()
        self.notes.given_up()

    def _close(self) -> None:
        self.commit_now()
        super()._close()  # type: ignore[safe-super]

    def _now_assigned(self, partitions: frozenset[tuple[str, int]]) -> None:
        super()._now_assigned(partitions)
        self.notes.assignments += 1


class LivingLibrdkafka(_Living, Librdkafka):
    """librdkafka: whoever gives partitions up commits first."""

    passing_errors = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART})
    """A broker of Kafka 2.8 that has just started knows no topics yet."""

    def _commit(self) -> None:
        try:
            done = self.consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() in NOT_NOW:
                raise NotYet(str(error)) from error
            raise
        self.acknowledged.update({(at.topic, at.partition): at.offset for at in done or () if at.offset >= 0})

    def _open(self) -> None:
        self.options["error_cb"] = self._error
        self.options["logger"] = logging.getLogger("librdkafka")
        self.options["log_level"] = 4
        super()._open()

    def _error(self, error: KafkaError) -> None:
        self.notes.complaints.append(str(error))


class LivingKafkaPython(_Living, KafkaPython):
    """kafka-python: poll and commit raise where nobody listens at that moment, as before any broker that restarts."""

    def _poll(self) -> list[str]:
        try:
            return super()._poll()
        except KafkaConnectionError:
            return []

    def _commit(self) -> None:
        try:
            super()._commit()
        except KafkaConnectionError as error:
            raise NotYet(str(error)) from error


class LivingAiokafka(_Living, Aiokafka):
    """aiokafka: it may give its partitions up between the step in which it has read and the thread's next one, so what
    was read is noted in that step.
    """

    def _poll(self) -> list[str]:
        values = Aiokafka._poll(self)
        self.commit_now()
        return values

    async def _read(self) -> list[str]:
        values = await super()._read()
        self.notes.open += values
        return values

    def _commit(self) -> None:
        try:
            super()._commit()
        except CommitFailedError as error:
            raise NotYet(str(error)) from error

    async def _giving_up_now(self) -> None:
        if self.notes.open:
            try:
                await self.consumer.commit()
            except CommitFailedError:
                self.notes.given_up()
            else:
                self.notes.committed()


class LivingCopier(LivingLibrdkafka):
    """librdkafka, which copies what each poll has brought to `options["target"]`, in a transaction."""

    producer: confluent_kafka.Producer

    def _open(self) -> None:
        self.target, name = self.options.pop("target"), self.options["client.id"]
        super()._open()
        own = {"bootstrap.servers": self.bootstrap, "transactional.id": name, "client.id": name, "log_level": 3}
        own["metadata.recovery.strategy"] = "none"  # docs/absence.md says why
        login = self.security.librdkafka()
        self.producer = confluent_kafka.Producer({**own, **login, "error_cb": self._error})
        self.producer.init_transactions(TIMEOUT_S)

    def _poll(self) -> list[str]:
        messages = [each for each in self.consumer.consume(50, 0.1) if each.error() is None]
        values = [(each.value() or b"").decode() for each in messages]
        if values and self._copied(messages):
            self.notes.acknowledged += values
            return values
        return []

    def _copied(self, messages: list[confluent_kafka.Message]) -> bool:
        """Whether the transaction went through; if not the records are read again."""
        ends: dict[tuple[str, int], int] = {}
        try:
            self.producer.begin_transaction()
            for each in messages:
                ends[str(each.topic()), int(each.partition() or 0)] = int(each.offset() or 0) + 1
                self.producer.produce(self.target, each.value())
            offsets = [TopicPartition(*at, offset) for at, offset in ends.items()]
            metadata = self.consumer.consumer_group_metadata()
            self.producer.send_offsets_to_transaction(offsets, metadata, TIMEOUT_S)
            self.producer.commit_transaction(TIMEOUT_S)
        except KafkaException as failed:
            if not failed.args[0].txn_requires_abort():
                raise
            self.producer.abort_transaction(TIMEOUT_S)
            for at in self.consumer.committed(self.consumer.assignment(), TIMEOUT_S):
                begin = at.offset if at.offset >= 0 else confluent_kafka.OFFSET_BEGINNING
                self.consumer.seek(TopicPartition(at.topic, at.partition, begin))
            return False
        self.acknowledged |= ends
        return True

    def _close(self) -> None:
        super()._close()
        del self.producer  # librdkafka's way


@attrs.define
class LibraryClient:
    """A client of one of the libraries."""

    kind: type[_Living]
    group: str
    topic: str
    options: Mapping[str, Any] = attrs.Factory(dict)
    instance: str | None = None
    security: ClientSecurity = PLAINTEXT
    notes: Notes = attrs.field(factory=Notes, init=False)
    acknowledged: dict[tuple[str, int], int] = attrs.field(factory=dict, init=False)
    _member: _Living | None = attrs.field(default=None, init=False)

    def start(self, bootstrap: str) -> None:
        where = bootstrap, self.group, [self.topic]
        how = {"instance": self.instance, "security": self.security, "options": self.options}
        self._member = self.kind(self.notes, self.acknowledged, *where, **how)

    def stop(self) -> None:
        assert self._member is not None
        self._member.close()
        self.check()
        self.notes.given_up()

    def check(self) -> None:
        assert self._member is not None
        assert self._member.error is None, f"{self._member.library} failed: {self._member.error!r}"

    def kill(self) -> None:
        if self._member is not None:
            self._member.give_up()
