"""What does a Java leader do, told as stories? Those of KIP-415 and of the repairs since.

A line is one rebalance: what happened before it, what each worker runs after it, what it has to stop (-T1), and the
delay. `again`: nothing happened but that workers stopped what they had to. A worker that bounces has another id.
"the paper" in a story's name is the one that designs I to III are of (docs/assignors.md).
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from kcoord.assign import Resource
from kcoord.assign.incremental import Answer, Memory, Seen, Snapshot, Worker, answer, eager, synced, written
from kcoord.assign.incremental.model import CONFIG_MISMATCH
from tests.assign.fleet import Story, lines, resources, short

STORIES = {
    # Connect lets go of what is too many first; who is new gets it in the round after
    "the paper: a worker joins": """
        A with 3 tasks, B with 1 |
        W1 joins    | W1: AC0 BC0 AT0 AT1 AT2 BT0
        W2 joins    | W1: BC0 AT2 BT0 -AC0 -AT0 -AT1 | W2:
        again       | W1: BC0 AT2 BT0                | W2: AC0 AT0 AT1
        again       | W1: BC0 AT2 BT0                | W2: AC0 AT0 AT1
        """,
    "the paper, a member leaves: its work waits 300 s": """
        A with 4 tasks |
        W1 W2 join  | W1: AC0 AT0 AT2 | W2: AT1 AT3
        again       | W1: AC0 AT0 AT2 | W2: AT1 AT3
        W2 leaves   | W1: AC0 AT0 AT2 | 300000 ms
        1000 ms     | W1: AC0 AT0 AT2 | 299000 ms
        299000 ms   | W1: AC0 AT1 AT3 AT0 AT2
        """,
    # where design II gives it its own back at once
    "the paper, a member bounces: it waits for the end of the delay too": """
        A with 4 tasks |
        W1 W2 join  | W1: AC0 AT0 AT2 | W2: AT1 AT3
        W2 is W3    | W1: AC0 AT0 AT2 | W3:         | 300000 ms
        5000 ms     | W1: AC0 AT0 AT2 | W3:         | 295000 ms
        295000 ms   | W1: AC0 AT0 AT2 | W3: AT1 AT3
        """,
    "another departure prolongs nothing": """
        A with 4 tasks |
        W1 W2 W3 join | W1: AC0 AT0 AT3 | W2: AT1 | W3: AT2
        W2 leaves   | W1: AC0 AT0 AT3 | W3: AT2 | 300000 ms
        1000 ms     | W1: AC0 AT0 AT3 | W3: AT2 | 299000 ms
        W3 leaves   | W1: AC0 AT0 AT3 | 299000 ms
        299000 ms   | W1: AC0 AT1 AT2 AT0 AT3
        """,
    "the leader leaves: the next one remembers nothing, and nothing waits": """
        A with 4 tasks |
        W1 W2 join  | W1: AC0 AT0 AT2 | W2: AT1 AT3
        W1 leaves   | W2: AC0 AT0 AT2 AT1 AT3
        """,
    "new work does not wait": """
        A with 2 tasks |
        W1 W2 join  | W1: AC0 AT0 | W2: AT1
        W2 leaves   | W1: AC0 AT0 | 300000 ms
        B with 1    | W1: BC0 AC0 BT0 AT0 | 300000 ms
        """,
    "a connector is deleted": """
        A with 1, B with 1 |
        W1 W2 join  | W1: AC0 AT0 | W2: BC0 BT0
        B deleted   | W1: AC0 AT0 | W2: -BC0 -BT0
        again       | W1: AC0 AT0 | W2:
        """,
    "KAFKA-9848: an answer is lost, nobody is gone": """
        A with 4 tasks |
        W1 W2 join  | W1: AC0 AT0 AT2 | W2: AT1 AT3
        W2 forgets  | W1: AC0 AT0 AT2 | W2: AT1 AT3
        """,
    "KAFKA-9841: two run the same, both stop": """
        A with 4 tasks |
        W1 W2 join  | W1: AC0 AT0 AT2 | W2: AT1 AT3
        W3 joins with AT1 | W1: AC0 AT0 AT2 | W2: AT3 -AT1 | W3: -AT1
        again       | W1: AC0 AT0 AT2 | W2: AT3 | W3: AT1
        """,
    "KAFKA-12495: revocations in two rounds running wait": """
        A with 6 tasks |
        W1 joins    | W1: AC0 AT0 AT1 AT2 AT3 AT4 AT5
        W2 joins    | W1: AC0 AT3 AT4 AT5 -AT0 -AT1 -AT2 | W2:
        W3 joins    | W1: AC0 AT3 AT4 AT5 | W2: AT0 AT2 | W3: AT1 | 40 ms
        40 ms       | W1: AC0 AT4 AT5 -AT3 | W2: AT0 AT2 | W3: AT1
        again       | W1: AC0 AT4 AT5 | W2: AT0 AT2 | W3: AT3 AT1
        """,
}


@attrs.define
class Cluster:
    """Workers, whose first one leads."""

    max_delay_ms: int = 300_000
    rows: dict[str, tuple[Resource, ...]] = attrs.Factory(dict)
    counts: dict[str, int] = attrs.Factory(dict)
    memory: dict[str, Memory] = attrs.Factory(dict)
    last: dict[str, int] = attrs.Factory(dict)
    generation: int = 0
    now_ms: int = 0

    def play(self, story: Story) -> Story:
        """What comes of a story: the same where it is true."""
        told = []
        for what, *_ in story:
            self.happens(what)
            told.append([what, *(self.told(self.rebalance()) if self.rows else [])])
        return told

    def happens(self, what: str) -> None:
        words = what.replace(",", "").split()
        for verb, act in EVENTS.items():
            if verb in words:
                return act(self, words)
        raise AssertionError(what)

    def rebalance(self) -> Answer:
        self.generation += 1
        leader = next(iter(self.rows))
        seen = Seen(
            leader,
            tuple(Worker(member, held=written(row)) for member, row in self.rows.items()),
            Snapshot(task_counts=self.counts),
            generation=self.generation,
            last_completed_generation=self.last.get(leader, -1),
            now_ms=self.now_ms,
        )
        told = answer(seen, self.memory.get(leader), self.max_delay_ms)
        self.memory[leader] = told.memory
        for member, share in told.shares.items():
            self.rows[member] = synced(self.rows[member], share)
            self.last[member] = self.generation
        return told

    def told(self, of: Answer) -> list[str]:
        cells = []
        for member, row in sorted(self.rows.items()):
            runs = [short(each) for kind in (True, False) for each in row if each.is_connector == kind]
            stops = [f"-{short(each)}" for each in sorted(of.shares[member].revoked)]
            cells.append(" ".join([f"{member}:", *runs, *stops]))
        return cells + ([f"{of.delay_ms} ms"] if of.delay_ms else [])

    def join(self, words: list[str]) -> None:
        held = tuple(sorted(resources(" ".join(words[words.index("with") + 1 :])))) if "with" in words else ()
        for word in words:
            if word.startswith("W"):
                self.rows[word] = held

    def leave(self, words: list[str]) -> None:
        del self.rows[words[0]]
        self.memory.pop(words[0], None)
        self.last.pop(words[0], None)

    def bounce(self, words: list[str]) -> None:
        self.leave(words)
        self.rows[words[2]] = ()

    def forget(self, words: list[str]) -> None:
        self.rows[words[0]] = ()

    def wait(self, words: list[str]) -> None:
        self.now_ms += int(words[0])

    def configure(self, words: list[str]) -> None:
        for name, number in zip(words, words[2:], strict=False):
            if number.isdigit():
                self.counts[name] = int(number)

    def delete(self, words: list[str]) -> None:
        del self.counts[words[0]]

    def nothing(self, words: list[str]) -> None:
        pass


EVENTS: dict[str, Callable[[Cluster, list[str]], None]] = {
    "joins": Cluster.join,
    "join": Cluster.join,
    "leaves": Cluster.leave,
    "is": Cluster.bounce,
    "forgets": Cluster.forget,
    "ms": Cluster.wait,
    "deleted": Cluster.delete,
    "with": Cluster.configure,
    "again": Cluster.nothing,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_story(story: str) -> None:
    assert Cluster().play(lines(story)) == lines(story)


def test_without_a_delay_nothing_waits() -> None:
    """KAFKA-15693: lost work is given away at once, and revocations follow each other at once."""
    cluster = Cluster(max_delay_ms=0)
    story = lines("""
        A with 4 tasks |
        W1 W2 join  | W1: AC0 AT0 AT2 | W2: AT1 AT3
        W2 leaves   | W1: AC0 AT1 AT3 AT0 AT2
        W2 joins    | W1: AC0 AT0 AT2 -AT1 -AT3 | W2:
        W3 joins    | W1: AC0 AT0 AT2 | W2: AT1 | W3: AT3
        """)
    assert cluster.play(story) == story


def seen(leader_at: int, *offsets: int, fresh: Snapshot | None = None) -> Seen:
    workers = tuple(Worker(f"w{at}", f"http://{at}/", offset) for at, offset in enumerate(offsets))
    return Seen("w0", workers, Snapshot(leader_at, {"a": 1}), fresh, generation=1)


@pytest.mark.parametrize("assignor", [answer, eager.answer])
def test_the_leader_must_have_read_what_others_have(assignor: Callable[[Seen], Answer]) -> None:
    """As of which offset a round is computed, and from which configurations."""
    newer = Snapshot(9, {"a": 1, "b": 0})
    for round_, error, offset, read in (
        (seen(5, 5, 5), 0, 5, 5),
        (seen(7, 5, 6), 0, 6, 7),
        (seen(5, 5, 6), CONFIG_MISMATCH, 6, 5),
        (seen(5, 5, 6, fresh=newer), 0, 9, 9),
        (seen(5, 5, 10, fresh=newer), CONFIG_MISMATCH, 10, 5),
        (seen(5, 5, 5, fresh=newer), 0, 5, 5),
    ):
        told = assignor(round_)
        assert (told.error, told.config_offset, told.snapshot.offset) == (error, offset, read)
        assert told.leader_url == "http://0/"
        assert any(share.assigned for share in told.shares.values()) == (not error)
        assert (told.memory == Memory()) == (error != 0 or assignor is eager.answer)


def test_a_leader_that_is_no_member_is_an_error() -> None:
    with pytest.raises(ValueError, match="the leader w9 is not among the 2 members"):
        answer(attrs.evolve(seen(1, 1, 1), leader_id="w9"))
