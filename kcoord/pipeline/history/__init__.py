"""What does a partition's log tell of its groups? Pure: records in, rows of tables out."""
