"""Does what was acknowledged outlive whatever happens? Real faults, a running load, a checker of its history."""
