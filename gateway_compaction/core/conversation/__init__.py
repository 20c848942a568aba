"""Conversations: messages read, written, divided and named. Everything else in ``core`` stands on this.

A request's messages come in as the client wrote them; out come answers about one of them (``messages``,
``parts``, ``media``; ``visible_text`` leaves out of a text what nobody is told) or about the request
(``body``, and ``provider_rules`` for what providers refuse), a ``Transcript`` with the cuts at which it may
be divided (``transcript``), names that decide which summary stands for which messages (``digest``), what
was read of them in an earlier call (``known_histories``), and changed copies (``rewrite``); ``slices``
divides long texts. The keys of the wire form are known here and
nowhere else in ``core``: another endpoint is an adapter that makes such messages.

Its words: the *preamble* is the leading system messages; the *history* all that follows, by whose
indexes everybody counts; a *turn* a user message, its *opener*, and what follows up to the next; a
*group* a message with calls and their results; a *cut* an index at which the history may be divided; a
*part* one entry of a content that is a list; a *digest* a name by meaning; the *digest chain* the
digests of all prefixes. Imports nothing of ``core``.
"""
