"""What ``eval`` measures, and that it measures the code that serves requests."""
