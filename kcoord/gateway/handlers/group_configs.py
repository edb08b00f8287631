"""DescribeConfigs and IncrementalAlterConfigs of groups, whose settings are partly the cluster's and partly kcoord's.

Of one of kcoord's groups, the settings `connect.…` and `gateway.owner` are here, and `consumer.…` where kcoord serves
consumer groups. All other settings (`share.…`) are in the cluster, where groups of the newer protocols find them.
Rules:

1. kcoord asks upstream about every resource, also if all changes of a group are kcoord's. So upstream says whether the
   client may do this (CG-30). If upstream refuses a resource, kcoord neither describes nor changes it. Upstream before
   Kafka 4.0 knows no settings of groups; then it says whether the client may describe, or alter, the cluster's own.
2. The description of one of kcoord's groups is upstream's, followed by kcoord's settings. Those that are kcoord's here
   are left out of upstream's: they have no effect on the group.
3. If a group's changes are on both sides, both sides check them first. Then upstream makes its changes, and kcoord
   makes its own last. If upstream fails, kcoord changes nothing. If kcoord fails, upstream's changes stay. The client
   gets the error in both cases.
4. kcoord passes on unchanged what names none of its groups, or changes none of its settings. It makes no change of a
   resource that is named twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import attrs

from kcoord.gateway.handlers.handler_context import HandlerContext
from kcoord.group.group_configs import GROUP, named_twice
from kcoord.group.group_setting_definitions import prefixes
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_response import AlterConfigsResourceResponse
from kcoord.protocol.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["alter_configs", "alter_slice", "describe_configs", "describe_configs_slice"]

BROKER, ALL_BROKERS = 4, ""
"""The cluster's own settings as a resource: its type and its name."""

Key = tuple[int, str]
Answers = dict[Key, AlterConfigsResourceResponse]


async def describe_configs(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DescribeConfigsRequest
) -> None:
    """Answer a DescribeConfigs, or pass it on. Raises UpstreamLost."""
    if _described_here(gateway, session, request):
        session.answer(call, await describe_configs_slice(gateway, session, call, request))
    else:
        session.pass_on(call)


def _described_here(
    gateway: HandlerContext, session: ClientSession, request: DescribeConfigsRequest
) -> list[DescribeConfigsResource]:
    owns = gateway.owns
    return [each for each in request.resources if each.resource_type == GROUP and owns(each.resource_name)]


async def describe_configs_slice(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DescribeConfigsRequest
) -> DescribeConfigsResponse:
    """The answer for the resources in `request`, which are all or some of those in `call`. Raises UpstreamLost."""
    ours = _described_here(gateway, session, request)
    await session.ready()
    there = await session.ask(request, call.header.api_version, call.header.client_id)
    assert isinstance(there, DescribeConfigsResponse)
    if not ours:
        return there
    here, _ = await gateway.guarded.call(session, call, attrs.evolve(request, resources=ours))
    assert isinstance(here, DescribeConfigsResponse)
    known = {each.resource_name: each for each in here.results}
    await _describe_the_cluster_instead(gateway, session, call, request, there)
    for result in there.results:
        mine = known.get(result.resource_name) if result.resource_type == GROUP else None
        if mine is None or result.error_code != ErrorCode.NONE:
            continue
        result.error_code, result.error_message = mine.error_code, mine.error_message
        theirs = [each for each in result.configs if not each.name.startswith(_prefixes(gateway))]
        result.configs = [*theirs, *mine.configs] if mine.error_code == ErrorCode.NONE else []
    return there


async def _describe_the_cluster_instead(
    gateway: HandlerContext,
    session: ClientSession,
    call: Call,
    request: DescribeConfigsRequest,
    there: DescribeConfigsResponse,
) -> None:
    """If upstream knows no settings of groups, ask it whether the client may describe those of the cluster.

    Its answer to that counts for these groups. Raises UpstreamLost.
    """
    unknown = [
        each for each in there.results if each.resource_type == GROUP and each.error_code == ErrorCode.INVALID_REQUEST
    ]
    if not unknown:
        return
    whole = DescribeConfigsResource(resource_type=BROKER, resource_name=ALL_BROKERS, configuration_keys=[])
    asked = attrs.evolve(request, resources=[whole])
    answer = await session.ask(asked, call.header.api_version, call.header.client_id)
    assert isinstance(answer, DescribeConfigsResponse)
    for each in unknown:
        each.error_code, each.error_message = answer.results[0].error_code, answer.results[0].error_message


async def alter_configs(
    gateway: HandlerContext, session: ClientSession, call: Call, request: IncrementalAlterConfigsRequest
) -> None:
    """Answer an IncrementalAlterConfigs, or pass it on. Raises UpstreamLost."""
    twice = named_twice(request)
    if any(_has_ours(gateway, session, each) and _key(each) not in twice for each in request.resources):
        session.answer(call, await alter_slice(gateway, session, call, request, twice))
    else:
        session.pass_on(call)


