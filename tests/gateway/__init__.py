"""Does the gateway change nothing but what it means to change? Every rule of docs/rules/gateway.md and
docs/rules/adoption.md, against real Kafka.

A number in a test's name is that of a GW rule, or of an AD rule where the docstring of the test or module says so.
"""
