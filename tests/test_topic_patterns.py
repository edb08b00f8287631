"""Which regular expressions can a consumer subscribe by, and what matches them? (KG-16)"""

from __future__ import annotations

import re
import sys

import pytest

from kcoord.topic_patterns import MAX_CHARS, PatternError, check_pattern, matching

NAMES = ("orders", "orders-eu", "payments", "__consumer_offsets", "a.b", "grüße")


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("orders", {"orders"}),
        ("order", set()),
        ("orders.*", {"orders", "orders-eu"}),
        ("orders|payments", {"orders", "payments"}),
        (".*", set(NAMES)),
        (r"a\.b", {"a.b"}),
        (r"\Aorders\z", {"orders"}),
        ("(?i)ORDERS", {"orders"}),
        (r"\p{L}+", {"orders", "payments", "grüße"}),
        (r"\\Case", set()),
    ],
)
def test_the_whole_name_must_match(pattern: str, matches: set[str]) -> None:
    assert matching(pattern, NAMES) == matches


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "it is not valid in RE2: missing )"),
        ("a**", "bad repetition operator"),
        ("(?=orders)", "invalid perl operator"),
        (r"(a)\1", "invalid escape sequence"),
        ("((a{100}){100}){100}", "it is not valid in RE2"),
        (r"order\C", r"\C stands for a byte"),
        (r"\\\Corder", r"\C stands for a byte"),
        ("a" * (MAX_CHARS + 1), "4097 characters is too long: 4096 are allowed"),
    ],
    ids=range(8),
)
def test_what_cannot_be_used_says_why(pattern: str, why: str) -> None:
    with pytest.raises(PatternError, match=re.escape(why)):
        check_pattern(pattern)


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(PatternError, match=r"pip install 'kcoord\[regex\]'"):
        check_pattern("orders")


def test_an_expression_that_takes_far_longer_than_others_is_refused() -> None:
    """Each name takes some 10 ms."""
    with pytest.raises(PatternError, match="too long"):
        matching("(.*.*.*.*.*)*" * 200, [f"{'ab' * 100}{number}" for number in range(300)])
