"""From one protocol to the other: a generic group of Connect workers becomes a connect group, and one again."""
