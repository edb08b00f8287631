"""The protocol as data: one file a message or record, in Kafka's schema language, and the generator that reads them."""
