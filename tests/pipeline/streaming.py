"""A stream in a process of its own, to be killed: `python -m tests.pipeline.streaming BOOTSTRAP TOPIC DIR`, and for
another Spark than that of the tests `MASTER NAME=VALUE …`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.pipeline.spark.history import run_stream
from kcoord.pipeline.spark.session import session
from kcoord.pipeline.spark.sources import TopicSource
from kcoord.pipeline.spark.store import Store
from tests.pipeline.spark import MASTER, QUICK

AT_ONCE = 8
"""So few records are a batch that there are many."""


def main(bootstrap: str, topic: str, place: str, master: str = MASTER, *settings: str) -> None:
    """Run it to its end."""
    source = TopicSource.look(KafkaLogSettings(bootstrap=bootstrap, topic=topic))
    more = dict(each.split("=", 1) for each in settings)
    with session(master, Path(place).with_suffix(".log"), kafka=True, settings=QUICK | more) as spark:
        run_stream(Store(spark, place), source, at_once=AT_ONCE)


if __name__ == "__main__":
    main(*sys.argv[1:])
