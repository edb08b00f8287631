"""What becomes of offsets on a cluster that keeps them for a minute only, `offsets.retention.minutes=1`?"""

from pathlib import Path

import attrs

from tests.clients.members import Librdkafka, Member
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front, front_of
from tests.kafka.topics import write_topic

TOPIC = "aging"
QUICK_TO_FORGET = {"offsets.retention.minutes": 1, "offsets.retention.check.interval.ms": 500}


@attrs.frozen
class Aging:
    """Three groups that were there before kcoord took them, with offsets committed at about the same time."""

    kafka: KafkaCluster
    front: Front
    present: Member
    """A member through kcoord that commits nothing."""
    offsets: dict[tuple[str, int], int]

    ALONE = "alone"
    """Nobody came again."""
    HELD = "held"
    """`present` is in it."""
    LEFT = "left"
    """A member through kcoord came, committed nothing, and left."""

    @classmethod
    def begin(cls, folder: Path) -> "Aging":
        """Commit offsets directly, and let members come through kcoord: to the last group soon, before it ages."""
        kafka = KafkaCluster.start(folder / "kafka", overrides=QUICK_TO_FORGET)
        front = front_of(kafka, folder / "kcoord")
        kafka.create_topic(TOPIC)
        write_topic(kafka, TOPIC, ["a", "b", "c"])
        for group in (cls.ALONE, cls.LEFT, cls.HELD):
            with Librdkafka(kafka.bootstrap, group, [TOPIC]) as before:
                before.wait_for_values({"a", "b", "c"})
                before.commit()
        present = Librdkafka(front.bootstrap, cls.HELD, [TOPIC])
        present.wait_for_partitions(1)
        with Librdkafka(front.bootstrap, cls.LEFT, [TOPIC]) as leaving:
            leaving.wait_for_partitions(1)
        return cls(kafka, front, present, {(TOPIC, 0): 3})

    def end(self) -> None:
        """Leave nothing behind."""
        self.present.close()
        self.front.remove()
        self.kafka.remove()
