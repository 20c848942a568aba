"""Recall: what a later user message needs of the covered messages, quoted before it.

A summary drops details; a question about one of them is answered from the messages themselves, which every
client still sends. ``passages`` splits the covered messages into *passages* (whole sentences, up to seventy
words), ``index`` builds a ``PassageIndex`` of them and ranks them for a *query* (the weighted terms of the
message that asks), and ``recall`` makes a *quote* of the best: a block of verbatim passages within a budget
of tokens. Covered messages and a later user message come in, a ``Quote`` goes out.

The search is lexical (BM25, with what stands near a match) so that it needs no model, no network and no
storage, and gives the same quotes on every replica. Imports ``conversation`` and ``text``.
"""
