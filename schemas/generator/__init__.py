"""Makes the codecs and the protocol reference out of ``schemas/``: ``python -m schemas.generator``."""
