"""Stories: tables of steps and expectations, on a hand-driven clock.

A line says *when* (ms), *who*, *what*, and what comes of it:

    0     A join                 -> MEMBER_ID_REQUIRED
    0     A join                 -> parked
    2999  time                   -> nothing
    3000  time                   -> nothing else
          A                      -> gen 1 range leads A
    3010  A sync A=all           -> got all
    3020  A beat                 -> ok*

A line without a time is one more answer that the step above let go, to a request that was parked. Nothing may be
answered that the story does not tell. `ok*` is a heartbeat that the hot path may remember. Members go by their
clients' names. `crash` loses the shard and loads another one; `A dies` without a word; `A pauses until=…` and `A
resumes` are the gateway's (GW-10); `group` and `why` look at the group and at the reason of its generation. The
verbs are in `asking.py`, the answers in `saying.py`.

After each step `World` checks what must always hold; and another coordinator takes over from the log as it is, in a
world of its own, where those who are alive by then must settle (`clients.settle`): a crash at each step.
"""

from __future__ import annotations

import re

import attrs

from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupResponse, LeaveGroupRequest, LeaveGroupResponse, SyncGroupResponse
from tests.group.asking import VERBS, Asked, version_of
from tests.group.clients import Client, Phase, settle
from tests.group.saying import say, say_error
from tests.group.world import Ticket, World

LINE = re.compile(r"^(?P<ms>\d+)\s+(?P<call>.*?)\s*->\s*(?P<answer>.*)$")
MEMBER_ID = re.compile(r"\w+-\d+")
MORE = re.compile(r"^(?P<who>\S+)\s*->\s*(?P<answer>.*)$")


def tell(story: str, settings: GroupSettings | None = None, takeovers: bool = True) -> Story:
    """Tell a story from its beginning; raises AssertionError where it goes otherwise."""
    told = Story(settings, takeovers)
    told.tell(story)
    return told


def steps_of(story: str) -> list[tuple[str, list[str]]]:
    """The lines of a story, each with those that tell what else it lets go."""
    steps: list[tuple[str, list[str]]] = []
    for line in filter(None, (line.strip() for line in story.splitlines())):
        if line[0].isdigit():
            steps.append((line, []))
        else:
            steps[-1][1].append(line)
    return steps


