"""The log, where records live: its interface, the embedded log (one file), and the log in a Kafka topic (`kafka`)."""
