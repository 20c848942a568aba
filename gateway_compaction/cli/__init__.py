"""The command line, ``gateway-compaction``: one file, or package, for each command.

``serve`` starts the proxy, ``demo`` plays a conversation through it, ``init`` writes a first policy file,
``doctor`` checks a set-up before it is started, ``policy`` checks and explains policy files, ``replay`` and
``eval`` work on recorded conversations, ``buffers`` shows sessions and acts on them. What comes in is what
was typed and the environment; what goes out is text for people, or JSON with ``--json``, and an exit code.
Everything that is slow to import is imported by the command that needs it, so that ``--help`` and completion
answer at once.

Own words: a *recording* is a file of conversations; a *finding* is one thing that ``doctor`` looked at. May
import everything but ``hook`` and ``admin``.
"""
