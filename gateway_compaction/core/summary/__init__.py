"""A model's summary: what is asked, which answers are taken, how it grows, and the message that carries it.

In come messages, the policy and a counting function; out come the texts of a prompt, the accepted text of an
answer, the *segments* of a summary, and the one message that stands for what was covered. Nothing is called
or awaited here: ``engine.summary_pipeline`` asks the models.

Words: a *segment* is a text that stands for a run of messages. A *piece* is such a run before its text is
written. The *block* is the content of the *summary message*: within ``<conversation_summary>`` stand a note,
the pins and the summary's text. Everything of the block but the text is its *frame*; the *room* is what the
frame leaves for the text. All lengths are in uncalibrated tokens where nothing else is said: bytes that were
sent must not change with a calibration.

Modules: ``prompts`` (questions), ``acceptance`` (answers), ``identifier_check`` (what an answer lost or made
up), ``segments`` (growth), ``block`` (the summary message), ``turn_labels`` (the turns of
each segment, as it is sent), ``statistics`` (how much shorter it became),
``restore`` (what a later conversation is told of this one), ``restore_facts`` (what of that is found in it).
Imports conversation, text, pins, extractive, policy and records.
"""
