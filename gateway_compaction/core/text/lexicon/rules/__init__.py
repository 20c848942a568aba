"""The words by which standing rules are told, a file a language.

Each file holds one ``RuleWords``: what orders, what forbids, what makes an order last, what is only about
what is at hand. They stand apart from the rest of a language, since they are as many as all of it and change
most often: a rule that is pinned wrongly, or missed, is mended here. ``core.pins.rules`` weighs them.

A sentence is pinned where ``standing`` matches it, or where an order in it (``orders``, ``bans``, ``wishes``,
``headless``) lasts: ``lasting`` says so, or it is a ban or headless, or an order with ``conditions``, or it
has ``manner``. To mend one that is no rule, find out which of these matched it, perhaps in another language:
those are tried that share most words with it. Then add what takes it out again, since other sentences may
need the pattern: ``single`` (one thing at hand; it counts for nothing beside ``lasting``), ``deliverables``
(against ``manner``), ``asides`` (a subordinate clause), ``tales`` (what is only told; not against
``standing``). Make the pattern itself narrower where none of them fits. A sentence that is missed lacks an
order, or what lasts. Either goes, labelled, into tests/core/lexicon, so that nobody brings the fault back.

The words of orders and bans are many in English and German, and stand in files of their own. Imports nothing.
"""
