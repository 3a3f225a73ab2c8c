"""Papers that can be run again, each in a folder of its own, and the field's test sets."""
