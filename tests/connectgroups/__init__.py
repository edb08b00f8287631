"""Connect groups over real sockets: what a client sees of each API, alone and before a cluster."""
