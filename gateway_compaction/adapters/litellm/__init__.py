"""LiteLLM as the plugin needs it: the proxy's models, its other callbacks, and checks of a config.

``models`` looks up windows and prices of model groups and asks for summaries through the proxy's router;
``callbacks`` tells which other callbacks may read, mask or block a request; ``probes`` judges a config before
the proxy starts, for ``doctor``; ``demo_model`` is a model without a provider. Each says which behaviour of
LiteLLM it relies upon (as of 1.108) and what breaks when that changes: much of it is not a public interface.
The callbacks that LiteLLM calls are in ``hook``. Imports LiteLLM, the ports and, for the demo, the core.
"""
