"""``buffers``: look into the sessions that the gateway compacts, and act on them.

``commands`` has the commands that only look, ``act`` those that change a session, ``watch`` the one that
follows it. ``reach`` finds the archive (the gateway's API, or Redis itself) and turns failures into sentences
and exit codes; ``names`` finds the session that a person means; ``view``, ``diff`` and ``text`` show it. Ids,
labels and summaries come from clients and models, so all of them go through ``text`` before a terminal sees
them.

Own words: a *version* is a numbered compaction of a session; an *action* is a change that an operator makes.
"""
