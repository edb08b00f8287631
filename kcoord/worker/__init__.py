"""How does a program run its share of a group's work? The protocol as a pure state machine, and asyncio around it.

Start at `membership` (the protocol of connect groups), then `worker` (what programs use).
"""
