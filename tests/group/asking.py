"""How does a line of a story become a request? One function a verb.

Options are `name=value`; `v3` is the version to ask in (the latest otherwise); `t-0=5:note` is an offset of a
partition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import attrs

from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kcoord.protocol.generated.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.message_base import Request
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from tests.group.clients import Client

PARTITION = re.compile(r"^(?P<topic>[\w.]*)-(?P<index>-?\d+)(?:=(?P<offset>-?\d+)(?::(?P<metadata>.*))?)?$")
VERSION = re.compile(r"^v\d+$")
PLAIN = frozenset({"gen", "id", "type", "name", "static", "group"})
"""Options of `sync` that are not somebody's assignment."""
LATEST: dict[type[Request], int] = {OffsetCommitRequest: 9, OffsetFetchRequest: 9}
"""Where stories do not ask in the latest version by default: v10 of both names topics by id only."""


@attrs.frozen
class Asked:
    """What stands behind a verb."""

    options: dict[str, str]
    words: list[str]
    version: int | None
    ids: Mapping[str, str]
    """Member ids by name."""

    @classmethod
    def of(cls, rest: list[str], ids: Mapping[str, str]) -> Asked:
        """Sort the words of a line."""
        plain = [word for word in rest if "=" not in word or PARTITION.match(word)]
        return cls(
            options=dict(word.split("=", 1) for word in rest if word not in plain),
            words=[word for word in plain if not VERSION.match(word)],
            version=next((int(word[1:]) for word in plain if VERSION.match(word)), None),
            ids=ids,
        )

    def partitions(self) -> dict[str, list[re.Match[str]]]:
        """The partitions that are named, by topic."""
        found: dict[str, list[re.Match[str]]] = {}
        for word in self.words:
            parsed = PARTITION.match(word)
            assert parsed is not None, f"not a partition: {word}"
            found.setdefault(parsed["topic"], []).append(parsed)
        return found


def join(client: Client, asked: Asked) -> Request:
    """`join [new] [protocols=range:m,rr:m] [type=] [session=] [rebalance=] [static=] [group=] [id=] [reason=]`;
    what is given is kept, but for id and reason. Metadata may be a subscription, `range:@t+u`. `new`: as if started
    anew, without its member id.
    """
    options = asked.options
    if "protocols" in options:
        offers = (offer.partition(":") for offer in options["protocols"].split(",") if offer)
        client.protocols = tuple((name, _metadata(text)) for name, _, text in offers)
    client.instance_id = options.get("static", client.instance_id)
    client.protocol_type = options.get("type", client.protocol_type)
    client.session_timeout_ms = int(options.get("session", client.session_timeout_ms))
    client.rebalance_timeout_ms = int(options.get("rebalance", client.rebalance_timeout_ms))
    client.group_id = options.get("group", client.group_id)
    if "new" in asked.words:
        client.member_id = ""
    request = client.join_request()
    return JoinGroupRequest(
        request.group_id,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        options.get("id", request.member_id),
        request.group_instance_id,
        request.protocol_type,
        [JoinGroupRequestProtocol(name, metadata) for name, metadata in client.protocols],
        options["reason"].replace("_", " ") if "reason" in options else None,
    )


def _metadata(text: str) -> bytes:
    """`@t+u`: a consumer's subscription to these topics, version 0, without user data. Else the text as it is."""
    if not text.startswith("@"):
        return text.encode()
    topics = text[1:].split("+")
    names = b"".join(len(topic).to_bytes(2, "big") + topic.encode() for topic in topics)
    return b"\0\0" + len(topics).to_bytes(4, "big") + names + b"\xff\xff\xff\xff"


def sync(client: Client, asked: Asked) -> Request:
    """`sync [A=text B=text] [gen=] [id=] [static=] [type=] [name=]`"""
    options = asked.options
    assignments = {asked.ids[who]: text.encode() for who, text in options.items() if who not in PLAIN}
    return SyncGroupRequest(
        options.get("group", client.group_id),
        int(options.get("gen", client.generation)),
        options.get("id", client.member_id),
        options.get("static", client.instance_id),
        options.get("type", client.protocol_type) or None,
        options.get("name", client.protocol or "range") or None,
        [SyncGroupRequestAssignment(member_id, text) for member_id, text in assignments.items()],
    )


