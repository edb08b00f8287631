"""How does kcoord keep its records in a topic of a Kafka cluster? `log` puts the pieces together."""
