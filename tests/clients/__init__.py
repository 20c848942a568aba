"""Clients that people use, unmodified, in conversations that cross every level."""
