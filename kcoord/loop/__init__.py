"""How many clients share one event loop: turns in which work is done, and connections that are accepted."""
