"""Runs by this machine's kernel: its features, packetdrill scripts, players of films."""
