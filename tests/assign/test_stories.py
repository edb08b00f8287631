"""Who holds what after each round? Examples of KIP-415 and of others.

"the paper" in a story's name is the one that designs I to III are of (docs/assignors.md); "the draft" is the draft
KIP that connect groups come from (docs/decisions/0035-errata-of-the-draft.md).
"""

from __future__ import annotations

import pytest

from kcoord.assign import ConnectAssignor, CooperativeAssignor, EagerAssignor, ServerAssignor, UniformAssignor
from tests.assign.fleet import Fleet, lines

EVEN_AND_STICKY = {
    "the draft: an empty group, W1, W2; then W3 as the next case study has it": """
        AC0 AT1 AT2 BC0 BT1 added |
        W1 joins                  | W1: AC0 AT1 AT2 BC0 BT1
        W2 joins                  | W1: AC0 AT1 AT2         | W2: BC0 BT1
        W3 joins                  | W1: AC0 AT1             | W2: BC0 BT1 | W3: AT2
        """,
    "the paper: a member joins": """
        they have                 | A: T1 T4 | B: T2 | C: T3
        D joins                   | A: T1    | B: T2 | C: T3 | D: T4
        """,
    "all at once": """
        AC0 AT0 AT1 AT2 AT3 AT4 AT5 AT6 added |
        W1 W2 W3 join             | W1: AC0 AT0 AT3 | W2: AT1 AT4 AT6 | W3: AT2 AT5
        """,
    "the one more goes to who has less of the other kind": """
        AC0 AT0 BC0 CC0 added     |
        W1 W2 join                | W1: AC0 CC0 | W2: AT0 BC0
        DC0 DT0 DT1 added         | W1: AC0 CC0 DT0 DT1 | W2: AT0 BC0 DC0
        """,
    "a connector gets tasks": """
        they have                 | W1: AC0 AT0     | W2: AT1
        BC0 BT0 added             | W1: AC0 AT0 BT0 | W2: AT1 BC0
        BT1 BT2 BT3 added         | W1: AC0 AT0 BT0 BT1 | W2: AT1 BC0 BT2 BT3
        """,
    "a connector is removed": """
        they have                 | W1: AC0 AT0 AT1 | W2: BC0 BT0 BT1 | W3: AT2
        BC0 BT0 BT1 removed       | W1: AC0 AT0     | W2: AT1         | W3: AT2
        """,
    "a connector loses some tasks": """
        they have                 | W1: AC0 AT0 AT3 | W2: AT1 AT4 | W3: AT2 AT5
        AT2 AT5 removed           | W1: AC0 AT0     | W2: AT1 AT4 | W3: AT3
        """,
    "a connector's tasks lie on many members, also after they have moved": """
        they have                 | W1: AT0 AT1 BT0 BT1 CT0 CT1
        W2 joins                  | W1: AT0 BT0 CT0 | W2: AT1 BT1 CT1
        """,
    "everything is removed": """
        they have                 | W1: AC0 AT0 | W2: AT1
        AC0 AT0 AT1 removed       | W1:         | W2:
        """,
    "more members than resources": """
        they have                 | W1: AC0 | W2: AT0 | W3:
        W0 joins                  | W0:     | W1: AC0 | W2: AT0 | W3:
        """,
}

NOTHING_WAITS = {
    "the paper, design I: a member leaves": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1 T4 | B: T2 | C: T3
        """,
    "the paper, design I: a member bounces": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1 T4 | B: T2 | C: T3
        D returns                 | A: T1    | B: T2 | C: T3 | D: T4
        """,
    # The draft KIP has W1 [AC0, AT1, BC0] and W3 [AT2, BT1]: two connectors on W1, none on W3.
    "the draft: a worker leaves": """
        they have                 | W1: AC0 AT1     | W2: BC0 BT1 | W3: AT2
        W2 leaves                 | W1: AC0 AT1 BT1 | W3: AT2 BC0
        """,
    "two leave": """
        they have                 | A: T1 T5 | B: T2 T6 | C: T3 | D: T4
        B C leave                 | A: T1 T2 T5 | D: T3 T4 T6
        """,
}

