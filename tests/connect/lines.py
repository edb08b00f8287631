"""Did every line arrive? Lines go from files to topics and back to files, by Connect's file connectors."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

import attrs

from tests.connect.fleet import ConnectFleet
from tests.kafka.cluster import KafkaCluster
from tests.kafka.topics import read_topic
from tests.kafka.wait import NotYet, eventually

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
_LINE = re.compile(r"<[^<>\s]+>")  # what a killed worker has written half is no line


@attrs.define
class Pipe:
    """One way of lines: file → source connector → topic → sink connector → file."""

    name: str
    folder: Path
    written: list[str] = attrs.field(factory=list, init=False)

    @property
    def topic(self) -> str:
        """The topic between the two connectors."""
        return f"lines-{self.name}"

    @property
    def source(self) -> str:
        """The source connector's name."""
        return f"source-{self.name}"

    @property
    def sink(self) -> str:
        """The sink connector's name; its consumer group is `connect-` and this."""
        return f"sink-{self.name}"

    @property
    def resources(self) -> set[str]:
        """The two connectors and their tasks."""
        return {
            f"{kind} {name}"
            for base in (self.source, self.sink)
            for kind, name in (("connector", base), ("task", f"{base}-0"))
        }

    @property
    def _input(self) -> Path:
        return self.folder / f"{self.name}.in"

    @property
    def _output(self) -> Path:
        return self.folder / f"{self.name}.out"

    def create(self, fleet: ConnectFleet, source_config: dict[str, object]) -> None:
        """Create both connectors."""
        self._input.touch()
        source = {"connector.class": SOURCE, "file": self._input, "topic": self.topic, "tasks.max": 1, **source_config}
        fleet.create(self.source, source)
        fleet.create(self.sink, {"connector.class": SINK, "file": self._output, "topics": self.topic, "tasks.max": 1})

    def write(self, number: int) -> None:
        """Add lines to the file that the source reads."""
        lines = [f"<{self.name}-{len(self.written) + index}>" for index in range(number)]
        self.written += lines
        with self._input.open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def arrived(self) -> Counter[str]:
        """How often each line stands in the sink's file."""
        return Counter(_LINE.findall(self._output.read_text()) if self._output.exists() else [])

    def wait_until_all_arrived(self, again: Mapping[str, int] | None = None, but: Collection[str] = ()) -> None:
        """Wait until every line written, `but` these, stands in the sink's file, once more than `again` tells."""
        before = again or {}

        def all_there() -> bool:
            arrived = self.arrived()
            missing = [line for line in self.written if line not in but and arrived[line] <= before.get(line, 0)]
            if missing:
                raise NotYet(f"{len(missing)} of {len(self.written)} lines missing, {missing[:3]}…")
            return True

        eventually(all_there, f"all lines of {self.name} arrived", deadline_s=240)
        assert set(self.arrived()) == set(self.written), "the sink's file has lines that nobody wrote"

    def check_exactly_once(self, cluster: KafkaCluster) -> None:
        """The topic has every line once, and in order."""
        assert read_topic(cluster, self.topic) == self.written
