"""The policy file: what is decided about conversations before anybody has seen them.

In comes the content of ``policies.yaml`` as plain values (with overrides from the environment, and
``compaction`` blocks from the metadata of teams and keys); out comes one complete, consistent ``Policy`` for
each identity that the gateway has authenticated. ``PolicyBook.resolve`` is the entrance.

Words: a *partial policy* is a mapping that names only the keys it changes (``defaults``, an entry of
``policies``, a metadata block, a preset). A *path* is a key with dots, such as ``levels.medium.at``. A
*layer* is one partial policy as values by path, with the *origin* where it was written. A *setting* is the
value that won, and its origin. A *rank* says how strong a layer is: model and tag, then team, then key and
user. A *conflict* is a pair of settings in the wrong order; a *clash* is one that two entries make together.

From bottom to top: ``fields`` (kinds of values), ``model`` (the schema), ``document`` (a file's shape, errors
in words), ``presets``, ``layers`` (laying over each other), ``matching`` (for whom), ``book``. Nothing here
imports another package of ``core``; no file is read and nothing is logged.
"""
