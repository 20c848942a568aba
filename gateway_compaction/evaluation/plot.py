"""A chart."""

from __future__ import annotations


def chart(x):
    return ""
