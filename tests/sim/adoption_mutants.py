"""Which rules of adoption and release are broken on purpose, to see that the simulator notices? See `mutants.py`."""

from __future__ import annotations

from kcoord.gateway import here, offsets
from kcoord.gateway.adoption import _Known
from kcoord.gateway.cluster_groups import ClusterGroups
from kcoord.gateway.group_traffic import GroupTraffic
from kcoord.gateway.release import Releases
from kcoord.gateway.sentinel import Sentinel
from tests.sim.mutants import Mutant

# fmt: off
ADOPTION_MUTANTS = (
    Mutant(7, "the group's calls are not held while it is adopted", GroupTraffic.enter,
           "(hold := self._holds.get(group_id))", "(hold := None)"),
    Mutant(8, "the members are put out before the sentinel is in", Sentinel.adopt,
           "if parker is None:", "if True:"),
    Mutant(9, "commits go in the member's own name", offsets._commit,
           "_in_its_name(request, name, version)", "request"),
    Mutant(12, "a member is not taken over", _Known.request,
           "for seen in", "if each is not self.group.through[-1] for seen in"),
    Mutant(12, "the generation is not carried", _Known.request,
           "generation_id=self.generation", "generation_id=0"),
    Mutant(15, "the sentinel leaves before the members have joined", Releases._begin,
           "sentinel.let_in(asker, offers, generation, members)", "sentinel.go(asker)"),
    Mutant(15, "JoinGroup is passed with the old member id", Releases.join,
           'attrs.evolve(request, member_id=new_id or "")', "request"),
    Mutant(15, "who has joined the cluster stays a member here", Releases._answered,
           "await gateway.guarded.give_up(group_id, [identity])", "pass"),
    Mutant(15, "the sentinel stays when all have joined", Releases._leave,
           "return await sentinel.go(asker)", "return ErrorCode.NONE"),
    Mutant(17, "new ids are answered here", Releases.member_call,
           "transactional=False) in STRANGER", "transactional=False) in ()"),
    Mutant(15, "a release is over before the sentinel has left", Releases._end,
           "is_over = release.is_left and not", "is_over = not"),
    Mutant(6, "a group that is only being taken is answered for", here.is_here,
           "if not await _taken(gateway, group_id):",
           "return gateway.sentinels.of(group_id).is_taking\n    if False:"),
    Mutant(15, "members are refused because of the sentinel", ClusterGroups.instead,
           "if is_join and error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL:", "if False:"),
    Mutant(15, "the cluster says of members here that they are unknown", ClusterGroups.instead,
           "if error == ErrorCode.UNKNOWN_MEMBER_ID and", "if False and"),
    Mutant(15, "members are refused because the cluster has forgotten what they speak", Releases._is_shut_out,
           "if response.error_code != ErrorCode.INCONSISTENT_GROUP_PROTOCOL:", "if True:"),
)
# fmt: on
