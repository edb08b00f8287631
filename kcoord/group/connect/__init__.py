"""Connect groups: what their rules (docs/rules/connect-groups.md) add to the heart in `modern/`."""
