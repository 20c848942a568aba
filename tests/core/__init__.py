"""Tests of the pure core: invariants over every conversation, tables for every decision."""
