"""The page for operators: view models, templates, and the routes that show them.

What comes in is the archive's values and what a browser sent; what goes out is HTML, made on threads beside
the proxy's loop. ``routes`` and ``forms`` are the routes; ``overview``, ``sessions``, ``session``,
``history``, ``contents``, ``policy`` and ``actions`` make view models (frozen values, ready to be shown,
without HTML); ``charts`` places the parts of drawings; ``render`` fills templates; ``errors`` shows failures
as pages.

Text of strangers reaches a template only through the filters of ``text``, which make invisible characters
visible and cut what has no end. May import ``admin`` and all that ``admin`` may.
"""
