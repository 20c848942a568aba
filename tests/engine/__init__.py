"""Compactor, worker and aftermath together: the real store in the process, fakes only at the two ports."""
