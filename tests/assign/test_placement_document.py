"""Is what a user writes read as it is meant, and is what cannot be understood refused with the place?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given

from kcoord.assign.placement import Affinity, Capacity, Cordon, Domain, Rules, Separation, Spread, Weight, Zone
from kcoord.assign.placement.document import DocumentError, read_setting, read_tables, write_setting, write_tables
from tests.assign.test_placement import some_rules

ALL = """
max-moves = 7
stop = true

[[cordon]]
worker = "http://10.0.0.7:8083"
drain = true

[[weight]]
connectors = "heavy-*"
weight = 4

[[affinity]]
connectors = "db-*"
workers = ["*.zone-a.*", "w9"]

[[affinity]]
connectors = "log-*"
workers = ["small-*"]
only = false

[[separation]]
connectors = "a"
others = "b"

[[spread]]
connectors = "*"
over = "zone"

[[capacity]]
workers = "small-*"
weight = 10

[[zone]]
urls = "http://*.zone-a.*"
name = "a"
"""


def test_every_kind_of_rule() -> None:
    assert read_tables(tomllib.loads(ALL)) == Rules(
        cordons=(Cordon("http://10.0.0.7:8083", drains=True),),
        weights=(Weight("heavy-*", 4),),
        affinities=(Affinity("db-*", ("*.zone-a.*", "w9")), Affinity("log-*", ("small-*",), is_hard=False)),
        separations=(Separation("a", "b"),),
        spreads=(Spread("*", Domain.ZONE),),
        capacities=(Capacity("small-*", 10),),
        zones=(Zone("http://*.zone-a.*", "a"),),
        max_moves=7,
        stops=True,
    )


@given(rules=some_rules)
def test_what_is_written_is_read_again(rules: Rules) -> None:
    assert read_tables(write_tables(rules)) == read_setting(write_setting(rules)) == rules


def test_an_empty_setting_has_no_rules() -> None:
    assert write_setting(Rules()) == ""
    assert not read_setting(" ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[[cordn]]\nworker = 'w1'",
            "cordn: there is no such key; there are max-moves, stop, cordon, weight, affinity, separation, spread, "
            "capacity, zone",
        ),
        ("[[cordon]]\nworkers = 'w1'", "cordon[1].workers: there is no such key; there are worker, drain"),
        (
            "[[weight]]\nweight = 2",
            "weight[1].connectors: it is missing; the keys of a table weight are connectors, weight",
        ),
        ("[[cordon]]\nworker = ''", "cordon[1].worker: it is empty: name at least one"),
        ("[[affinity]]\nconnectors = 'a'\nworkers = []", "affinity[1].workers: it is empty: name at least one"),
        ("[[cordon]]\nworker = 1", "cordon[1].worker: 1 is no text: write it in quotes"),
        ("[[cordon]]\nworker = 'a'\ndrain = 'yes'", "cordon[1].drain: 'yes' is neither true nor false"),
        ("[cordon]\nworker = 'a'", "cordon: write its tables with two brackets: [[cordon]]"),
        ("cordon = ['a']", "cordon[1]: it has to be a table, with worker, drain"),
        ("[[weight]]\nconnectors = 'a'\nweight = 0", "weight[1].weight: 0 is too small: it has to be 1 at least"),
        (
            "[[weight]]\nconnectors = 'a'\nweight = 9999999",
            "weight[1].weight: 9999999 is too large: it may be 1,000,000",
        ),
        ("[[weight]]\nconnectors = 'a'\nweight = '2'", "weight[1].weight: '2' is no whole number: write for example"),
        (
            "[[affinity]]\nconnectors = 'a'\nworkers = 'w1'",
            "affinity[1].workers: it has to be a list, such as workers = ",
        ),
        (
            "[[affinity]]\nconnectors = '[a'\nworkers = ['w']",
            "affinity[1].connectors: '[a' has a [ without a ]: write ",
        ),
        ("[[spread]]\nconnectors = 'a'\nover = 'rack'", "spread[1].over: 'rack' is none of 'host', 'zone'"),
        ("max-moves = 0", "max-moves: 0 is too small: it has to be 1 at least"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(DocumentError, match="^" + re.escape(says)):
        read_tables(tomllib.loads(text))


@pytest.mark.parametrize("text", ["{", "[]", "null", "[" * 100_000, '{"max-moves": 1e99}'])
def test_a_setting_that_is_no_document(text: str) -> None:
    with pytest.raises(DocumentError):
        read_setting(text)


def test_the_example_is_one() -> None:
    rules = read_tables(tomllib.loads((Path(__file__).parents[2] / "examples" / "placement.toml").read_text()))
    assert all([rules.cordons, rules.weights, rules.affinities, rules.separations, rules.spreads, rules.capacities])
