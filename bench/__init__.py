"""Benchmarks. Each prints what it measures, and says at its head how to run it."""

import os

# A forked proxy of Python 3.11 has a thread more, which collects garbage: it would be measured as well.
os.environ.setdefault("LAB_FORK", "0")
