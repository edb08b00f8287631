"""The wire: primitives, frames, errors, and the codecs generated from ``schemas/``. No I/O, no clock.

Start at ``messages`` (every request and response), ``frame`` (what stands around them) and ``records`` (what the log
keeps).
"""
