"""The routes of clients below /compaction/v1: conversations that the gateway keeps, and summaries on demand.

``conversations`` are in the form of OpenAI's Conversations API, so that an SDK's ``client.conversations``
works with ``/compaction/v1`` as its base URL. What a key may reach is its tenant's, as with a call of a
model; the operators' routes ask the archive instead. ``summarize`` stores nothing. May import all that
``admin`` may.
"""
