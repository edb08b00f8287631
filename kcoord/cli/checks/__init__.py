"""The checks of `kcoord check`, made before any client connects to kcoord."""
