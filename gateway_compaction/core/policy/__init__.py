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

To add a key:

1. The field in its section's class in ``model``, with a kind of ``fields``; an order between two values in
   ``ORDERED_PAIRS``; values of the presets in ``presets``.
2. What obeys it. Most keys are read by ``core.planning`` and ``core.summary``, from ``context.policy``;
   ``mode``, ``bypass`` and ``labels`` by ``engine.compactor`` and ``engine.request``; ``storage`` where the
   engine writes (``engine.post_call``, ``engine.worker``) and in ``core.planning.snapshot``;
   ``summary`` also by ``engine.summary_pipeline``; ``recall`` by ``core.planning.views`` and
   ``core.planning.context``, which hand its values to ``core.recall`` (that knows no policy), and by
   ``engine.summary_task``, which builds no index where nothing will be quoted. ``admin.preview`` replays what
   planning reads, from the counts of the last call, which hold the room for quotes: so it sets ``recall`` to
   none.
3. ``DESIGN_DEFAULTS`` of tests/test_policy.py and, for what must be refused, ``WRONG`` of
   tests/test_policy_errors.py. Both fail until the key is there.
4. docs/policies.md and config/policies.schema.json, and docs/presets.md where other bytes are sent now
   (CONTRIBUTING.md has the commands).
5. If operators should see it first, or its absence needs a word: ``FIRST`` and ``NOTHING`` of
   ``admin.ui.policy``.

To add a key of ``match``: ``Match`` in ``document``, ``RANKS`` in ``matching``, ``IDENTITY_FIELDS`` and
``Identity`` in ``book``, and where identities are made: ``call_state.identity_of`` and ``admin.policy_view``.
A key of an entry beside ``match`` is a field of ``PolicyEntry`` in ``document``.
"""
