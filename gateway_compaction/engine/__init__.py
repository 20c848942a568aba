"""Carries a request through the pure core: what is decided, what follows the call, and what runs behind it.

``Compactor`` takes a ``Request`` from the host, has it measured by ``RequestMeter``, and returns a decision:
``Untouched``, ``Measured`` or ``Planned``. ``PostCall`` is told how the call ended and starts what is to be
done; ``UsageReports`` learns from what the provider said of the prompt's length; ``Worker`` does it in the
background, with ``SummaryPipeline`` asking the models. ``NoticePoller`` lets a process know what operators
did elsewhere.

Words: a *session* is one conversation of one tenant, found by its content. A *generation* is the time between
    two actions of operators on it: what was decided in an older one is not stored. A *claim* is the right to
    make one summary, leased from the store. The *local buffer* is what a process remembers of sessions by
    itself, and a *lineage* is a history by the model's answers, by which clients are noticed that rewrite
    their own messages.

Imports core, ports, telemetry and errors; no LiteLLM and no Redis. Whatever takes long is run on a thread.
"""
