"""The operators' side of a gateway: an API and a web page, on LiteLLM's own application.

``mount`` puts the routes there when the proxy starts. LiteLLM judges every key; ``access`` turns the identity
into a scope, and the archive gives nothing outside of that scope. ``read_routes`` only look, ``write_routes``
change something and leave an audit event, ``watch_routes`` stream changes; ``schemas`` are their values,
``problems`` their failures. ``ui`` is the page, ``v1`` are the routes of clients. Routes run on the proxy's
loop beside its requests, so whatever may be long (lists, sums, comparisons, JSON) is done on threads.

Own words: a *viewer* is an authenticated operator; an *action* is a change that one makes; *parts* are what
the routes need of the process. May import everything but ``hook``, ``replay``, ``evaluation`` and ``cli``.
"""
