"""Groups: the coordinator as a pure state machine. No I/O, no clock and no random number that was not handed in.

`shard.py` is one partition: requests and time go in, records and replies come out. One place changes state: `replay`.
"""
