"""The product's own ideas as pure functions and values: no await, clock, network, files or logging.

In come messages, a policy and what is stored; out goes a decision: which view of the conversation is sent,
which compaction was made on the way, and which summary is to be made after the call. The same input gives the
same decision in every replica, so all of it is tested without a server.

The packages, from the innermost outwards: ``conversation`` reads messages; ``text`` knows languages and
sentences; ``tokens`` counts; ``pins``, ``extractive`` and ``recall`` choose what survives; ``policy`` and
``records`` are values; ``summary`` makes and judges summaries; ``planning`` decides. May import ``errors``
and nothing else of ours.
"""
