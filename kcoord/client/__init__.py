"""A small client of Kafka's protocol: requests to brokers, and which broker to ask. Used by the command line."""

from kcoord.client.cluster import Broker, Cluster
from kcoord.client.connection import ClientError, Connection
from kcoord.client.security import Security

__all__ = ["Broker", "ClientError", "Cluster", "Connection", "Security"]
