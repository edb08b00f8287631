"""A connection to a broker: sending requests and receiving responses.

Several requests may be under way at once; their responses come in order. At the start, the connection asks which API
versions the broker speaks. It sends each request in the highest version that both sides know.
"""

import asyncio
import errno
import os
import socket
import ssl
import struct
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Self, TypeVar

import attrs

from kcoord.client.errors import ClientError, Refused
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import (
    RequestHeader,
    decode_response_header,
    encode_request_header,
)
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
    Request,
    Response,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    api_name,
    response_class,
)
from kcoord.protocol.primitives import DecodeError, EncodeError

if TYPE_CHECKING:
    from kcoord.client.security import Security

R = TypeVar("R", bound=Response)

CLIENT_ID = "kcoord-cli"
LATEST_BY_NAME: dict[type[Request], int] = {OffsetCommitRequest: 9, OffsetFetchRequest: 9}
"""The last versions that name topics by name. Later ones have their ids alone, which callers here do not know."""
_SIZE = struct.Struct(">i")
_UNSUPPORTED_VERSION = int(ErrorCode.UNSUPPORTED_VERSION).to_bytes(2, "big")
_INIT_PRODUCER_ID = 22
_LARGEST_RESPONSE = 100 << 20


@attrs.define(eq=False)
class Connection:
    """A connection to a broker, ready for requests. `timeout`, in seconds, is for connecting and for each answer."""

    host: str
    port: int
    timeout: float
    client_id: str
    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter
    _versions: dict[int, tuple[int, int]] = attrs.field(factory=dict, init=False)
    """API key → lowest and highest version that the broker speaks."""
    features: dict[str, tuple[int, int]] = attrs.field(factory=dict, init=False)
    """Feature → the highest level that the broker supports, and the level that is finalized in the cluster (0: none).
    Kafka's brokers tell features from 2.7 on."""
    _waiting: deque[tuple[RequestHeader, asyncio.Future[Response]]] = attrs.field(factory=deque, init=False)
    _ids: "count[int]" = attrs.field(factory=count, init=False)
    _receiving: asyncio.Task[None] | None = attrs.field(default=None, init=False)

    @classmethod
    async def open(
        cls, host: str, port: int, security: "Security", timeout: float = 10.0, client_id: str = CLIENT_ID
    ) -> Self:
        """Connect, ask for API versions and authenticate. Raises ClientError."""
        try:
            async with asyncio.timeout(timeout):
                reader, writer = await asyncio.open_connection(
                    host, port, ssl=security.tls, server_hostname=host if security.tls else None
                )
        except TimeoutError:
            raise ClientError(f"{host}:{port} cannot be reached: no answer within {timeout:g} s") from None
        except OSError as error:
            known = not isinstance(error, ssl.SSLError) and error.errno in errno.errorcode
            said = os.strerror(error.errno or 0) if known else str(error) or "it closed the connection"
            if isinstance(error, socket.gaierror):
                said = error.strerror or said
            raise ClientError(f"{host}:{port} cannot be reached{' by TLS' if security.tls else ''}: {said}") from None
        self = cls(host, port, timeout, client_id, reader, writer)
        self._receiving = asyncio.create_task(self._receive())
        try:
            await self._learn_versions()
            if security.mechanism is not None:
                await self._authenticate(security)
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Close the connection. Requests under way fail."""
        if self._receiving is not None:
            self._receiving.cancel()
            await asyncio.wait([self._receiving])
        self._writer.close()

    async def send(self, request: Request, answer: type[R]) -> R:
        """Send `request` and return its answer. Raises ClientError."""
        response = await self._settled(request, self.post(request))
        assert isinstance(response, answer)
        return response

    def post(self, request: Request) -> "asyncio.Future[Response]":
        """Write `request` now. The future gets its answer, however long that takes, or a ClientError.

        Requests are written and answered in the order in which they are posted. Raises ClientError.
        """
        version = self._version(request)
        try:
            body = request.encode(version)
        except EncodeError as error:
            raise ClientError(f"{self.host}:{self.port} is too old for this: {error}") from None
        return self._write(request, version, body)

    def serves_version(self, request: type[Request], version: int) -> bool:
        """Whether the broker speaks this version of the API."""
        lowest, highest = self._versions.get(request.API_KEY, (0, -1))
        return lowest <= version <= highest

    def serves(self, request: type[Request]) -> bool:
        """Whether the broker speaks the API in a version that kcoord knows."""
        lowest, highest = self._versions.get(request.API_KEY, (0, -1))
        return max(lowest, request.MIN_VERSION) <= min(highest, request.MAX_VERSION)

    @property
    def keeps_data(self) -> bool:
        """Whether the server is of a cluster that keeps records, or stands in front of one. A kcoord without a cluster
        offers Produce, to refuse it, but no ids for producers.
        """
        return _INIT_PRODUCER_ID in self._versions

    @property
    def versions(self) -> dict[int, tuple[int, int]]:
        """API key → lowest and highest version that the broker speaks."""
        return dict(self._versions)

    def highest(self, api_key: int) -> int | None:
        """The highest version of the API that the broker speaks; None if it does not know the API."""
        known = self._versions.get(api_key)
        return None if known is None else known[1]

    async def ended(self) -> None:
        """Wait until the connection has ended, by either side."""
        if self._receiving is not None:
            await asyncio.wait([self._receiving])

    def _write(self, request: Request, version: int, body: bytes) -> "asyncio.Future[Response]":
        if self._receiving is None or self._receiving.done():
            raise self._lost("it closed the connection")
        header = RequestHeader(request.API_KEY, version, next(self._ids), self.client_id)
        frame = encode_request_header(header) + body
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting.append((header, future))
        self._writer.write(_SIZE.pack(len(frame)) + frame)
        return future

    async def _settled(self, request: Request, future: "asyncio.Future[Response]") -> Response:
        try:
            async with asyncio.timeout(self.timeout):
                return await future
        except TimeoutError:
            name = api_name(request.API_KEY)
            raise self._lost(f"no answer to {name} within {self.timeout:g} s") from None

    async def _receive(self) -> None:
        """Give each request its response as it arrives, until the connection ends."""
        error = self._lost("it closed the connection")
        try:
            while True:
                (size,) = _SIZE.unpack(await self._reader.readexactly(_SIZE.size))
                if not 4 <= size <= _LARGEST_RESPONSE or not self._waiting:
                    error = self._lost("what it sends is not Kafka's protocol")
                    return
                header, future = self._waiting[0]
                response = self._decode(header, await self._reader.readexactly(size))
                self._waiting.popleft()  # only now: until then it fails with the connection
                if not future.done():
                    future.set_result(response)
        except DecodeError as bad:
            error = self._lost(f"it sent a response that does not fit the protocol: {bad}")
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for _, future in self._waiting:
                if not future.done():
                    future.set_exception(error)

    def _decode(self, header: RequestHeader, frame: bytes) -> Response:
        key, version = header.api_key, header.api_version
        correlation_id, body = decode_response_header(key, version, frame)
        if correlation_id != header.correlation_id:
            raise DecodeError(f"{api_name(key)} is answered out of order")
        if key == ApiVersionsRequest.API_KEY and frame[body : body + 2] == _UNSUPPORTED_VERSION:
            version = 0  # a broker that does not know the version answers in v0 (KIP-511)
        return response_class(key).decode(frame, version, body)

    def _lost(self, why: str) -> ClientError:
        return ClientError(f"{self.host}:{self.port}: {why}")

    # Versions

    def _version(self, request: Request) -> int:
        latest = LATEST_BY_NAME.get(type(request), request.MAX_VERSION)
        version = min(self._versions.get(request.API_KEY, (0, -1))[1], latest)
        if not self.serves(type(request)):
            raise ClientError(
                f"{self.host}:{self.port} does not serve {api_name(request.API_KEY)} in a version known here"
            )
        return version

    async def _learn_versions(self) -> None:
        request = ApiVersionsRequest(client_software_name="kcoord", client_software_version="1")
        response = await self._ask_versions(request, request.MAX_VERSION)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            known = [each.max_version for each in response.api_keys if each.api_key == ApiVersionsRequest.API_KEY]
            version = min(*known, request.MAX_VERSION - 1) if known else 0
            response = await self._ask_versions(request, version)
        if response.error_code:
            raise self._lost(f"it does not give its API versions: {error_name(response.error_code)}")
        self._versions = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
        levels = {each.name: each.max_version_level for each in response.finalized_features}
        self.features = {
            each.name: (each.max_version, levels.get(each.name, 0)) for each in response.supported_features
        }

    async def _ask_versions(self, request: ApiVersionsRequest, version: int) -> ApiVersionsResponse:
        response = await self._settled(request, self._write(request, version, request.encode(version)))
        assert isinstance(response, ApiVersionsResponse)
        return response

    # Authentication

    async def _authenticate(self, security: "Security") -> None:
        mechanism = security.mechanism or ""
        handshake = await self.send(SaslHandshakeRequest(mechanism=mechanism), SaslHandshakeResponse)
        if handshake.error_code:
            raise self._lost(f"SASL {mechanism} is refused; it offers {', '.join(handshake.mechanisms) or 'none'}")
        steps = security.steps()
        token = next(steps)
        while True:
            answer = await self.send(SaslAuthenticateRequest(auth_bytes=token), SaslAuthenticateResponse)
            if answer.error_code:
                said = answer.error_message or error_name(answer.error_code)
                text = f"{self.host}:{self.port}: authentication of {security.username} by {mechanism} failed: {said}"
                raise Refused(text, answer.error_code)
            try:
                token = steps.send(bytes(answer.auth_bytes))
            except StopIteration:
                return


def error_name(code: int) -> str:
    """The name of an error code, by which people can look it up."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"
