"""Does the gateway change nothing but what it means to change? Every rule of the gateway by its number, against real
Kafka."""
