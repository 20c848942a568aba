"""Judging a LiteLLM config from outside a running proxy, for ``doctor``, ``serve`` and their banner.

Relies on LiteLLM 1.108: that a ``Router`` refuses a deployment it cannot use when it is made, that
``custom_provider_map`` only adds names to ``provider_list`` and ``_custom_providers``, and on the proxy's own
``master_key_boot_verdict``. Should these change, ``doctor`` says of a config what the proxy then does not do;
the proxy itself is not affected.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import litellm
from litellm.router import Router
from pydantic import ValidationError

from gateway_compaction.adapters.litellm.internals import find_internal
from gateway_compaction.adapters.litellm.models import ProxyModels
from gateway_compaction.adapters.secrets import strip_values

UNJUDGED = "A master key is not judged before LiteLLM itself does when it starts"
BOOT_CHECK = "litellm.proxy.auth.master_key_boot_check"
master_key_boot_verdict = find_internal(BOOT_CHECK, "master_key_boot_verdict", without=UNJUDGED)
UnsafeMasterKeyRefused = find_internal(BOOT_CHECK, "UnsafeMasterKeyRefused", without=UNJUDGED)


@dataclass(frozen=True, slots=True)
class ConfigModels:
    """The models of a config that is not being served.

    Attributes:
        models: looks them up as the running proxy does.
        broken: deployments that LiteLLM cannot use, by their position, with the reason.
        router: LiteLLM's, of all that are not broken; None where none is left.
    """

    models: ProxyModels
    broken: Mapping[int, str]
    router: Any

    def offers(self, group: str) -> bool:
        """Tell whether a request may name this group; aliases and patterns count."""
        return self.router is not None and bool(self.router.get_model_list(model_name=group))


def load_config_models(deployments: Sequence[Mapping[str, Any]], providers: Sequence[str]) -> ConfigModels:
    """Load the models of a config's ``model_list``; nothing is sent anywhere.

    Args:
        deployments: the entries of ``model_list``.
        providers: names of the providers that the config adds to LiteLLM's own.
    """
    # What LiteLLM does for custom_provider_map, but without loading the code that it names.
    litellm.provider_list += [name for name in providers if name not in litellm.provider_list]
    litellm._custom_providers += [name for name in providers if name not in litellm._custom_providers]
    with warnings.catch_warnings():
        # The first router makes pydantic warn of LiteLLM's own types.
        warnings.simplefilter("ignore")
        broken = {i: fault for i, d in enumerate(deployments) if (fault := _find_fault(d))}
        sound = [dict(d) for i, d in enumerate(deployments) if i not in broken]
        router: Any = Router(model_list=sound) if sound else None
    if router is not None:
        # It is asked for its models only: it need not follow calls.
        router.discard()
    return ConfigModels(ProxyModels(lambda: router), broken, router)


def _find_fault(deployment: Mapping[str, Any]) -> str | None:
    """Return why LiteLLM cannot use a deployment, or None."""
    try:
        router: Any = Router(model_list=[dict(deployment)])
        router.discard()
    except ValidationError as error:
        # Its text would show the values, keys among them.
        faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        return _strip_params("; ".join(faults), deployment)[:200]
    except Exception as error:  # LiteLLM raises whatever comes up
        text = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        return _strip_params(text, deployment)[:200]
    return None


def _strip_params(text: str, deployment: Mapping[str, Any]) -> str:
    """Return an error text without any parameter of a deployment but its model: keys are among them."""
    params = deployment.get("litellm_params")
    named = params if isinstance(params, Mapping) else {}
    return strip_values(text, {name: value for name, value in named.items() if name != "model"})


def find_master_key_fault(key: str | None, general: Mapping[str, Any], permitted: bool) -> str | None:
    """Return why LiteLLM will not start with a master key, or None.

    Args:
        key: the master key, None where there is none.
        general: the config's ``general_settings``.
        permitted: the environment permits a weak key, or none.
    """
    if master_key_boot_verdict is None or UnsafeMasterKeyRefused is None:
        return None
    verdict = master_key_boot_verdict(
        master_key=key,
        environment_master_key=None,
        general_settings=general,
        config_file_path=None,
        override_env_is_on=permitted,
        salt_key_is_set=True,
        database_is_configured=False,
    )
    return verdict.reason.value.replace("_", " ") if isinstance(verdict, UnsafeMasterKeyRefused) else None
