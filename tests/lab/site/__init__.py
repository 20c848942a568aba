"""Modules that a lab proxy loads from its config directory; copied there, never imported by tests."""
