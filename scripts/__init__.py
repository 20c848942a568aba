"""Tools that measure what the project does, run by hand from its root."""
