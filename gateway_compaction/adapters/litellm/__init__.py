"""LiteLLM as the plugin needs it: the proxy's models, its other callbacks, and checks of a config.

``models`` looks up windows and prices of model groups (``auto_routers`` those of groups that stand for
others) and asks for summaries through the proxy's router, ``parameters`` without those that a provider
refuses; ``doors`` tells which calls are conversations; ``ask_again`` asks once more where a provider refused
a request as too long; ``callbacks`` tells which other callbacks may read, mask or block a request; ``probes``
judges a config before the proxy starts, for ``doctor``; ``demo_model`` is a model without a provider;
``internals`` takes parts of LiteLLM so that the proxy starts without one that is gone. Each
says which behaviour of LiteLLM it relies upon (as of 1.108) and what breaks when that changes: much of it is
not a public interface.
The callbacks that LiteLLM calls are in ``hook``. Imports LiteLLM, the ports and, for the demo, the core.
"""
