"""Which of Kafka's command line tools do tests run, and what do their tables say?"""

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONSUMER_GROUPS_BEFORE_3_8 = "kafka.admin.ConsumerGroupCommand"
GROUPS = "org.apache.kafka.tools.GroupsCommand"


def rows(printed: str, group: str) -> list[dict[str, str]]:
    """The group's rows of a tool's table, by the headline's words."""
    lines = [line.split() for line in printed.splitlines()]
    headlines = [line for line in lines if line[:1] == ["GROUP"]]
    return [dict(zip(headlines[0], line, strict=True)) for line in lines if line[:1] == [group]]