THE_DEPARTED_ARE_WAITED_FOR = {
    # CG-22 in all of them
    "the paper, design II: a member leaves": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1    | B: T2 | C: T3 | 300 s
        300 seconds               | A: T1 T4 | B: T2 | C: T3
        """,
    "the paper, design II: a member bounces": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1    | B: T2 | C: T3 | 300 s
        D returns                 | A: T1    | B: T2 | C: T3 | D: T4
        """,
    "the draft: a worker leaves": """
        they have                 | W1: AC0 AT1     | W2: BC0 BT1 | W3: AT2
        W2 leaves                 | W1: AC0 AT1     | W3: AT2     | 300 s
        300 seconds               | W1: AC0 AT1 BT1 | W3: AT2 BC0
        """,
    "the draft: a worker bounces": """
        they have                 | W1: AC0 AT1 | W2: BC0 BT1 | W3: AT2
        W2 leaves                 | W1: AC0 AT1 | W3: AT2     | 300 s
        W2 returns                | W1: AC0 AT1 | W2: BC0 BT1 | W3: AT2
        """,
    "all are bounced in turn: nothing moves": """
        they have                 | W1: AC0 AT1 | W2: BC0 BT1 | W3: AT2
        W1 leaves                 | W2: BC0 BT1 | W3: AT2     | 300 s
        W1 returns                | W1: AC0 AT1 | W2: BC0 BT1 | W3: AT2
        W2 leaves                 | W1: AC0 AT1 | W3: AT2     | 300 s
        W2 returns                | W1: AC0 AT1 | W2: BC0 BT1 | W3: AT2
        W3 leaves                 | W1: AC0 AT1 | W2: BC0 BT1 | 300 s
        W3 returns                | W1: AC0 AT1 | W2: BC0 BT1 | W3: AT2
        """,
    "another departure prolongs nothing": """
        they have                 | A: T1       | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1       | B: T2 | C: T3 | 300 s
        100 seconds               | A: T1       | B: T2 | C: T3 | 200 s
        C leaves                  | A: T1       | B: T2 | 200 s
        D returns                 | A: T1       | B: T2 | D: T4 | 200 s
        200 seconds               | A: T1 T3    | B: T2 | D: T4
        """,
    "the last one back ends the delay, and the next departure starts a fresh one": """
        they have                 | A: T1       | B: T2 | C: T3
        C leaves                  | A: T1       | B: T2 | 300 s
        200 seconds               | A: T1       | B: T2 | 100 s
        C returns                 | A: T1       | B: T2 | C: T3
        B leaves                  | A: T1       | C: T3 | 300 s
        """,
    "new resources do not wait": """
        they have                 | A: T1       | B: T2 | C: T3
        C leaves                  | A: T1       | B: T2 | 300 s
        T4 T5 added               | A: T1 T4    | B: T2 T5 | 300 s
        300 seconds               | A: T1 T3 T4 | B: T2 T5
        """,
    "new workers do not wait, nor get what does": """
        they have                 | A: T1 T4    | B: T2 T5 | C: T3 T6
        C leaves                  | A: T1 T4    | B: T2 T5 | 300 s
        D joins                   | A: T1 T4    | B: T2    | D: T5 | 300 s
        C returns                 | A: T1 T4    | B: T2    | C: T3 T6 | D: T5
        """,
    "one that comes back late is as good as new": """
        they have                 | A: T1    | B: T2 | C: T3
        C leaves                  | A: T1    | B: T2 | 300 s
        300 seconds               | A: T1 T3 | B: T2
        C returns                 | A: T1    | B: T2 | C: T3
        """,
    "what is removed is not waited for": """
        they have                 | A: T1 | B: T2 | C: T3
        C leaves                  | A: T1 | B: T2 | 300 s
        T3 removed                | A: T1 | B: T2
        """,
    "one that had nothing is not waited for": """
        they have                 | A: T1 | B: T2 | C:
        C leaves                  | A: T1 | B: T2
        """,
}

ALL_ANEW = {
    "as Connect's first assignor: connectors, then tasks, one by one": """
        AC0 AT1 AT2 BC0 BT1 added |
        W1 joins                  | W1: AC0 AT1 AT2 BC0 BT1
        W2 joins                  | W1: AC0 AT1 BT1 | W2: AT2 BC0
        W3 joins                  | W1: AC0 AT2     | W2: BC0 BT1 | W3: AT1
        """,
    "nothing waits, and what stood may move": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        A leaves                  | B: T1 T4 | C: T2 | D: T3
        A returns                 | A: T1    | B: T2 | C: T3 | D: T4
        """,
}


def table(*parts: tuple[list[ServerAssignor | ConnectAssignor], dict[str, str]]) -> list[object]:
    return [
        pytest.param(assignor, story, id=f"{assignor.name}: {name}")
        for assignors, stories in parts
        for name, story in stories.items()
        for assignor in assignors
    ]


@pytest.mark.parametrize(
    ("assignor", "story"),
    table(
        ([UniformAssignor(), CooperativeAssignor()], EVEN_AND_STICKY),
        ([UniformAssignor()], NOTHING_WAITS),
        ([CooperativeAssignor()], THE_DEPARTED_ARE_WAITED_FOR),
        ([EagerAssignor()], ALL_ANEW),
    ),
)
def test_a_story(assignor: ServerAssignor | ConnectAssignor, story: str) -> None:
    """CG-23: what an assignor gives, round after round."""
    assert Fleet(assignor).play(lines(story)) == lines(story)


@pytest.mark.parametrize("story", NOTHING_WAITS.values(), ids=NOTHING_WAITS)
def test_without_a_delay_cooperative_gives_away_at_once(story: str) -> None:
    fleet = Fleet(CooperativeAssignor(), rebalance_delay_ms=0)
    assert fleet.play(lines(story)) == lines(story)
