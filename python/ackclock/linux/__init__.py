"""A Linux kernel as an ordinary process in virtual time: built, kept, booted, and a substrate."""
