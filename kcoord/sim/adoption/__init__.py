"""Runs of adoption and release: kcoord's own server and gateway in front of a cluster, all in one process on virtual
time.

Nothing of the gateway is copied: the code that decides in a run is the code that decides in front of a real cluster,
frame by frame. Only its surroundings are simulated: the event loop's time, connections, disks, the cluster, its
clients.
"""
