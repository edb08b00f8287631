"""Which rules of adoption and release are broken on purpose, to see that the simulator notices? See `mutants.py`.

The numbers are those of AD rules (docs/rules/adoption.md). Two of the mutants of AD-15 do what AD-16 forbids: the
sentinel leaves first, and JoinGroup is passed with the old member id.
"""

from __future__ import annotations

from kcoord.gateway.handlers import group_calls, offsets
from kcoord.gateway.ownership.handover.adoption import Adoptions, _Known
from kcoord.gateway.ownership.handover.calls_during_release import ReleaseCalls
from kcoord.gateway.ownership.handover.cluster_groups import ClusterGroups
from kcoord.gateway.ownership.handover.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.handover.group_traffic import GroupTraffic
from kcoord.gateway.ownership.handover.open_release import PassedJoin
from kcoord.gateway.ownership.handover.release import Releases
from kcoord.gateway.ownership.sentinel import joins, replacement, requests
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.ownership.sentinel.state import SentinelState
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.commits_under_way import CommitsUnderWay
from kcoord.group import clock_pause
from kcoord.server.shards.shard_host import ShardHost
from tests.sim.mutants import Mutant

# fmt: off
ADOPTION_MUTANTS = (
    Mutant(7, "the group's calls are not held while it is adopted", GroupTraffic.enter,
           "(hold := self._holds.get(group_id))", "(hold := None)"),
    Mutant(8, "the members are put out before the sentinel is in", replacement.adopt,
           "if parker is None:", "if True:"),
    Mutant(9, "commits go in the member's own name", offsets._commit,
           "_in_its_name(request, name, version)", "request"),
    Mutant(11, "the time to sync passes before the answer to JoinGroup has left", clock_pause.resume,
           "if isinstance(group, ClassicGroup) and", "if False and"),
    Mutant(12, "a member is not taken over", _Known.request,
           "for seen in", "if each is not self.group.through[-1] for seen in"),
    Mutant(12, "the generation is not carried", _Known.request,
           "generation_id=self.generation", "generation_id=0"),
    Mutant(15, "the sentinel leaves before the members have joined", Releases._begin,
           "sentinel.let_in(asker, terms)", "sentinel.go(asker)"),
    Mutant(15, "kcoord's own JoinGroup waits on the connection of a member", joins.join,
           "apart = sentinel.apart(sentinel.group_id) if is_released or sentinel.offers else None", "apart = None"),
    Mutant(15, "JoinGroup is passed with the old member id", ReleaseCalls.join,
           'attrs.evolve(request, member_id=new_id or "")', "request"),
    Mutant(15, "the sentinel stays when all have joined", Releases._leave,
           "return await sentinel.go(asker)", "return ErrorCode.NONE"),
    Mutant(15, "who has gone before it has joined is waited for", Releases.end_if_all_have_come,
           "if not release.came:", "if not sentinel.IS_SHARED:"),
    Mutant(15, "who comes while a release is taken back is passed to the cluster", joins.join_over,
           "sentinel.group_id)):\n        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS",
           "sentinel.group_id)):\n        return ErrorCode.REBALANCE_IN_PROGRESS"),
    Mutant(17, "new ids are answered here", ReleaseCalls.member_call,
           "transactional=False) in STRANGER", "transactional=False) in ()"),
    Mutant(17, "who comes by a former id is told nothing but a new one", group_calls._pass_on,
           "request = await _with_new_id(session, call, request)", "pass"),
    Mutant(15, "members are refused because of the sentinel", ClusterGroups.instead,
           "if isinstance(request, JoinGroupRequest) and error ==", "if False and error =="),
    Mutant(15, "the cluster says of members here that they are unknown", ClusterGroups.instead,
           "if error in STRANGER and", "if False and"),
    Mutant(15, "members are refused because the cluster has forgotten what they speak", ReleaseCalls._is_shut_out,
           "if response.error_code != ErrorCode.INCONSISTENT_GROUP_PROTOCOL:", "if True:"),
    Mutant(15, "who was let in stays when a release is taken back", joins.make_room,
           "waits = 0 < len(others)", "waits = False and 0 < len(others)"),
    Mutant(15, "whose session has ended goes on with what it owned", FormerMemberIds.is_known,
           "if self._still(group_id, member_id) is not None:", "if True:"),
    Mutant(17, "who comes when others have its work goes on with what it owned", FormerMemberIds.is_ours,
           "return not is_given_out_without(", "return True or is_given_out_without("),
    Mutant(7, "kcoord does not heed who is in the group when it asks for a client's rights", Sentinel.recognise,
           "other_members(described)", "[]"),
    Mutant(14, "who has carried a member once does not speak for the sentinel again", ClientSession.add_member,
           "if group_id in self.members:", "if known is None and group_id in self.members:"),
    Mutant(14, "who comes to a release does not speak for the sentinel", ReleaseCalls.join,
           'session.add_member(request.group_id, "")', "pass"),
    Mutant(14, "a member that only commits does not speak for the sentinel", offsets._commit,
           "session.add_member(group_id, request.member_id)", "pass"),
    Mutant(15, "the last JoinGroup waits for the answer to the farewell", requests.evict,
           "await asyncio.sleep(0)", "await asyncio.wait({asking})"),
    Mutant(9, "a commit that has waited overtakes one by a newer connection", CommitsUnderWay.is_overtaken,
           "newest is not session and session.client.has_hung_up", "False"),
    Mutant(7, "a contested group is answered for", Sentinel.recognise, "self.is_contested = True", "pass"),
    Mutant(7, "a contested group counts as taken while the cluster cannot be asked", group_calls.keep,
           "_check_known(sentinel)", "pass"),
    Mutant(6, "a question waits behind a member's JoinGroup", ClusterGroups.asker,
           "session.may_ask", "session.upstream is not None and session.is_known"),
    Mutant(17, "whom the cluster has put out goes on with what it owned", FormerMemberIds.is_ours,
           "is_released = is_to_go or", "is_released = True or"),
    Mutant(6, "who is the cluster's is unknown while the group is being taken", group_calls.is_elsewhere,
           "if error not in LOST or", "if True or"),
    Mutant(7, "who is the cluster's is kcoord's after an adoption that failed to be written", Adoptions._take_over,
           "gateway.sentinels.of(group.group_id).note_refusal()", "pass"),
    Mutant(15, "clients from before KIP-394 count as arrived when they have set out", PassedJoin.has_arrived,
           "return unnamed[self.client_id] >= 0", "return True"),
    Mutant(10, "who gets in at the last moment is left alone with the group", joins._have_nothing,
           "and requests.leads(parked.result())", "and False"),
    Mutant(15, "newcomers are left alone with a group whose release is taken back", joins._have_nothing,
           "not in (PREPARING, COMPLETING)", "!= PREPARING"),
    Mutant(15, "who was put out when a release was taken back is unknown", ReleaseCalls._must_come_again,
           "new_id is None or new_id in release.ids", "new_id in release.ids"),
    Mutant(17, "who comes by an id of the cluster's is told nothing but a new one here", group_calls._joined_here,
           "and not request.member_id and _named(call)", "and False"),
    Mutant(15, "a load forgets which sessions are paused", ShardHost._pause_again,
           "in self._paused.items():", "in ():"),
    Mutant(6, "a refusal from before the sentinel left is passed on", ClusterGroups.instead,
           "if steps_aside or is_kept_out", "if steps_aside"),
    Mutant(6, "a farewell counts before the cluster has written it down", SentinelState.note_description,
           "is_at_rest(described) and not is_there", "not is_there"),
)
# fmt: on
