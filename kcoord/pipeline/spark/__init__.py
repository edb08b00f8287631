"""How do the tables come to be on Spark? All that imports pyspark or pyarrow."""
