"""Runs of classic groups, as Kafka's own coordinator has them: Java's workers and kcoord's in one group."""
