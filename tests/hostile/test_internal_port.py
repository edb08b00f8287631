"""Silent connections to the internal port keep no instance out."""

from __future__ import annotations

from collections.abc import Callable

from kcoord.instances import listener
from kcoord.instances.frames import request_frame
from kcoord.instances.secret import Secret, nonce, same
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.instance_hello_request import InstanceHelloRequest
from kcoord.protocol.generated.instance_hello_response import InstanceHelloResponse
from kcoord.protocol.generated.instance_proof_request import InstanceProofRequest
from kcoord.protocol.generated.instance_proof_response import InstanceProofResponse
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import port_block
from tests.server.harness import Client

RESPONSE_HEADER_BYTES = 5
SECRET = "what all instances know"


async def test_an_instance_gets_in_past_silent_connections(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]
) -> None:
    port = port_block(1)
    start_kcoord(
        "alone",
        log="kafka",
        log_bootstrap=kafka.bootstrap,
        log_topic="hostile-internal-port",
        offsets_topic_num_partitions=2,
        internal_listen=f"127.0.0.1:{port}",
        internal_secret=SECRET,
    )
    crowd = [await Client.connect(port) for _ in range(listener.STRANGERS + 1)]
    assert await crowd[0].read_frame() == b"", "the oldest one makes way"
    try:
        assert await proved(port), "an instance with the secret is served"
    finally:
        for each in crowd:
            await each.close()


async def proved(port: int) -> bool:
    """Whether one that knows the secret is taken for an instance, which knows it too."""
    secret = Secret(SECRET)
    async with await Client.connect(port) as instance:
        instance.writer.write(request_frame(1, InstanceHelloRequest(instance_id=7, run="run")))
        hello = InstanceHelloResponse.decode(await instance.read_frame(), 0, RESPONSE_HEADER_BYTES)
        mine = nonce()
        proof = secret.of_caller(7, "run", hello.nonce, mine)
        instance.writer.write(request_frame(2, InstanceProofRequest(nonce=mine, proof=proof)))
        answer = InstanceProofResponse.decode(await instance.read_frame(), 0, RESPONSE_HEADER_BYTES)
        theirs = secret.of_called(answer.instance_id, hello.nonce, mine)
        return answer.error_code == ErrorCode.NONE and same(theirs, answer.proof)