class Story:
    """The story of group "g", unless a line says otherwise."""

    def __init__(self, settings: GroupSettings | None = None, takeovers: bool = True) -> None:
        self.world = World(settings)
        self._takeovers = takeovers
        self._actors: dict[str, Client] = {}
        self._names: dict[str, str] = {}

    def tell(self, story: str) -> None:
        """Go on with the story."""
        for line, more in steps_of(story):
            self._step(line, more)

    def _step(self, line: str, more: list[str]) -> None:
        told = LINE.match(line)
        assert told is not None, f"not a line of a story: {line!r}"
        ms, call = int(told["ms"]), told["call"].split()
        if call != ["time"]:
            early = self.world.advance_to(ms)
            assert not early, f"before {line!r} time has answered {[self._say(each) for each in early]}"
        answer, others = self._do(call, ms)
        assert answer == told["answer"], f"in {line!r}"
        expected = [f"{also['who']} -> {also['answer']}" for also in map(MORE.match, more) if also is not None]
        assert len(expected) == len(more), f"not an answer: {more}"
        assert sorted(f"{other.who} -> {self._say(other)}" for other in others) == sorted(expected), f"after {line!r}"
        if self._takeovers:
            settle(self.world.fork(), [self._reborn(client) for client in self._actors.values()])

    def _do(self, call: list[str], ms: int) -> tuple[str, list[Ticket]]:
        """Do what a line says; returns what is said of it, and the other tickets that it has let go."""
        match call:
            case ["time"]:
                others = self.world.advance_to(ms)
                self._take_notice(others)
                return ("nothing else" if others else "nothing"), others
            case ["crash"]:
                lost = self.world.crash()
                self._take_notice(lost)
                return ("nothing else" if lost else "nothing"), lost
            case ["group", *named]:
                return self._describe(*named), []
            case ["why"]:
                return self._with_names(self.world.state.groups["g"].record.reason), []
            case [who, verb, *rest]:
                client = self._actors.setdefault(who, Client(who, phase=Phase.OUT))
                asked = Asked.of(rest, {name: member_id for member_id, name in self._names.items()})
                if verb in VERBS:
                    return self._ask(client, verb, asked)
                return self._happen(client, verb, asked), []
            case _:
                raise AssertionError(f"nobody can {call}")

    def _ask(self, client: Client, verb: str, asked: Asked) -> tuple[str, list[Ticket]]:
        request = VERBS[verb](client, asked)
        ticket, others = self.world.call(request, version_of(request, asked), client.name)
        if verb == "join":
            client.phase = Phase.JOIN
        if ticket.is_open:
            client.ticket = ticket
        self._take_notice([ticket, *others])
        return self._say(ticket), others

    def _happen(self, client: Client, what: str, asked: Asked) -> str:
        group_id = asked.options.get("group", client.group_id)
        match what:
            case "dies":
                client.phase = Phase.OUT
            case "pauses":
                self.world.shard.pause_session(group_id, client.member_id, int(asked.options["until"]))
            case "resumes":
                self.world.shard.resume_session(group_id, client.member_id, self.world.now_ms)
            case "may-commit":
                verdict = self.world.shard.check_commit(
                    group_id,
                    asked.options.get("id", client.member_id),
                    asked.options.get("static", client.instance_id),
                    int(asked.options.get("gen", client.generation)),
                    "transactionally" in asked.words,
                    self.world.now_ms,
                    8 if asked.version is None else asked.version,
                )
                return say_error(verdict)
            case _:
                raise AssertionError(f"nobody can {what}")
        return "nothing"

    # -- what those in the story learn --------------------------------------------------------------------------------

    def _take_notice(self, tickets: list[Ticket]) -> None:
        for ticket in tickets:
            client = self._actors[ticket.who]
            if client.ticket is ticket and not ticket.is_open:
                client.ticket = None
            match ticket.response:
                case JoinGroupResponse(error_code=ErrorCode.NONE | ErrorCode.MEMBER_ID_REQUIRED) as response:
                    self._names[response.member_id] = client.name
                    client.member_id = response.member_id
                    if not response.error_code:
                        client.generation, client.protocol = response.generation_id, response.protocol_name
                case SyncGroupResponse(error_code=ErrorCode.NONE):
                    client.phase = Phase.BEAT
                case LeaveGroupResponse():
                    self._see_off(ticket.request)
                case _:
                    pass

    def _see_off(self, request: object) -> None:
        assert isinstance(request, LeaveGroupRequest)
        ids = {request.member_id, *(each.member_id for each in request.members)} - {""}
        instances = {each.group_instance_id for each in request.members} - {None}
        for client in self._actors.values():
            if client.member_id in ids or client.instance_id in instances:
                client.phase = Phase.OUT

    def _reborn(self, client: Client) -> Client:
        """The client as another coordinator will find it: what it waits for is lost, so it asks again."""
        waits = client.ticket is not None
        return attrs.evolve(client, phase=Phase.JOIN if waits else client.phase, ticket=None)

    # -- words --------------------------------------------------------------------------------------------------------

    def _say(self, ticket: Ticket) -> str:
        if ticket.response is None:
            return "lost" if ticket.lost else "parked"
        return say(ticket.response, self._name) + "*" * (ticket.remember is not None)

    def _name(self, member_id: str) -> str:
        """A member that has not been told its id yet goes by what the id begins with: its client or instance id."""
        return self._names.get(member_id, member_id.rpartition("-")[0] or member_id)

    def _with_names(self, text: str) -> str:
        return MEMBER_ID.sub(lambda found: self._name(found[0]), text)

    def _describe(self, group_id: str = "g") -> str:
        group = self.world.state.groups.get(group_id)
        if group is None:
            return "gone"
        members = [self._name(member_id) for member_id in group.members]
        return " ".join([group.state.label, f"gen {group.generation}", *members])
