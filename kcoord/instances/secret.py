"""How do two instances prove to each other that they are of one cluster?

By a secret that both have and neither sends. Each side gives random bytes, and each proves with an HMAC over both, and
over who it says it is, that it has the secret; the words differ by side, so that no proof can be sent back. The caller
proves first. The key is derived slowly, so that a proof that somebody has recorded does not soon give away a weak
secret. Where TLS with certificates on both sides is used instead, the proofs are empty.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

__all__ = ["MIN_SECRET", "NONCE_BYTES", "Secret", "nonce", "same"]

MIN_SECRET = 16
"""Characters that a secret has at least."""
NONCE_BYTES = 32
ROUNDS = 200_000
SALT = b"kcoord.instances.internal"


def nonce() -> bytes:
    """Random bytes that nobody has used before."""
    return secrets.token_bytes(NONCE_BYTES)


class Secret:
    """The shared secret; None where there is none, because certificates do it."""

    def __init__(self, secret: str | None) -> None:
        """Raises ValueError for a secret that is too short."""
        if secret is not None and len(secret) < MIN_SECRET:
            raise ValueError(f"internal.secret has {len(secret)} characters, and must have {MIN_SECRET} at least")
        self._key = None if secret is None else hashlib.pbkdf2_hmac("sha256", secret.encode(), SALT, ROUNDS)

    def of_caller(self, instance_id: int, run: str, called_nonce: bytes, caller_nonce: bytes) -> bytes:
        """The proof of who calls."""
        return self._proof(b"caller", instance_id, run, called_nonce, caller_nonce)

    def of_called(self, instance_id: int, called_nonce: bytes, caller_nonce: bytes) -> bytes:
        """The proof of who is called."""
        return self._proof(b"called", instance_id, "", called_nonce, caller_nonce)

    def _proof(self, side: bytes, instance_id: int, run: str, called_nonce: bytes, caller_nonce: bytes) -> bytes:
        if self._key is None:
            return b""
        parts = (side, str(instance_id).encode(), run.encode(), called_nonce, caller_nonce)
        text = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return hmac.new(self._key, text, hashlib.sha256).digest()


def same(one: bytes, other: bytes) -> bool:
    """Whether two proofs are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(one, other)
