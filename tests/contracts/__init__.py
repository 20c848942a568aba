"""Contracts of ports.py, held by whatever keeps them."""
