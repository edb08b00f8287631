"""Connect groups: what docs/rules/connect-groups.md adds to the core of groups without a barrier (`modern/`)."""
