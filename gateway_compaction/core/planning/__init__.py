"""Planning: for one request, which view of it is sent and which summary is made afterwards.

In comes a ``RequestContext``: the request divided and counted, its policy, and what the store tells of its
session. Out comes a ``Plan``: a ``View``, what was made on the way, and perhaps a ``SummaryJob``. Nothing is
sent or stored here, and no model is asked: the engine does that.

Words of this package: a *view* is one way to send the conversation; the *raw* one sends it as it came. A
*cut* is an index at which the history may be divided; a compaction *covers* the messages before its cut. The
*block* is what its summary message says: note, pins and text. What stands behind the block is the *tail*, and
the *opener* is the user message that is repeated there where a cut divides a turn. A *level* tells how full
the window is.

It may import every other package of ``core``; none of them imports this one.
"""
