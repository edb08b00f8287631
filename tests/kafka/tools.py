"""Which of Kafka's command line tools do tests run, and what do their tables say?"""

from __future__ import annotations

import attrs

from tests.kafka.java import Java
from tests.kafka.libs import BROKER_POM, TOOLS_POM, fetch_libs

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONSUMER_GROUPS_BEFORE_3_8 = "kafka.admin.ConsumerGroupCommand"
GROUPS = "org.apache.kafka.tools.GroupsCommand"
PATIENCE = ("--timeout", "120000")
"""In ms: a loaded machine may need more than the 5 s that kafka-consumer-groups gives itself."""


@attrs.frozen
class Tools:
    """The tools of one version of Kafka."""

    java: Java
    consumer_groups: str = CONSUMER_GROUPS
    has_groups: bool = False
    """Whether there is a kafka-groups, since 4.0."""


def tools_for(version: str, java: Java) -> list[Tools]:
    """The tests' own, and those of a cluster of this version ("3.9", "2.8"; any other is the tests' own)."""
    newest = Tools(java, has_groups=True)
    if version == "3.9":
        return [newest, Tools(Java(java.command, fetch_libs("3.9.1", TOOLS_POM)))]
    if version == "2.8":
        return [newest, Tools(Java(java.command, fetch_libs("2.8.2", BROKER_POM)), CONSUMER_GROUPS_BEFORE_3_8)]
    return [newest]


def rows(printed: str, group: str) -> list[dict[str, str]]:
    """The group's rows of a tool's table, by the headline's words."""
    lines = [line.split() for line in printed.splitlines()]
    headlines = [line for line in lines if line[:1] == ["GROUP"]]
    return [dict(zip(headlines[0], line, strict=True)) for line in lines if line[:1] == [group]]
