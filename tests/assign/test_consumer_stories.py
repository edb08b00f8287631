"""Who has which partitions after each change of a consumer group?"""

from __future__ import annotations

import pytest

from kcoord.assign.consumer import RangeConsumerAssignor, UniformConsumerAssignor
from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from tests.assign.consumer_story import ConsumerStory

SAME_SUBSCRIPTIONS = {
    "members come and go": """
        x has 6, y has 2             |
        A subscribes to x y          | A: x0 x1 x2 x3 x4 x5 y0 y1
        B subscribes to x y          | A: x0 x1 x2 x3 | B: x4 x5 y0 y1
        C subscribes to x y          | A: x0 x1 x2    | B: x4 x5 y0 | C: x3 y1
        B leaves                     | A: x0 x1 x2 x4 | C: x3 x5 y0 y1
        """,
    "who has most keeps one more": """
        x has 5                      |
        A B C subscribe to x         | A: x0 x1 | B: x2 x3 | C: x4
        they have                    | A: x0    | B: x1    | C: x2 x3 x4
        C subscribes to x            | A: x0 x4 | B: x1    | C: x2 x3
        """,
    "a topic grows": """
        x has 2                      |
        A B subscribe to x           | A: x0       | B: x1
        x has 5                      | A: x0 x2 x3 | B: x1 x4
        """,
    "a topic shrinks": """
        x has 6                      |
        A B subscribe to x           | A: x0 x1 x2 | B: x3 x4 x5
        x has 4                      | A: x0 x1    | B: x2 x3
        """,
    "a topic is gone, and another one comes": """
        x has 2, y has 2             |
        A B subscribe to x y         | A: x0 x1 | B: y0 y1
        y is gone                    | A: x0    | B: x1
        y has 3                      | A: x0 y0 y1 | B: x1 y2
        """,
    "nobody subscribes to a topic any more": """
        x has 2, y has 2             |
        A B subscribe to x y         | A: x0 x1 | B: y0 y1
        A B subscribe to y           | A: y1    | B: y0
        A B subscribe to             | A:       | B:
        """,
    "a topic that does not exist yet": """
        x has 1                      |
        A B subscribe to x z         | A: x0    | B:
        z has 3                      | A: x0 z0 | B: z1 z2
        """,
    "two targets claim a partition": """
        x has 4                      |
        A B subscribe to x           | A: x0 x1 | B: x2 x3
        they have                    | A: x0 x1 | B: x1 x2
        A subscribes to x            | A: x0 x1 | B: x2 x3
        """,
    "more members than partitions": """
        x has 1                      |
        B C subscribe to x           | B: x0 | C:
        A subscribes to x            | A:    | B: x0 | C:
        """,
}
MIXED_SUBSCRIPTIONS = {
    "who subscribes to more gets less of what the others can have": """
        x has 4, y has 2             |
        A subscribes to x, B subscribes to x y  | A: x0 x1 x2 | B: x3 y0 y1
        """,
    "who can have nothing else takes over": """
        x has 4, y has 2             |
        A subscribes to x y          | A: x0 x1 x2 x3 y0 y1
        B subscribes to y            | A: x0 x1 x2 x3 | B: y0 y1
        C subscribes to x            | A: x0 x1       | B: y0 y1 | C: x2 x3
        """,
    "it takes two topics: x goes from A to B, so that y can go from B to C": """
        x has 5, y has 3             |
        A subscribes to x, B subscribes to x y, C subscribes to y |
        they have                    | A: x0 x1 x2 x3 | B: x4 y0 y1 | C: y2
        A subscribes to x            | A: x0 x1 x2    | B: x3 x4 y0 | C: y1 y2
        """,
    "parts that share no topic do not disturb each other": """
        x has 3, y has 5             |
        A B subscribe to x, C D subscribe to y | A: x0 x1 | B: x2 | C: y0 y1 y2 | D: y3 y4
        C leaves                     | A: x0 x1 | B: x2 | D: y0 y1 y2 y3 y4
        """,
    "a member drops a topic": """
        x has 2, y has 2             |
        A B subscribe to x y         | A: x0 x1 | B: y0 y1
        A subscribes to y            | A: y0 y1 | B: x0 x1
        """,
    "a member that subscribes to nothing does not count": """
        x has 2                      |
        A B subscribe to x, C subscribes to | A: x0 | B: x1 | C:
        """,
}
RANGES = {
    "topics of the same size are cut alike": """
        x has 3, y has 3             |
        A B subscribe to x y         | A: x0 x1 y0 y1 | B: x2 y2
        """,
    "the first ones have one more": """
        x has 5, y has 4             |
        A B C subscribe to x y       | A: x0 x1 y0 y1 | B: x2 x3 y2 | C: x4 y3
        """,
    "static members come first, by instance id": """
        x has 4                      |
        A B C D subscribe to x, D is static as i1, C is static as i2 | A: x2 | B: x3 | C: x1 | D: x0
        """,
    "only those who subscribe count": """
        x has 4, y has 4             |
        A B subscribe to x y, C subscribes to y | A: x0 x1 y0 y1 | B: x2 x3 y2 | C: y3
        """,
    "a newcomer is put where it costs least, in the middle": """
        x has 12                     |
        B C subscribe to x           | B: x0 x1 x2 x3 x4 x5 | C: x6 x7 x8 x9 x10 x11
        A subscribes to x            | A: x4 x5 x6 x7 | B: x0 x1 x2 x3 | C: x8 x9 x10 x11
        """,
    "where it costs as much in Kafka's order, that is taken": """
        x has 4                      |
        A B subscribe to x           | A: x0 x1    | B: x2 x3
        they have                    | A: x2 x3    | B:
        B subscribes to x            | A: x2 x3    | B: x0 x1
        they have                    | A: x1 x2    | B:
        B subscribes to x            | A: x0 x1    | B: x2 x3
        """,
    "a member leaves": """
        x has 6, y has 6             |
        A B C subscribe to x y       | A: x0 x1 y0 y1 | B: x2 x3 y2 y3 | C: x4 x5 y4 y5
        B leaves                     | A: x0 x1 x2 y0 y1 y2 | C: x3 x4 x5 y3 y4 y5
        """,
    "a topic grows, another one comes": """
        x has 2                      |
        A B subscribe to x y         | A: x0       | B: x1
        x has 4                      | A: x0 x1    | B: x2 x3
        y has 1                      | A: x0 x1 y0 | B: x2 x3
        """,
    "a target in another order stays": """
        x has 4, y has 4             |
        A B subscribe to x y         |
        they have                    | A: x2 x3 y2 y3 | B: x0 x1 y0 y1
        A subscribes to x y          | A: x2 x3 y2 y3 | B: x0 x1 y0 y1
        """,
    "from another assignor": """
        x has 4, y has 4             |
        A B subscribe to x y         |
        they have                    | A: x0 x1 x2 x3 | B: y0 y1 y2 y3
        A subscribes to x y          | A: x0 x1 y0 y1 | B: x2 x3 y2 y3
        """,
}


@pytest.mark.parametrize("story", SAME_SUBSCRIPTIONS.values(), ids=SAME_SUBSCRIPTIONS)
def test_uniform_where_all_subscribe_to_the_same(story: str) -> None:
    """Rule 21 of consumer groups: counts differ by one at most, then nothing moves that need not."""
    ConsumerStory(UniformConsumerAssignor()).play(story)


@pytest.mark.parametrize("story", MIXED_SUBSCRIPTIONS.values(), ids=MIXED_SUBSCRIPTIONS)
def test_uniform_where_subscriptions_differ(story: str) -> None:
    """Rule 21 of consumer groups: as even as the subscriptions allow."""
    ConsumerStory(UniformConsumerAssignor()).play(story)


@pytest.mark.parametrize("story", RANGES.values(), ids=RANGES)
def test_range(story: str) -> None:
    """Rule 21 of consumer groups: Kafka's ranges, or those of the present order where they cost less."""
    ConsumerStory(RangeConsumerAssignor()).play(story)


def test_uniform_is_the_default() -> None:
    assert list(CONSUMER_ASSIGNORS) == ["uniform", "range"]
    assert [make().name for make in CONSUMER_ASSIGNORS.values()] == ["uniform", "range"]
