"""A small client of Kafka's protocol: it finds brokers and coordinators and sends requests to them."""

from kcoord.client.cluster import Broker, Cluster
from kcoord.client.connection import Connection
from kcoord.client.errors import ClientError
from kcoord.client.security import Security

__all__ = ["Broker", "ClientError", "Cluster", "Connection", "Security"]
