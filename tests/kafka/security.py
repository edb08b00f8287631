"""How does a client prove who it is to a test's Kafka, and the Kafka to its client?

One `Security` a cluster. A client's settings are given in the words of each client library, since each has its own.
"""

import datetime
import enum
import ipaddress
import ssl
from pathlib import Path
from typing import Any

import attrs
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

ADMIN = "admin"


class Security(enum.Enum):
    """What the listener that clients use speaks."""

    PLAINTEXT = "PLAINTEXT"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SSL = "SSL"


class Mechanism(enum.Enum):
    """SASL mechanisms with a password."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"


def password_of(user: str) -> str:
    """Every user of a test's Kafka has a password that follows from the name."""
    return f"{user}-secret"


def jaas(module: str, **options: str) -> str:
    """A JAAS line for the Java side."""
    return " ".join([module, "required", *(f'{name}="{value}"' for name, value in options.items())]) + ";"


PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


@attrs.frozen
class Certificates:
    """PEM files: the authority that signed, and a server's key and certificate for 127.0.0.1 and localhost."""

    authority: Path
    server: Path

    @classmethod
    def make(cls, folder: Path) -> "Certificates":
        """Make a new authority and a certificate of it in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        authority_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        authority_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kcoord tests")])
        server_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        now = datetime.datetime.now(datetime.UTC)

        def signed(subject: x509.Name, key: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> bytes:
            builder = x509.CertificateBuilder(authority_name, subject, key, x509.random_serial_number())
            builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
                now + datetime.timedelta(days=7)
            )
            certificate = builder.add_extension(extension, critical=False).sign(authority_key, hashes.SHA256())
            return certificate.public_bytes(serialization.Encoding.PEM)

        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
        )
        authority = signed(authority_name, authority_key.public_key(), x509.BasicConstraints(ca=True, path_length=None))
        certificate = signed(server_name, server_key.public_key(), names)
        key = server_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        made = cls(folder / "authority.pem", folder / "server.pem")
        made.authority.write_bytes(authority)
        made.server.write_bytes(key + certificate + authority)
        return made


@attrs.frozen
class ClientSecurity:
    """The settings by which one user's client connects."""

    security: Security
    user: str = ADMIN
    mechanism: Mechanism = Mechanism.PLAIN
    certificates: Certificates | None = None

    def java(self) -> dict[str, str]:
        """For Kafka's own clients and tools."""
        settings = {"security.protocol": self.security.value}
        if self.security is Security.SASL_PLAINTEXT:
            module = PLAIN_MODULE if self.mechanism is Mechanism.PLAIN else SCRAM_MODULE
            settings["sasl.mechanism"] = self.mechanism.value
            settings["sasl.jaas.config"] = jaas(module, username=self.user, password=password_of(self.user))
        if self.certificates is not None:
            settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.certificates.authority)}
        return settings

    def librdkafka(self) -> dict[str, str]:
        """For confluent-kafka."""
        settings = {"security.protocol": self.security.value}
        if self.security is Security.SASL_PLAINTEXT:
            settings |= {
                "sasl.mechanism": self.mechanism.value,
                "sasl.username": self.user,
                "sasl.password": password_of(self.user),
            }
        if self.certificates is not None:
            settings["ssl.ca.location"] = str(self.certificates.authority)
        return settings

    def python(self) -> dict[str, Any]:
        """For aiokafka and kafka-python, whose names are the same."""
        settings: dict[str, Any] = {"security_protocol": self.security.value}
        if self.security is Security.SASL_PLAINTEXT:
            settings |= {
                "sasl_mechanism": self.mechanism.value,
                "sasl_plain_username": self.user,
                "sasl_plain_password": password_of(self.user),
            }
        if self.certificates is not None:
            settings["ssl_context"] = ssl.create_default_context(cafile=str(self.certificates.authority))
        return settings


PLAINTEXT = ClientSecurity(Security.PLAINTEXT)
