"""Records of a conversation: plain values that stores, archives and the core share.

A ``Compaction`` is what stands for the beginning of a conversation; a ``CompactionEvent`` tells one decision;
a ``CallSnapshot`` shows operators one call; ``SessionControls`` are what operators asked of a session. A
``ClientState`` is what a client tells of its work, and a ``RestorePoint`` all that a later conversation can
be told of this one. An ``Exchange`` is what one call added to a conversation that the gateway keeps, and a
``KeptConversation`` the tree of them.

Words: a *session* is one conversation of one tenant (``SessionRef``). A compaction *covers* the first
messages after the preamble and is named by their *digest*. A *generation* is a session's state as operators
left it: whatever was decided under another one is void.

Names of fields are the names in Redis, in exported documents and in the administration's JSON: none may
change without a new schema. Imports nothing of this project.
"""
