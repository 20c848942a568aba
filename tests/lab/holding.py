"""What objects hold, however deep and however they call it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

__all__ = ["holds"]

CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, threading.Thread)


def holds(roots: Iterable[Any], text: str, *, apart: Iterable[Any] = ()) -> bool:
    """Whether a text, or its bytes, is within anything reachable from some objects.

    Neither code nor what is reached through ``apart`` is looked at.
    """
    seen = {id(one) for one in apart}
    waiting = list(roots)
    # What is looked at must live on: an id may be given anew.
    looked_at: list[Any] = []
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, CODE):
            continue
        seen.add(id(one))
        looked_at.append(one)
        if (isinstance(one, str) and text in one) or (isinstance(one, bytes) and text.encode() in one):
            return True
        waiting.extend(gc.get_referents(one))
    return False
