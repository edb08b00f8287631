"""Which rules of classic workers, and of groups that change their protocol, are broken on purpose? (`mutants.py`)

A number below 100 is that of a CM rule (2 is CM-2); 102, 103, 107 and 108 are CM-32, CM-33, CM-37 and CM-38; 0 is the
change of the group's protocol. The rules stand in `docs/rules/classic-members.md`.
"""

from __future__ import annotations

from kcoord.group.connect import computing, departed_workers, install
from kcoord.group.conversion import classic_holdings, to_classic, to_connect
from kcoord.group.state.classic_workers import leader_picture as picture
from kcoord.group.state.classic_workers import look_verdicts as asking_leader
from kcoord.group.translation import answers, heartbeat, join_group, member_checks, sweep, sync_group
from kcoord.group.translation.delivery import assignment_delta, join_answers, rejoin_policy, sync_answers
from kcoord.group.translation.rounds import config_round, existence_looks, leader, leader_view
from tests.sim.mutants import Mutant

CONVERSION = 0

CLASSIC_MUTANTS = (
    Mutant(CONVERSION, "what workers run is forgotten with their group's old kind", to_connect._records,
           "worker.current, known", "frozenset(), known"),
    Mutant(2, "the generations begin anew", to_connect._records,
           "yield records.group_epoch(scratch, epoch,", "yield records.group_epoch(scratch, 0 * epoch,"),
    Mutant(CONVERSION, "the way back forgets who runs what", to_classic._assignment,
           "assigned=member.current,", ""),
    Mutant(3, "the leader is answered as a follower", join_answers._answer,
           "looks = asks_leader(group)", "looks = False and asks_leader(group)"),
    Mutant(3, "the leader is shown nobody", existence_looks.open_look,
           "list_slices(group, look.picture, look.offset), member.member_id", "[], member.member_id"),
    Mutant(4, "what others may be running is given", assignment_delta.increment,
           "if each not in group.owners", "if True"),
    Mutant(4, "the leader is shown nothing of what workers are to run", leader_view.list_slices,
           "if each.resources:", "if False:"),
    Mutant(5, "what a worker is given is not written down", sync_answers.give,
           "if assigned:", "if False:"),
    Mutant(5, "what a worker has stopped stays its own", join_group._note_reported,
           "if reported != member.current:", "if False:"),
    Mutant(6, "a higher config offset is shown than the leader's own", leader_view.list_slices,
           "each.url, offset, allocation", "each.url, offset + 1, allocation"),
    Mutant(7, "a worker is told of a lower config offset than its own", answers.assignment_of,
           "max(classic.config_offset, group.computed_offset, known, _common_offset(group))", "group.computed_offset"),
    Mutant(8, "what was computed counts only if nothing has happened since", sync_group.sync_translated,
           "if session.computes and _is_shown(group, member):",
           "if session.computes and _is_shown(group, member) and group.epoch == session.generation:"),
    Mutant(11, "nobody hears of a new-protocol leader", install.install,
           "if group.computed_by != led:", "if False:"),
    Mutant(12, "a stranger keeps what others have", join_group._adopt,
           "if group.claimants.get(each, member.member_id) == member.member_id", ""),
    Mutant(12, "who reports what others run keeps it, if the leader has not assigned", classic_holdings._doubt_reports,
           "worker.told is None and", "worker.told is None and not worker.knows_generation and", plan="3734897"),
    Mutant(12, "who has joined again keeps what others may be running", classic_holdings._doubt_reports,
           "worker.told is None and", "worker.told is None and not worker.member.assignment and", plan="9586279"),
    Mutant(14, "a new leader need not wait for the predecessor one", leader.is_free_to_lead,
           "if leader is None or leader.member_id == chosen:", "if True:"),
    Mutant(17, "the config topic's end is told too high", answers.assignment_of,
           "_common_offset(group))", "_common_offset(group)) + 1"),
    Mutant(18, "who returns gets nothing of its own", departed_workers.departed_like,
           "return next((each for each, target in departed.items() if target.url == metadata.url), None)",
           "return None"),
    Mutant(19, "who returns stands beside the one that died", join_group._whose_place,
           "transition.state.is_closed(member.connection)", "False"),
    Mutant(20, "who returns and led is a follower", join_group._come,
           "if dead is not None and group.computed_by == dead.member_id:", "if False:"),
    Mutant(21, "what a config round has touched waits on", config_round.open_config_round,
           "if target.url is not None or target.instance_id is not None:", "if False:"),
    Mutant(22, "nobody is called into a config round", config_round.nudge,
           "ask_to_rejoin(transition, group, member)", "pass"),
    Mutant(22, "a change of configuration opens no round", config_round.is_opened_by,
           "if spoken.config_offset <= open_already or", "if True or spoken.config_offset <= open_already or"),
    Mutant(22, "a round ends before all have come", config_round.end_if_complete,
           "and not holders_below(group, config_round.offset)", ""),
    Mutant(22, "who waits for the end of a round is looked at all the time", sweep.next_ms,
           "if session.parked_until_ms > now_ms or not all_wait:", "if True:"),
    Mutant(23, "work is given out while nobody leads", assignment_delta.to_give,
           "member.member_id == group.computed_by or", "True or"),
    Mutant(24, "who has work waits", sync_answers._waits,
           "if transition.now_ms >= session.parked_until_ms or not session.may_park:",
           "if transition.now_ms >= session.parked_until_ms:"),
    Mutant(23, "a leader waits until it is ready itself", rejoin_policy._knows_less,
           "member.member_id == group.computed_by or ", "", plan="3810176"),
    Mutant(24, "everybody is disturbed by everything", rejoin_policy.must_rejoin,
           "_is_called(group, member)", "True or _is_called(group, member)"),
    Mutant(103, "whenever the leader is asked, all are given what the next worker had", computing._member_input,
           "group.target_of(member) or frozenset()",
           "dict(zip(sorted(group.members), [group.target_of(group.members[each]) or frozenset()"
           " for each in [*sorted(group.members)[1:], *sorted(group.members)[:1]]]))[member.member_id]"),
    Mutant(107, "the picture is not in slices", picture._of_all,
           "yield Slice(worker.member_id, worker.url, frozenset(connectors[:1] + tasks[:1]))",
           "yield Slice(worker.member_id, worker.url, worker.target)\n"
           "        continue"),
    Mutant(102, "a leader that remembers nothing is asked once", asking_leader.Asking.judge,
           "if remembered or not was_shown else", "if True else", plan="810"),
    Mutant(108, "after each look the leader starts what it says", existence_looks.ask_again,
           "low_assignment(member)", "failed_assignment(member, 0)"),
    Mutant(26, "a call does not let the heartbeat's answer go", answers.ask_to_rejoin,
           "flush_held_heartbeat(transition, group, member)", "pass"),
    Mutant(26, "a heartbeat's answer is kept back too long", heartbeat.heartbeat_translated,
           "member.session_timeout_ms // 3", "10 * member.session_timeout_ms"),
    Mutant(28, "a stalled heartbeat decides which generation a worker knows", member_checks.note_generation,
           "if session.generation_unsure and", "if False and", plan="3639528"),
)  # fmt: skip
