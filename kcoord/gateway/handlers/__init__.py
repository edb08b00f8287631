"""Requests about groups that the gateway handles itself, one file an API family."""
