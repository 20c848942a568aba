"""The page for operators: view models, templates, and the routes that show them.

What comes in is the archive's values and what a browser sent; what goes out is HTML, made on threads beside
the proxy's loop. ``routes`` and ``forms`` are the routes; ``overview``, ``sessions``, ``session``,
``history``, ``contents``, ``continuing``, ``policy`` and ``actions`` make view models (frozen values, ready
to be shown, without HTML); ``charts`` places the parts of drawings; ``render`` fills templates; ``errors``
shows failures as pages.

To add something to a session's page: a field of ``SessionView`` with its part of ``make_session_view`` in
``session``, and its markup in ``templates/_session.html``, which is polled: the page is sent again whenever
the ``repr`` of the view has changed, so a view holds nothing that changes by itself. What needs the policy is
made by ``routes`` (``_policy_values``) and stands in ``templates/session.html``, which is not polled. Colours
and sizes are in ``static/ui.css``. If the data are new: a field of ``archive.SessionDetail`` with a default
(the command line reads answers strictly, and must read those of an older gateway), filled by
``adapters.redis.detail``; a value of it in the sessions that tests show, tests/admin/scenes.py; docs/api.md
(generated) and the command line's ``cli.buffers.view``.

Text of strangers reaches a template only through the filters of ``text``, which make invisible characters
visible and cut what has no end. May import ``admin`` and all that ``admin`` may.
"""
