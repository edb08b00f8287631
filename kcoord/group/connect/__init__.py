"""Connect groups: what the draft KIP and connect-groups.md add to the heart in `modern/`."""
