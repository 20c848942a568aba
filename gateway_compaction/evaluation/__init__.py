"""What survives compaction, measured on recorded conversations: the command ``eval``."""
