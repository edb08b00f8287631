"""One file for each API of the wire: which group a request is about, who handles it, and how a refusal looks."""
