"""Do kcoord's image and compose.yaml work? Tried where a Docker engine answers that has what they stand on."""
