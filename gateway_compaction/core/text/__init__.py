"""Texts: what can be done with one without knowing whose it is or what it is wanted for.

Strings come in; out come sentences, search terms, identifiers, a language, what of a text somebody else
brought in, or a text that is shorter or harmless. Pins, extracts, recall and summaries share these, so that
what one of them calls a sentence is a sentence to the others: a rule that is pinned is the one that an
extract leaves out.

Its words: a *term* is a word as search sees it; an *identifier* something that is referred to by its
exact spelling; to *clip* is to shorten a message's texts, to *clear* to replace a tool's result by a
marker; *markup* are tags and labels of ours that a stranger's text must not imitate; the *lexicon* holds
every list of words of a natural language, by language; a *question* is told in ``questions`` alone
and a *clause* in ``clauses``; *phrases* are the few sentences that the gateway says itself.
Imports ``conversation``.
"""
