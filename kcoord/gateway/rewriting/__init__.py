"""Node addresses and API versions in responses that pass through the gateway."""
