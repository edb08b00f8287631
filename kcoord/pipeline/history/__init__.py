"""What a partition's log says of its groups. Pure: records in, rows of tables out."""