def beat(client: Client, asked: Asked) -> Request:
    """`beat [gen=] [id=] [static=] [group=]`"""
    return HeartbeatRequest(
        asked.options.get("group", client.group_id),
        int(asked.options.get("gen", client.generation)),
        asked.options.get("id", client.member_id),
        asked.options.get("static", client.instance_id),
    )


def leave(client: Client, asked: Asked) -> Request:
    """`leave [A B] [static=i1,i2] [id=] [reason=]`: the caller itself unless others are named, by name or by
    group.instance.id.
    """
    group_id = asked.options.get("group", client.group_id)
    reason = asked.options["reason"].replace("_", " ") if "reason" in asked.options else None
    instances = [instance for instance in asked.options.get("static", "").split(",") if instance]
    if asked.words or "static" in asked.options:
        leavers = [MemberIdentity(asked.ids.get(word, word)) for word in asked.words]
        return LeaveGroupRequest(group_id, members=leavers + [MemberIdentity("", instance) for instance in instances])
    member_id = asked.options.get("id", client.member_id)
    if asked.version is not None and asked.version < 3:
        return LeaveGroupRequest(group_id, member_id)
    return LeaveGroupRequest(group_id, members=[MemberIdentity(member_id, client.instance_id, reason)])


def commit(client: Client, asked: Asked) -> Request:
    """`commit t-0=5:note [gen=] [id=] [static=] [retention=]`"""
    topics = [
        OffsetCommitRequestTopic(
            topic,
            partitions=[
                OffsetCommitRequestPartition(int(each["index"]), int(each["offset"]), -1, each["metadata"])
                for each in partitions
            ],
        )
        for topic, partitions in asked.partitions().items()
    ]
    return OffsetCommitRequest(
        asked.options.get("group", client.group_id),
        int(asked.options.get("gen", client.generation)),
        asked.options.get("id", client.member_id),
        asked.options.get("static", client.instance_id),
        int(asked.options.get("retention", "-1")),
        topics,
    )


def fetch(client: Client, asked: Asked) -> Request:
    """`fetch [t-0 t-1]`: all of the group when no partition is named."""
    group_id = asked.options.get("group", client.group_id)
    wanted = {topic: [int(each["index"]) for each in partitions] for topic, partitions in asked.partitions().items()}
    if asked.version is not None and asked.version < 8:
        old = [OffsetFetchRequestTopic(topic, indexes) for topic, indexes in wanted.items()]
        return OffsetFetchRequest(group_id, old or None)
    new = [OffsetFetchRequestTopics(topic, partition_indexes=indexes) for topic, indexes in wanted.items()]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id, topics=new or None)])


def forget(client: Client, asked: Asked) -> Request:
    """`forget t-0`: OffsetDelete."""
    topics = [
        OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(int(each["index"])) for each in partitions])
        for topic, partitions in asked.partitions().items()
    ]
    return OffsetDeleteRequest(asked.options.get("group", "g"), topics)


def describe(client: Client, asked: Asked) -> Request:
    """`describe [groups]`"""
    return DescribeGroupsRequest(asked.words or ["g"])


def list_groups(client: Client, asked: Asked) -> Request:
    """`list [states=a,b] [types=c]`"""
    states, types = ([word for word in asked.options.get(key, "").split(",") if word] for key in ("states", "types"))
    return ListGroupsRequest(states, types)


def delete(client: Client, asked: Asked) -> Request:
    """`delete [groups]`"""
    return DeleteGroupsRequest(asked.words or ["g"])


VERBS: dict[str, Callable[[Client, Asked], Request]] = {
    "join": join,
    "sync": sync,
    "beat": beat,
    "leave": leave,
    "commit": commit,
    "fetch": fetch,
    "forget": forget,
    "describe": describe,
    "list": list_groups,
    "delete": delete,
}


def version_of(request: Request, asked: Asked) -> int:
    """The version to ask in."""
    return LATEST.get(type(request), request.MAX_VERSION) if asked.version is None else asked.version
