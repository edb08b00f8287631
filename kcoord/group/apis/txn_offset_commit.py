"""TxnOffsetCommit (28): a producer commits a group's offsets within its transaction.

Transactions are the cluster's, so no shard handles this request. In front of a cluster, the gateway asks the shard
whether the member may commit, and the cluster stores the offsets (GW-12). A kcoord that runs alone does not offer it.
"""

from __future__ import annotations

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kcoord.protocol.messages import TxnOffsetCommitRequest, TxnOffsetCommitResponse


def refuse_txn_offset_commit(request: TxnOffsetCommitRequest, error: ErrorCode) -> TxnOffsetCommitResponse:
    """The answer with the same error for each partition."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
