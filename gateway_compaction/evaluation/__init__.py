"""Measure what survives compaction on recorded conversations: the command ``eval``.

Users choose a policy with it, and changes to ``core/`` are judged by it. In come recordings (a conversation
and, where known, questions with the messages that answer them). Out come rows: for each strategy and budget
the share of evidence, rules, tasks and identifiers that is still in what would be sent, with 95 % intervals.

Own words: a *trial* is one request that is measured; a *strategy* is a way to make it fit a budget; a *tally*
collects what one strategy did; a *probe* is a sentence that is asked for in other words; a *point* is a call
of a recording with the identifiers that later messages use again. May import everything but ``admin``,
``hook`` and ``cli``.
"""
