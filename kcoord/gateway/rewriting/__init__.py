"""Node addresses, versions and features in responses that pass through the gateway."""
