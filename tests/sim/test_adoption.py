"""Is every seed well while groups go from the cluster to kcoord and back, and is it noticed when a rule of adoption or
release is broken?
"""

from __future__ import annotations

from functools import partial

import attrs
import pytest

from kcoord.sim.adoption import context
from kcoord.sim.adoption.plan import draw
from kcoord.sim.basis.run_kinds import ADOPTION
from kcoord.sim.series.run import replay_command, run_seed, run_seeds
from tests.light import fewer, some
from tests.sim.adoption_mutants import ADOPTION_MUTANTS
from tests.sim.mutant_seeds import is_noticed_in
from tests.sim.mutants import Mutant

SEEDS = fewer(30, 6)
PROOF_BLOCKS, PROOF_SEEDS = 40, 500
NOTICED_WITHIN = 300
# fmt: off
KNOWN_SEEDS = (
    0, 2, 6, 12, 32, 62, 241, 377, 302, 426, 431, 482, 642, 596, 732, 874, 963, 1008, 1514, 2090, 2359, 5205, 5498,
    8917, 20042, 915, 4085, 5005913, 5006549, 5013434, 974, 8133, 1067, 1635, 3499, 6363,
    5026520, 5005305, 5106160, 5106250, 5109635, 5110679, 629, 1167, 102, 5108499, 5201928, 5204179,
    6003220, 7001761, 7105740, 7101666,
)
# fmt: on
"""These show all mutants today, and are tried first, after the one that showed the mutant last time."""


def failures(seeds: range) -> list[str]:
    failed = [each for each in run_seeds(seeds, kind=ADOPTION) if each.violation is not None]
    return [f"{replay_command(each.seed, ADOPTION)}  # {each.violation}" for each in failed]


MENDED_SEEDS = {
    3791: "a release that had been taken back began, because its decision had waited for the sentinel",
    4944: "kcoord answered a heartbeat while it asked whose the group is; the cluster put the member out meanwhile",
    5000569: "the judge minded that a newcomer was put out which had been given nothing",
    5000857: "kcoord put out a client that had joined the cluster directly and got a generation with kcoord alone",
    5001250: "such clients got what members here worked on, because kcoord left them alone with the group",
    5004136: "who had stood still through a release joined the cluster with what others had by then",
    5004204: "who had stood still while an adoption was broken off was told to join, and kept what others had by then",
    5005305: "the same while kcoord itself was killed in between",
    5005913: "the same after a release that the cluster had refused",
    5006549: "whose session had ended while an adoption was broken off was told to join, and kept what it had",
    5013434: "kcoord answered heartbeats although it had just been shown that the cluster has the group",
    5013782: "the answer from just before a release was repeated to a member until the release was over",
    5026520: "a commit that had waited was carried out after a later one of the same client",
    14051: "who came from a broken adoption, while the next client joined those who had its work, kept old positions",
    1635: "with SASL nobody could speak for the sentinel, and a release stood for good",
    3499: "the same for a member that only commits",
    3092: "an adoption that the cluster had refused gave back the members that the next one had just taken over",
    3419: "with SASL others got a generation without the member that had removed the sentinel",
    1563: "the same because JoinGroups counted that had been lost",
    5109635: "with SASL nobody told kcoord's own member to leave, and clients of a released group were refused",
    5029789: "who joined directly in the last moment of an adoption was left alone with the group",
    5110679: "the same while the group was to be released",
    5106160: "kcoord joined with a type of its own making, and members were refused because of it",
    102: "a release was taken back while kcoord was restarted, and a client that it had let in got everything",
    5106250: "a release was taken back, and a client that had joined directly got what members here worked on",
    5112597: "the judge took what had been given up for nobody's, though somebody had it",
    5112185: "the judge counted again on a member whose session had ended, and which heard so one call late",
    5114981: "the same: it was asked to join before it was put out",
    5001692: "the judge counted on a member that stood still through a whole rebalance",
    5108499: "kcoord answered a heartbeat after an adoption had lost its connection; the cluster had the member still",
    5201928: "a member was put out for not syncing that had had the answer to its JoinGroup for a moment only",
    5204179: "who came while a release was taken back was passed to the cluster, and then put out there",
    5111941: "the judge minded a commit that the network had held up, and that came after the client's next one",
    5007539: "the judge minded that a JoinGroup from before a lost connection came after the next one",
    5011261: "the same with one that the process before had sent",
    5208022: "who came by a former id was told nothing but a new one, and librdkafka then loses its partitions",
    6008948: "a group was adopted once more while its adoption was still held up in the network",
    6011460: "a member joined the cluster while its adoption was held up in the network, and then was put out there",
    6003220: "a load forgot that a session was paused, and a member that waited for its answer was removed",
    7101666: "who came by an id of the cluster's to a group that is kcoord's by now was told nothing but a new one",
    7105740: "a static member was unknown: it was on its way into the cluster when its release was taken back",
    7105981: "the same",
    4827: "the cluster loaded a log in which the sentinel had not left, after kcoord had seen that it was gone",
    11230: "the sentinel had gone when kcoord looked why a client had been refused; the answer had been on its way",
    16699: "a commit that had waited for the group's answer overtook a later one of the same client",
    277: "the group's calls waited for ever when no member's connection was free for its adoption",
}
"""Seeds that found something once, above those that run each time."""


def test_no_seed_finds_anything() -> None:
    assert failures(range(SEEDS)) == []


@pytest.mark.parametrize("seed", some([*MENDED_SEEDS], 4))
def test_a_seed_that_found_something_is_well(seed: int) -> None:
    assert failures(range(seed, seed + 1)) == []


def test_what_a_dead_static_member_had_to_give_up_may_be_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    """It died before the others were given work, and its successor did not claim what it had. Seed 5029715 showed it
    when no seed had logins yet.
    """
    monkeypatch.setattr(context, "draw", lambda *of: attrs.evolve(draw(*of), uses_sasl=False))
    assert run_seed(5029715, kind=ADOPTION).violation is None


@pytest.mark.proof
@pytest.mark.parametrize("block", range(PROOF_BLOCKS))
def test_no_seed_of_many_finds_anything(block: int) -> None:
    first = SEEDS + block * PROOF_SEEDS
    assert failures(range(first, first + PROOF_SEEDS)) == []


def test_a_seed_is_one_run() -> None:
    def lines(seed: int) -> list[str]:
        found: list[str] = []
        run_seed(seed, found.append, ADOPTION)
        return found

    for seed in some((0, 13), 1):
        first = lines(seed)
        assert len(first) > 100
        assert lines(seed) == first


@pytest.mark.long("dozens of runs")
@pytest.mark.parametrize("mutant", ADOPTION_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_is_noticed(mutant: Mutant) -> None:
    """And the seed that shows it is well without it."""
    seeds = (*KNOWN_SEEDS, *range(NOTICED_WITHIN))
    assert is_noticed_in(mutant, seeds, partial(run_seed, kind=ADOPTION), ADOPTION), f"{mutant.name}: not noticed"
