"""One file for each API of the wire: which group a request is about, and who handles it."""
