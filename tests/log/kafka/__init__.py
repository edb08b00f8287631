"""Is the log in a topic what the interface promises, on a real Kafka?"""
