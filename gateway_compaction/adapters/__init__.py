"""The outside world behind the contracts of ``ports`` and ``archive``: one adapter for each thing outside.

``redis/`` keeps summaries and sessions; ``litellm/`` knows the proxy's models and callbacks; ``http_archive``
asks a running gateway for what ``redis/`` would tell; ``prometheus`` counts; ``policy_file`` and
``policy_watcher`` read policies from where people write them. Adapters may import the core, the contracts and
the driver of their own thing outside. Only ``runtime`` and the command line import adapters and wire them;
core and engine never do. ``demo_model`` is an alias that users' configs name.
"""
