"""The gateway's handlers, one module for each family of APIs that kcoord handles itself in front of a cluster."""
