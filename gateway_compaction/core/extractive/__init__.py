"""Extracts: the summary that needs no model, instantly and the same on every replica.

It stands for covered messages until a model has summarised them, and where no model may. ``extract`` builds
it within a budget of tokens, out of verbatim *pieces* of the messages: ``open_questions`` finds the
*requests* of users that are still open, ``salience`` ranks the *sentences* of what was said (an *utterance*
is what one message says), and ``identifier_ledger`` ranks the *identifiers* (paths, codes, names) that later
messages will likely need, with the lines that hold them. ``selection`` chooses among pieces that make one
another superfluous.

Messages and a budget come in, a text goes out; what was read in one message (its *reading*) can be kept.
Imports ``conversation`` and ``text``.
"""
