"""The security of connections to the log's cluster: TLS and SASL.

It takes the settings `log.security.protocol`, `log.sasl.*` and `log.ssl.*`, with Kafka's meaning, and makes arguments
of aiokafka of them. TLS files are PEM.
"""

from __future__ import annotations

import importlib
import ssl
from pathlib import Path
from typing import Any

import attrs
from aiokafka.abc import AbstractTokenProvider

from kcoord.log.interface import LogUnusable

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER")
_WITH_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@attrs.frozen(kw_only=True)
class KafkaSecurity:
    """How connections to a cluster are secured. Raises ValueError if settings contradict each other."""

    protocol: str = attrs.field(default="PLAINTEXT", validator=attrs.validators.in_(PROTOCOLS))
    mechanism: str = attrs.field(default="PLAIN", validator=attrs.validators.in_(MECHANISMS))
    username: str | None = None
    password: str | None = attrs.field(default=None, repr=False)
    kerberos_service_name: str = "kafka"
    kerberos_domain_name: str | None = None
    """None: the broker's host name."""
    oauth_token_provider: str | None = None
    """`module:attribute` of an aiokafka.abc.AbstractTokenProvider, or of a callable that makes one."""
    ca_file: Path | None = None
    """None: the system's authorities."""
    certificate_file: Path | None = None
    key_file: Path | None = None
    """None: in the certificate's file."""
    key_password: str | None = attrs.field(default=None, repr=False)
    check_hostname: bool = True
    """Kafka's `ssl.endpoint.identification.algorithm=https`."""

    def __attrs_post_init__(self) -> None:
        if not self.uses_sasl:
            return
        if self.mechanism in _WITH_PASSWORD and (self.username is None or self.password is None):
            raise ValueError(
                f"log.sasl.mechanism={self.mechanism} needs a name and a password: set log.sasl.username and "
                "log.sasl.password"
            )
        if self.mechanism == "OAUTHBEARER" and self.oauth_token_provider is None:
            raise ValueError(
                "log.sasl.mechanism=OAUTHBEARER needs somebody who gives tokens: set log.sasl.oauth.token.provider to "
                "module:attribute of an aiokafka.abc.AbstractTokenProvider"
            )

    @property
    def uses_sasl(self) -> bool:
        return self.protocol.startswith("SASL_")

    @property
    def uses_tls(self) -> bool:
        return self.protocol.endswith("SSL")

    def aiokafka(self) -> dict[str, Any]:
        """The same as arguments of aiokafka's clients. Raises LogUnusable for a file that cannot be read or a module
        that does not exist.
        """
        arguments: dict[str, Any] = {"security_protocol": self.protocol}
        if self.uses_tls:
            arguments["ssl_context"] = self._tls()
        if self.uses_sasl:
            arguments |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
                "sasl_kerberos_service_name": self.kerberos_service_name,
                "sasl_kerberos_domain_name": self.kerberos_domain_name,
            }
            if self.mechanism == "GSSAPI":
                _check_gssapi()
            if self.mechanism == "OAUTHBEARER":
                arguments["sasl_oauth_token_provider"] = self._token_provider()
        return arguments

    def _tls(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.certificate_file is not None:
                context.load_cert_chain(self.certificate_file, self.key_file, self.key_password)
        except (OSError, ssl.SSLError) as error:
            files = f"log.ssl.ca.location={self.ca_file}, log.ssl.certificate.location={self.certificate_file}"
            raise LogUnusable(f"no usable PEM files ({files}, log.ssl.key.location={self.key_file}): {error}") from None
        context.check_hostname = self.check_hostname
        return context

    def _token_provider(self) -> AbstractTokenProvider:
        name = self.oauth_token_provider or ""
        module, _, attribute = name.partition(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise LogUnusable(
                f"log.sasl.oauth.token.provider={name} is not there ({error}); give module:attribute"
            ) from None
        if not isinstance(found, AbstractTokenProvider) and callable(found):
            found = found()
        if not isinstance(found, AbstractTokenProvider):
            raise LogUnusable(
                f"log.sasl.oauth.token.provider={name} is a {type(found).__name__}, and must be an "
                "aiokafka.abc.AbstractTokenProvider"
            )
        return found


def _check_gssapi() -> None:
    try:
        importlib.import_module("gssapi")
    except ImportError:
        raise LogUnusable(
            "log.sasl.mechanism=GSSAPI needs the Python package gssapi, which is not installed: pip install gssapi"
        ) from None
