"""The outside world behind the contracts of ``ports`` and ``archive``: one adapter for each thing outside.

``redis/`` keeps summaries and sessions; ``litellm/`` knows the proxy's models and callbacks; ``http_archive``
asks a running gateway for what ``redis/`` would tell; ``prometheus`` counts; ``policy_file`` and
``policy_watcher`` read policies from where people write them; ``secrets`` keeps passwords out of error texts;
``hedged_summarizer`` asks any summariser once more where it hangs.
Adapters may import the core, the contracts and the driver of their own thing outside. Core and engine never
import an adapter; ``runtime`` and the rooms that stand on it do. ``demo_model`` is an alias that
users' configs name.
"""
