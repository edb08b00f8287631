"""What is looked at by `kcoord check`, before any client is pointed at kcoord."""
