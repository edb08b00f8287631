"""Connect groups: what docs/rules/connect-groups.md adds to groups without a barrier (`modern/`)."""
