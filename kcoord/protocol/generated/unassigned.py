# Generated from schemas/unassigned.json by `python -m schemas.generator`. Do not edit.
"""Which API keys and error codes has nobody assigned? Those of the protocols that no broker speaks yet."""

CONNECT_GROUP_HEARTBEAT = 32100
CONNECT_GROUP_PREPARE_ASSIGNMENT = 32101
CONNECT_GROUP_INSTALL_ASSIGNMENT = 32102
CONNECT_GROUP_DESCRIBE = 32103
ADOPT_GROUP = 32104
DECLARED_TOPICS = 32105

COMPUTE_ASSIGNMENT = 32100
INVALID_ASSIGNMENT = 32101
