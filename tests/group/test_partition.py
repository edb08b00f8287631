"""Groups lie in the partitions in which Kafka has them."""

import pytest

from kcoord.group.partition_of_group import java_hash, partition_of

SMALLEST = -(2**31)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("Aa", 2112),
        ("BB", 2112),
        ("polygenelubricants", SMALLEST),
        ("connect-cluster", 1_440_343_063),
        ("grüße", 98_768_023),
        ("日本", 835_047),
        ("\N{GRINNING FACE}", 1_772_899),
        ("a" * 1000, 904_019_584),
    ],
)
def test_the_hash_is_that_of_javas_strings(text: str, value: int) -> None:
    assert java_hash(text) == value


def test_the_smallest_hash_has_no_absolute_value_and_goes_to_partition_0() -> None:
    assert partition_of("polygenelubricants", 50) == 0


def test_a_negative_hash_counts_by_its_absolute_value() -> None:
    assert java_hash("kcoord") < 0
    assert partition_of("kcoord", 50) == -java_hash("kcoord") % 50
