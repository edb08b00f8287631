"""Ownership of groups, by kcoord or by the cluster: sentinels, adoption and release, rights, outages."""
