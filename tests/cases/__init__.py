"""Failure reports as cases, run through a real proxy: ``python -m tests.cases FILE``.

A case is one line of JSON: ``messages`` and ``request`` (what the client sends, with macros), ``policy`` (the
situation, in words), ``checks`` (what must hold), ``force`` (how full the window is meant to be).
"""

from __future__ import annotations
