"""One client connection in front of a cluster: its frames, its connection upstream, its SASL exchanges."""
