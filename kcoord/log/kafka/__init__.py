"""The log in a compacted topic of a Kafka cluster. `log` puts the parts together."""
