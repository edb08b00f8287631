"""The tables on Spark: everything that imports pyspark or pyarrow."""