async def alter_slice(
    gateway: HandlerContext,
    session: ClientSession,
    call: Call,
    request: IncrementalAlterConfigsRequest,
    twice: AbstractSet[Key] = frozenset(),
) -> IncrementalAlterConfigsResponse:
    """The answer for the resources in `request`, which are all or some of those in `call`. Raises UpstreamLost.

    `twice`: the resources that `call` names more than once.
    """
    ours = {_key(each) for each in request.resources if _has_ours(gateway, session, each)} - twice
    await session.ready()
    altering = _Altering(gateway, session, call, request)
    mine = [each for each in request.resources if _key(each) in ours]
    own = _prefixes(gateway)
    await altering.ask_upstream([_theirs(each, own) for each in mine], validate_only=True)
    await altering.ask_about_the_cluster([each for each in mine if not _theirs(each, own).configs])
    await altering.ask_here([_mine(each, own) for each in altering.unrefused(mine)], validate_only=True)
    if not request.validate_only:
        both = [each for each in altering.unrefused(mine) if _theirs(each, own).configs]
        await altering.ask_upstream([_theirs(each, own) for each in both], validate_only=False)
        await altering.ask_here([_mine(each, own) for each in altering.unrefused(mine)], validate_only=False)
    altering.refuse({_key(each) for each in request.resources} & twice)
    passed = await altering.pass_on([each for each in request.resources if _key(each) not in altering.answers])
    answers = [altering.answers.get(_key(each)) or next(passed) for each in request.resources]
    return IncrementalAlterConfigsResponse(throttle_time_ms=altering.throttle_ms, responses=answers)


class _Altering:
    """One request while it is carried out, with the answers so far for groups whose settings here are changed."""

    def __init__(
        self, gateway: HandlerContext, session: ClientSession, call: Call, request: IncrementalAlterConfigsRequest
    ) -> None:
        self._gateway = gateway
        self._session = session
        self._call = call
        self._request = request
        self.answers: Answers = {}
        self.throttle_ms = 0

    def unrefused(self, resources: list[AlterConfigsResource]) -> list[AlterConfigsResource]:
        return [each for each in resources if self.answers[_key(each)].error_code == ErrorCode.NONE]

    def refuse(self, resources: AbstractSet[Key]) -> None:
        """Refuse what the whole request names more than once, as a broker does: a slice may name it only once."""
        for kind, name in resources:
            self.answers[kind, name] = AlterConfigsResourceResponse(
                error_code=ErrorCode.INVALID_REQUEST,
                error_message="the request names this resource more than once",
                resource_type=kind,
                resource_name=name,
            )

    async def ask_upstream(self, resources: list[AlterConfigsResource], *, validate_only: bool) -> None:
        self._take(await self._upstream(resources, validate_only))

    async def ask_about_the_cluster(self, resources: list[AlterConfigsResource]) -> None:
        """If upstream knows no settings of groups, ask it whether the client may alter those of the cluster."""
        unknown = [each for each in resources if self.answers[_key(each)].error_code == ErrorCode.INVALID_REQUEST]
        if unknown:
            whole = AlterConfigsResource(resource_type=BROKER, resource_name=ALL_BROKERS)
            [answer] = await self._upstream([whole], validate_only=True)
            for each in unknown:
                kind, name = _key(each)
                self.answers[kind, name] = attrs.evolve(answer, resource_type=kind, resource_name=name)

    async def ask_here(self, resources: list[AlterConfigsResource], *, validate_only: bool) -> None:
        if not resources:
            return
        part = attrs.evolve(self._request, resources=resources, validate_only=validate_only)
        response, _ = await self._gateway.guarded.call(self._session, self._call, part)
        assert isinstance(response, IncrementalAlterConfigsResponse)
        self._take(response.responses)

    async def pass_on(self, resources: list[AlterConfigsResource]) -> Iterator[AlterConfigsResourceResponse]:
        return iter(await self._upstream(resources, self._request.validate_only))

    async def _upstream(
        self, resources: list[AlterConfigsResource], validate_only: bool
    ) -> list[AlterConfigsResourceResponse]:
        """Upstream's answers in the order of `resources`, whatever order they came in."""
        if not resources:
            return []
        part = attrs.evolve(self._request, resources=resources, validate_only=validate_only)
        header = self._call.header
        response = await self._session.ask(part, header.api_version, header.client_id)
        assert isinstance(response, IncrementalAlterConfigsResponse)
        self.throttle_ms = max(self.throttle_ms, response.throttle_time_ms)
        by_key = {(each.resource_type, each.resource_name): each for each in response.responses}
        return [by_key.get(_key(each)) or _silence(each) for each in resources]

    def _take(self, answers: Iterable[AlterConfigsResourceResponse]) -> None:
        self.answers.update({(each.resource_type, each.resource_name): each for each in answers})


def _key(resource: AlterConfigsResource) -> Key:
    return resource.resource_type, resource.resource_name


def _has_ours(gateway: HandlerContext, session: ClientSession, resource: AlterConfigsResource) -> bool:
    is_ours = resource.resource_type == GROUP and gateway.owns(resource.resource_name)
    return is_ours and any(change.name.startswith(_prefixes(gateway)) for change in resource.configs)


def _prefixes(gateway: HandlerContext) -> tuple[str, ...]:
    return prefixes(consumer_groups=gateway.settings.consumer_groups)


def _mine(resource: AlterConfigsResource, own: tuple[str, ...]) -> AlterConfigsResource:
    return attrs.evolve(resource, configs=[each for each in resource.configs if each.name.startswith(own)])


def _theirs(resource: AlterConfigsResource, own: tuple[str, ...]) -> AlterConfigsResource:
    return attrs.evolve(resource, configs=[each for each in resource.configs if not each.name.startswith(own)])


def _silence(resource: AlterConfigsResource) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=ErrorCode.UNKNOWN_SERVER_ERROR,
        error_message="the cluster behind kcoord has not answered for it",
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
