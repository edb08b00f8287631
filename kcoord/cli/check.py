"""`kcoord check`: whether kcoord would work with its settings, before any client connects to it. Changes nothing."""

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from kcoord.cli.calls.broker_requests import AsJson, CommandConfig
from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.cli.serve_options import (
    Advertise,
    ConfigFile,
    DataDir,
    GroupPatterns,
    Listen,
    LogBootstrap,
    LogKind,
    Options,
    UpstreamBrokers,
    settings_of,
)
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.cli.checks.finding import Finding
    from kcoord.cli.checks.matching_groups import Matching
    from kcoord.cli.checks.upstream_cluster import Seen
    from kcoord.client import Security
    from kcoord.settings_sources import Settings


def check(
    listen: Listen = None,
    data_dir: DataDir = None,
    advertise: Advertise = None,
    upstream: UpstreamBrokers = None,
    groups: GroupPatterns = None,
    log: LogKind = None,
    log_bootstrap: LogBootstrap = None,
    option: Options = None,
    config: ConfigFile = None,
    command_config: CommandConfig = None,
    as_json: AsJson = False,
) -> None:
    """Check whether kcoord would work with these settings, the same as for `serve`. Exit code 0 if so, 1 if not.

    Looks at ports, host names, the cluster, the rights there, and which groups kcoord would take. Changes nothing.
    """
    settings = settings_of(
        option,
        config,
        listen=listen,
        data_dir=data_dir,
        advertise=advertise,
        upstream=upstream,
        groups=groups,
        log=log,
        log_bootstrap=log_bootstrap,
    )
    from kcoord.cli.checks.finding import Level
    from kcoord.client import ClientError, Security

    try:
        security = _upstreams(settings)
        if command_config:  # only the login is the client's; kcoord itself connects with the TLS of the settings
            security = attrs.evolve(Security.from_file(command_config), tls=security.tls)
    except (ClientError, ValueError) as error:
        fail(error, USAGE)
    findings, matching = asyncio.run(_look(settings, security))
    print(_as_json(findings, matching) if as_json else _shown(findings, matching), end="")
    if any(each.level is Level.PROBLEM for each in findings):
        raise SystemExit(FAILED)


def _upstreams(settings: "Settings") -> "Security":
    """How kcoord itself connects to the cluster: with TLS if that is set, and without a login."""
    from kcoord.client import Security
    from kcoord.gateway.tls import upstream_context
    from kcoord.server.startup.gateway_settings import gateway_settings

    return Security(upstream_context(gateway_settings(settings)) if settings.upstream else None)


async def _look(settings: "Settings", security: "Security") -> "tuple[list[Finding], list[Matching]]":
    from kcoord.cli.checks.client_addresses import check_addresses
    from kcoord.cli.checks.local_machine import check_broker_ports, check_place
    from kcoord.cli.checks.upstream_cluster import Seen, about_login, check_cluster
    from kcoord.server.startup.gateway_settings import gateway_settings

    findings, matching = list(check_place(settings)), list["Matching"]()
    broker_ports: list[int] = []
    seen = Seen()
    if settings.upstream:
        findings += about_login(settings, security)
        findings += [each async for each in check_cluster(settings, security, seen)]
        gateway = gateway_settings(settings)
        ports = [(each.node_id, gateway.port_of(each.node_id)) for each in seen.brokers]
        findings += check_broker_ports(settings, ports)
        broker_ports = [port for _, port in ports if port is not None]
    findings += [each async for each in check_addresses(settings, broker_ports)]
    if seen.brokers:
        matching = await _look_at_groups(settings, security, seen, findings)
    if settings.log == "kafka":
        from kcoord.cli.checks.log_topic import check_log

        findings += [each async for each in check_log(settings)]
    return findings, matching


async def _look_at_groups(
    settings: "Settings", security: "Security", seen: "Seen", findings: "list[Finding]"
) -> "list[Matching]":
    """The groups that kcoord would take. Adds to `findings` what to know about them and about rights."""
    from kcoord.cli.checks.client_rights import check_rights
    from kcoord.cli.checks.finding import problem
    from kcoord.cli.checks.matching_groups import find_matching, judge_matching
    from kcoord.client import ClientError, Cluster
    from kcoord.server.startup.adopt_default import adopts_by_itself

    matching: list[Matching] = []
    try:
        async with Cluster([(each.host, each.port) for each in seen.brokers], security) as cluster:
            matching = await find_matching(cluster, settings.groups, adopts=adopts_by_itself(settings))
            findings += judge_matching(matching, settings.groups)
            names = [each.line.group for each in matching if each.is_classic]
            findings += [each async for each in check_rights(cluster, settings, names)]
    except ClientError as error:
        findings.append(problem("groups", str(error)))
    return matching


def _shown(findings: "Sequence[Finding]", matching: "Sequence[Matching]") -> str:
    from kcoord.cli.output.terminal_output import table_of, written

    shown: list[Any] = [table_of(("", "ABOUT", ""), [(each.level.value, each.about, each.text) for each in findings])]
    if matching:
        rows = [
            (line.group, line.protocol_type, line.state, each.members_told, line.coordinator, each.becomes)
            for each in matching
            for line in [each.line]
        ]
        shown += ["", table_of(("GROUP", "PROTOCOL TYPE", "STATE", "MEMBERS", "COORDINATOR NOW", "THEN"), rows)]
    return written(*shown) + _commands(findings)


def _commands(findings: "Sequence[Finding]") -> str:
    """The commands that grant missing rights, one line each however narrow the terminal is, so that they
    can be copied.
    """
    commands = dict.fromkeys(each.command for each in findings if each.command)
    if not commands:
        return ""
    lines = ["", "An administrator of the cluster can grant the rights (--command-config: the administrator's login):"]
    return "\n".join([*lines, *(f"  {printable(each)}" for each in commands)]) + "\n"


def _as_json(findings: "Sequence[Finding]", matching: "Sequence[Matching]") -> str:
    told = {
        "findings": [attrs.asdict(each) for each in findings],
        "groups": [each.as_json() for each in matching],
    }
    return json.dumps(told, indent=2) + "\n"
