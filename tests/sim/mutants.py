"""Which rules are broken on purpose, one at a time, to see that the simulator notices?

A mutant replaces a piece of the text of one function of the engine. The changed function is compiled and its code put
in the place of the other's, so that everybody who calls it, by whatever name, calls the mutant. A piece that is not
found exactly once says that the engine has changed: then the mutant is to be written anew.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import attrs

from kcoord.group.apis import connect_group_heartbeat
from kcoord.group.connect import (
    answers,
    computing,
    configured_set,
    install,
    membership,
    native_dialect,
    timers,
)
from kcoord.group.modern import epochs, grants_and_releases, newest_connection, reconcile, sessions
from kcoord.group.shard import Shard
from kcoord.group.state.groups.modern_group import ModernGroup
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.records import connect_replay as replay
from kcoord.sim.coordinator import Coordinator


@attrs.frozen
class Mutant:
    """One broken rule."""

    rule: int
    """In `MUTANTS` 2 stands for CG-2 (docs/rules/connect-groups.md). Other lists say what theirs stand for."""
    what: str
    """What is wrong with it."""
    function: Callable[..., Any]
    old: str
    new: str
    plan: str = ""
    """The run of `plans` that shows it, where few seeds do."""

    @property
    def name(self) -> str:
        return f"rule {self.rule}: {self.what}"


MUTANTS = (
    Mutant(1, "what is withdrawn leaves the current at once", grants_and_releases.advance_member,
           "if now.granted:", "if now.assignment_sent != member.current:"),
    Mutant(2, "what others may be running is granted", reconcile.progress,
           "if resource not in owners", "if True"),
    Mutant(3, "what was not withdrawn is released", grants_and_releases.note_owned,
           "or member.reported is None or not member.releasing:\n"
           "        return\n"
           "    released = (member.releasing & member.current) - member.reported",
           "or member.reported is None:\n"
           "        return\n"
           "    released = member.current - member.reported"),
    Mutant(4, "an old connection is heard", newest_connection.check_newest,
           "order is Order.OLDER", "False"),
    Mutant(5, "who is fenced is removed", connect_group_heartbeat._live,
           "    repeat = _check_epoch(group, member, request.member_epoch, owned)\n",
           "    try:\n"
           "        repeat = _check_epoch(group, member, request.member_epoch, owned)\n"
           "    except Refused:\n"
           "        remove(transition, group, [member], Reason.SESSION_EXPIRED)\n"
           "        raise\n"),
    Mutant(6, "every heartbeat at epoch 0 is a join", connect_group_heartbeat._is_join,
           "and request.rebalance_timeout_ms > 0 and owned == frozenset()", ""),
    Mutant(6, "who joins again always bumps the group epoch", membership.rejoin,
           "if was_evicted:", "if True:"),
    Mutant(7, "what a worker keeps too long is free", membership.evict,
           "group, member, member.current,", "group, member, NOTHING,"),
    Mutant(7, "who keeps it for ever is never put out", timers.sweep_connect,
           "if stubborn:", "if False:"),
    Mutant(8, "a lower timeout binds at once", answers._bind_session,
           "if timeout_ms < member.session_timeout_ms:", "if False:"),
    Mutant(8, "a longer timeout is not written down", answers._bind_session,
           "if timeout_ms > member.metadata.session_timeout_ms:", "if False:"),
    Mutant(8, "a session ends too early", sessions._session_ends_ms,
           "member.session_timeout_ms", "member.session_timeout_ms // 2"),
    Mutant(9, "who leaves frees nothing", connect_group_heartbeat._leave,
           "remove(transition, group, [member], Reason.LEFT)", "pass"),
    Mutant(10, "the assignment epoch is reached before all is owned", reconcile.progress,
           "complete=not waiting_for", "complete=True"),
    Mutant(11, "after a load only the recorded epoch is good", sessions.open_native_session,
           "member.epoch_unsure = member.recorded_epoch != AWAY_EPOCH", "member.epoch_unsure = False"),
    Mutant(12, "the previous epoch is refused", epochs.is_repeated,
           "if epoch > JOINING_EPOCH and", "if False and"),
    Mutant(12, "the previous epoch is not written down", records.current_assignment,
           "previous_member_epoch=previous", "previous_member_epoch=-1"),
    Mutant(13, "changed timeouts bump the group epoch", membership.update,
           "if reason is not None and not quietly:\n        bump(transition, group, reason,",
           "if not quietly:\n        bump(transition, group, reason or Reason.JOINED,"),
    Mutant(13, "changed metadata does not bump it", membership.differs,
           "if (now.version, now.metadata) != (before.version, before.metadata):", "if False:"),
    Mutant(13, "the configuration's offset alone bumps it", configured_set.learn_configured,
           "if changed and not bumped:", "if not bumped:"),
    Mutant(13, "the end of the delay does not bump it", timers.sweep_connect,
           "bump(transition, group, Reason.DELAY_OVER)", "pass"),
    Mutant(14, "after a load nobody computes", timers.open_connect_sessions,
           "settle(transition, group)", "pass"),
    Mutant(18, "an install counts for members that it does not know", install.install,
           "epoch=frozen.epoch,", "epoch=group.epoch,"),
    Mutant(18, "an install brings back what was deleted since", install._new_targets,
           "if deleted and exists is not None and not resources <= exists:", "if False:"),
    Mutant(18, "nonsense is installed", install.check,
           "members = {", "return\n    members = {"),
    Mutant(22, "a load forgets the delay", timers.open_connect_sessions,
           "group.delay_due_ms = transition.now_ms + _left_of_delay_ms(transition, group)", "pass"),
    Mutant(22, "what waits for a worker is given away and waits on", install._others,
           "left = known.resources - given", "left = known.resources"),
    Mutant(22, "nothing waits for a worker that is gone", install._others,
           "and not delayed", ""),
    Mutant(24, "an answer that writes nothing waits for nothing", Coordinator._when_committed,
           "if not self.pending:", "if True:"),
    Mutant(25, "every answer is remembered", answers._cached,
           "if not converged or response.error_code:", "if False:"),
    Mutant(25, "an install does not end what is remembered", ModernGroup.set_assignment_epoch,
           "self.forget_all()", "pass"),
    Mutant(25, "the choice does not end what is remembered", computing._choose,
           "group.forget(group.members[chosen])", "pass"),
    Mutant(25, "a configuration does not end what is remembered", replay._configuration,
           "state.connect[key.group_id].forget_all()", "pass"),
    Mutant(25, "the loss of the shard does not end what is remembered", ModernGroup.close,
           "self.forget_all()", "pass"),
    Mutant(25, "a newer connection does not end what is remembered", newest_connection.take_in,
           "group.forget(member)", "pass"),
    Mutant(26, "news does not let the answer go", native_dialect.notify,
           "and answers.has_news(group, member)", "and False"),
    Mutant(26, "an answer is kept back too long", answers.answer_or_hold,
           "min(max_wait_ms, _longest_wait_ms(limits))", "max_wait_ms"),
    Mutant(26, "another request of the connection does not let it go", Shard._flush_held_reply,
           "self.state.held.get(connection, {})", "{}"),
    Mutant(26, "an answer is kept back on an old connection", newest_connection.take_in,
           "refuse_all(transition, group, member, ErrorCode.FENCED_MEMBER_EPOCH)", "pass"),
)  # fmt: skip


@contextmanager
def put_in(mutant: Mutant) -> Iterator[None]:
    """Run with this mutant in the engine's place."""
    function = mutant.function
    assert isinstance(function, FunctionType)
    healthy = function.__code__
    function.__code__ = _broken(mutant, function)
    try:
        yield
    finally:
        function.__code__ = healthy


def _broken(mutant: Mutant, function: FunctionType) -> CodeType:
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(mutant.old) == 1, f"{mutant.name}: write it anew, {function.__qualname__} has changed"
    made: dict[str, Any] = {}
    code = "from __future__ import annotations\n" + source.replace(mutant.old, mutant.new)
    exec(compile(code, inspect.getfile(function), "exec"), function.__globals__, made)
    broken = made[function.__name__]
    assert isinstance(broken, FunctionType)
    return broken.__code__
