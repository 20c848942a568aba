"""The page about the API is made from the API."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from gateway_compaction.admin.routes import API
from scripts.api_page import markdown, specification

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
ROUTES = [route for router in API for route in router.routes if isinstance(route, APIRoute)]
HOW = "make it anew: python -m scripts.api_page > docs/api.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(specification()), HOW


def test_making_it_touches_no_network() -> None:
    code = """
import runpy, sys
def told(event, values):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print(event, values, file=sys.stderr)
sys.addaudithook(told)
runpy.run_module("scripts.api_page", run_name="__main__")
"""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LITELLM_")}
    env |= {"PYTHONPATH": str(PAGE.parents[1]), "PYTHONWARNINGS": "ignore", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=True)
    assert "socket." not in done.stderr and done.stdout == PAGE.read_text(encoding="utf-8"), HOW


@pytest.mark.parametrize("route", ROUTES, ids=lambda r: r.path)
def test_every_route_is_in_it_with_a_sentence(route: APIRoute) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for method in route.methods or ():
        _, found, after = text.partition(f"### `{method} {route.path}`\n\n")
        assert found and after.partition("\n")[0].endswith(".")


def test_lengths_and_limits_are_told_as_people_write_them() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "| `text` | body | string of 1 to 400 characters | required |" in text
    assert "| `version` | body | integer ≥ 0, < 9007199254740992 | required |" in text
    assert "| `rate` | body | number ≥ 0.1, ≤ 0.5 or null |" in text
    assert ".0 " not in text and "e+" not in text


@pytest.mark.parametrize("status", [401, 403, 404, 409, 411, 413, 422, 429, 500, 503])
def test_every_failure_is_explained(status: int) -> None:
    assert f"\n| {status} | " in PAGE.read_text(encoding="utf-8")


def test_ids_of_operations_are_ours_alone() -> None:
    ids = [route.operation_id for route in ROUTES]
    assert len(set(ids)) == len(ids) and all(str(i).startswith("compaction_") for i in ids)


def test_every_route_says_how_to_bring_a_key_and_how_it_fails() -> None:
    for operations in specification()["paths"].values():
        for operation in operations.values():
            assert operation["security"] and {"401", "403", "404", "503"} <= set(operation["responses"])
            assert "application/problem+json" in operation["responses"]["401"]["content"]
