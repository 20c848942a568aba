"""Pins: what every summary says word for word, whatever the summariser made of it.

Two things come of a conversation's covered messages. ``pins`` collects *pins*: the *task* (the user's first
message) and *rules*, that is covered instructions and what the user laid down for good ("Never push to
main."); a rule may be *changed* by a later one. ``anchors`` chooses *anchors*: the few other sentences that
matter most, such as decisions, findings and what the user put a *mark* on (``<!-- anchor -->``). What
operators pin by the API is a third thing and lives in ``records``.

Only a user's *own words* make rules: ``own_words`` blanks code, quotations, pasted text and what a tool, a
file, an agent or a mail brought in, ``rules`` and
``rule_changes`` judge the sentences that are left. The words of each language stand in ``text.lexicon``.
Imports ``conversation`` and ``text``.
"""
