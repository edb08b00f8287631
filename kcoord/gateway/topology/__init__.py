"""Brokers, their ports, groups' coordinators, and the other instances around this one."""
