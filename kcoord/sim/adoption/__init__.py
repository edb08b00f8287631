"""Runs of adoption and release: kcoord's own server and gateway before a cluster, all in one process on virtual time.

Nothing of the gateway is copied: what decides in a run is what decides in front of a real cluster, frame by frame. Only
what is around it is simulated: the event loop's time, connections, disks, the cluster, its clients.
"""
