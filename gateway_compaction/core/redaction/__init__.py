"""Secrets: where they stand in a text, and the marks that stand for them in everything that is kept.

A conversation is full of what nobody means to be kept: keys that were pasted, passwords in a configuration, a
token in the output of a command. Whatever is made of a conversation (extracts, what a summariser reads, what
it wrote, snapshots of calls, reasons of failures) is made of *masked* messages, in which each secret is
replaced by a *mark* such as ``[secret: aws-access-key #1]``. What is sent to the caller's own model of the
request itself is never masked.

Words: a *finding* is a secret in a text, with its kind. A *format* is told by how a secret itself looks
(``formats``), an *assignment* by what stands before it (``assignments``). A value is *telling* where it is so
long and mixed that it means the secret wherever it stands; others are masked only where they were found.

From bottom to top: ``formats``, ``assignments``, ``checksums``, ``escapes`` (JSON in a text), ``detector``
(one text), ``marks`` (one conversation). A mark's number is the order of first appearance in the history. It
depends on no later message and on nothing that a digest leaves out, so every replica writes the same bytes.

To add a format: a line in ``FORMATS``, and an example with a near miss in tests/core/redaction/shapes.py.
Imports ``conversation``.
"""
