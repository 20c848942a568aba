"""The rules of the documents that this project grew from, each as a test of the preset that follows it.

One file for each document has its figures: ``test_turns`` (a summary of every three turns),
``test_incremental`` (one rolling summary of 8,000 tokens), ``test_agent`` (reports of a coding agent),
``test_hybrid`` (levels and anchors) and ``test_restore`` (a session that goes on where another ended).
"""
