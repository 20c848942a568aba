"""Recorded conversations through a real proxy, call by call, at every door and to both kinds of upstream.

``python -m tests.recorded`` plays what is in ``../shared/data``; tests/e2e plays a few of them. Of every call
it is looked at that the upstream gets no more than its window, that what it gets keeps the rules of its
provider, that what comes below every level is LiteLLM's own, byte for byte, and that the prefix stays the
same as long as the compaction does.
"""
