"""Who gives tokens to a test's OAUTHBEARER? Kafka takes unsigned ones while nothing else is set."""

import base64
import json
import time

from aiokafka.abc import AbstractTokenProvider


class Unsigned(AbstractTokenProvider):  # type: ignore[misc]  # aiokafka has no types
    """Tokens for the user `kcoord`."""

    async def token(self) -> str:
        now = int(time.time())
        parts: list[dict[str, object]] = [{"alg": "none"}, {"sub": "kcoord", "iat": now, "exp": now + 600}]
        return ".".join([*(_encoded(part) for part in parts), ""])


NOT_A_PROVIDER = 17


def _encoded(part: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
