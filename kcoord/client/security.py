"""The security of a client connection: TLS and SASL, from Kafka client properties.

The properties come from a file like the one that the Java tools take as `--command-config`. Where librdkafka's names
differ from Kafka's, both work. SASL mechanisms: PLAIN (RFC 4616), SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, as in
KIP-84: without channel binding).
"""

import base64
import hashlib
import hmac
import re
import secrets
import ssl
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import attrs

from kcoord.client.errors import ClientError


@attrs.frozen
class Security:
    """TLS and SASL of a connection; by default neither. `mechanism` is the name of the SASL mechanism."""

    tls: ssl.SSLContext | None = None
    mechanism: str | None = None
    username: str = ""
    password: str = attrs.field(default="", repr=False)

    @classmethod
    def from_file(cls, path: Path) -> "Security":
        """Read a file of client properties. Raises ClientError, which names the file and the property."""
        try:
            properties = parse_properties(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ClientError(f"--command-config {path}: cannot be read: {error}") from None
        try:
            return cls.from_properties(properties)
        except ClientError as error:
            raise ClientError(f"--command-config {path}: {error}") from None

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> "Security":
        """Make it from client properties. Raises ClientError."""
        known = dict(properties)
        protocol = known.pop("security.protocol", "PLAINTEXT").upper()
        if protocol not in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"):
            raise ClientError(f"security.protocol={protocol} is none of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL")
        tls = _tls(known) if protocol.endswith("SSL") else None
        if not protocol.startswith("SASL_"):
            return cls(tls)
        mechanism = known.get("sasl.mechanism") or known.get("sasl.mechanisms") or ""
        if mechanism not in MECHANISMS:
            raise ClientError(f"sasl.mechanism={mechanism} is none of {', '.join(MECHANISMS)}")
        jaas = known.get("sasl.jaas.config", "")
        return cls(
            tls,
            mechanism,
            known.get("sasl.username") or _jaas_option(jaas, "username"),
            known.get("sasl.password") or _jaas_option(jaas, "password"),
        )

    def aiokafka(self) -> dict[str, Any]:
        """The same as arguments of aiokafka's clients."""
        protocol = ("SASL_" if self.mechanism else "") + ("SSL" if self.tls is not None else "PLAINTEXT")
        arguments: dict[str, Any] = {"security_protocol": protocol}
        if self.tls is not None:
            arguments["ssl_context"] = self.tls
        if self.mechanism:
            arguments |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        return arguments

    def steps(self) -> Generator[bytes, bytes, None]:
        """A generator of what to send in each SASL round. Send it the server's answer to the previous round. Raises
        ClientError.
        """
        assert self.mechanism is not None, "only for connections with SASL"
        return MECHANISMS[self.mechanism](self.username, self.password)


def parse_properties(text: str) -> dict[str, str]:
    """The properties in the text of a Java properties file (without \\u escapes)."""
    properties = {}
    for line in re.sub(r"\\\r?\n[ \t]*", "", text).splitlines():
        line = line.strip()
        if line and line[0] not in "#!":
            name, _, value = re.sub(r"\s*[=:]\s*", "=", line, count=1).partition("=")
            properties[name] = value.replace("\\\\", "\\")
    return properties


def _tls(properties: Mapping[str, str]) -> ssl.SSLContext:
    authorities = properties.get("ssl.ca.location") or properties.get("ssl.truststore.location")
    certificate = properties.get("ssl.certificate.location") or properties.get("ssl.keystore.location")
    for name in ("ssl.truststore.type", "ssl.keystore.type"):
        if properties.get(name, "PEM").upper() != "PEM":
            raise ClientError(f"{name}={properties[name]}: only PEM files are understood; convert it with openssl")
    try:
        context = ssl.create_default_context(cafile=authorities)
        if certificate:
            password = properties.get("ssl.key.password")
            context.load_cert_chain(certificate, properties.get("ssl.key.location") or None, password)
    except (OSError, ssl.SSLError) as error:
        where = f"ssl.ca.location={authorities}, ssl.certificate.location={certificate}"
        raise ClientError(f"no usable PEM files ({where}): {error}") from None
    if properties.get("ssl.endpoint.identification.algorithm", "https").lower() in ("", "none"):
        context.check_hostname = False
    return context


def _jaas_option(jaas: str, name: str) -> str:
    found = re.search(rf"""\b{name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))""", jaas)
    if found is None:
        raise ClientError(f'sasl.{name} is missing (or {name}="…" in sasl.jaas.config)')
    return next(group for group in found.groups() if group is not None)


# Mechanisms: generators that yield the bytes to send and receive the server's answers


def _plain(username: str, password: str) -> Generator[bytes, bytes, None]:
    yield b"\0" + username.encode() + b"\0" + password.encode()


def _scram(digest: str) -> Callable[[str, str], Generator[bytes, bytes, None]]:
    def sign(key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, digest)

    def steps(username: str, password: str) -> Generator[bytes, bytes, None]:
        nonce = secrets.token_urlsafe(24)
        first = f"n={username.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
        server_first = (yield f"n,,{first}".encode()).decode()
        said = _attributes(server_first)
        if not said.get("r", "").startswith(nonce) or "s" not in said or not said.get("i", "").isdecimal():
            raise ClientError("SCRAM: the server's first message does not answer the client's")
        salted = hashlib.pbkdf2_hmac(digest, password.encode(), base64.b64decode(said["s"]), int(said["i"]))
        client_key = sign(salted, b"Client Key")
        final = f"c=biws,r={said['r']}"
        signed = f"{first},{server_first},{final}".encode()
        signature = sign(hashlib.new(digest, client_key).digest(), signed)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        server_final = (yield f"{final},p={base64.b64encode(proof).decode()}".encode()).decode()
        expected = sign(sign(salted, b"Server Key"), signed)
        if not hmac.compare_digest(base64.b64decode(_attributes(server_final).get("v", "")), expected):
            raise ClientError("SCRAM: the server does not know the password, so it may be an impostor")

    return steps


def _attributes(message: str) -> dict[str, str]:
    return {part[0]: part[2:] for part in message.split(",") if part[1:2] == "="}


MECHANISMS: dict[str, Callable[[str, str], Generator[bytes, bytes, None]]] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram("sha256"),
    "SCRAM-SHA-512": _scram("sha512"),
}
"""SASL mechanism → a function that makes its steps from user name and password."""
