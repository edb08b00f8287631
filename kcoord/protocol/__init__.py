"""The wire protocol: primitives, frames, errors, and the codecs generated from ``schemas/``. No I/O, no clock.

Start with ``messages`` (every request and response), ``frame`` (sizes and headers around them) and ``records`` (what
the log holds).
"""
