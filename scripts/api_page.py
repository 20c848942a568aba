"""Write docs/api.md from the routes themselves: ``python -m scripts.api_page > docs/api.md``.

The page is made from the OpenAPI document that FastAPI derives, so it cannot say what the routes do not do.
A test compares the committed page with what this script writes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI

from gateway_compaction.admin.problems import STATUS_MEANINGS

Schema = Mapping[str, Any]
INTRODUCTION = """\
<!-- Made by `python -m scripts.api_page > docs/api.md`; do not edit. -->

# API

The plugin serves these routes on the proxy itself. They are in the proxy's `/openapi.json` as well, under the
tag `compaction`; the page at `/compaction/ui` and `gateway-compaction buffers` use the same ones.

```console
$ curl -s -H "Authorization: Bearer $KEY" "$PROXY/compaction/sessions?level=aggressive&limit=5"
```

## Who sees what

LiteLLM checks the key, in any header that it takes keys from, as it does for a chat completion. Then:

| the key | sees and may change |
|---|---|
| the master key; keys of users with the role `proxy_admin` | every tenant's sessions |
| keys of users with the role `proxy_admin_viewer` | the same, and may change nothing |
| keys of users who are an admin of a team | the sessions of that team, besides their own |
| any other key | sessions made with that key; where it belongs to a user and to no team, also that \
user's sessions outside of teams |
| keys of users with the role `internal_user_viewer` | their own, and may change nothing |

A session is one conversation of one tenant: of a team, outside of teams of a user, else of a key. Where two
keys of a team send the same conversation (the same first four messages), it is one session, and neither key's
own: from the second key's first recorded call on, only admins of the team and proxy admins see it. Otherwise
a key would read what a colleague wrote after the same beginning. Two keys of one user outside of teams both
see it.

Who is an admin of a team is in the team's list of members; custom authentication says so in
`team_member.role`.
Metadata of a key give no rights here: whoever makes a key writes them. A key whose `allowed_routes` leave
`/compaction/*` out is refused. What is not yours to see is answered as what is not there: 404, with the same
body. Only of a session that you may see does a 404 say which versions, or how many pins, it has.

A proxy that asks nobody for a key (`--no-auth`) shows everything to everybody who can reach it. It does so
only under an address that no web page can take for its own (`localhost`, an IP address, a name without a
dot), and to no page of another site.

## Probes

Readiness and liveness of a process are LiteLLM's to tell: `/health/readiness` and `/health/liveliness`,
without a key. `/compaction/health` is for people and for monitoring: it needs a key, and answers 503 within
about two seconds while the store does not answer, or takes nothing that is written. Do not take a proxy out
of service for that: calls go on without the store.

## Failures

Every failure is a problem document (RFC 9457, `application/problem+json`) with `title`, `status` and
`detail`, a sentence for people; where places can be named, `errors` lists them with `at` and `problem`. What
LiteLLM refuses for reasons of its own (a budget, a rate limit) keeps LiteLLM's status.

| status | meaning |
|---|---|
"""
EMPTY = "–"
# LiteLLM fetches these tables as it is imported; nothing on the page depends on them.
OFFLINE = ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS")
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def specification() -> Schema:
    """Return the OpenAPI document of the plugin's routes."""
    # It imports LiteLLM, which must find the environment as it is set below.
    from gateway_compaction.admin.routes import API

    app = FastAPI()
    for router in API:
        app.include_router(router)
    return app.openapi()


def markdown(document: Schema) -> str:
    """Write the page for an OpenAPI document."""
    meanings = "".join(f"| {status} | {meaning} |\n" for status, meaning in STATUS_MEANINGS.items())
    routes = [
        _describe_route(method, path, operation, document)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    types = [_describe_type(name, schema) for name, schema in _value_types(document)]
    return "\n".join([INTRODUCTION + meanings, "## Routes\n", *routes, "## Values\n", *types])


def _describe_route(method: str, path: str, operation: Schema, document: Schema) -> str:
    lines = [f"### `{method.upper()} {path}`", "", operation["description"], ""]
    rows = [*_parameter_rows(operation), *_body_rows(operation, document)]
    if rows:
        lines += ["| parameter | in | type | default | |", "|---|---|---|---|---|", *rows, ""]
    status, response = next((s, r) for s, r in operation["responses"].items() if s.startswith("2"))
    given = next(iter(response["content"].items()))
    said = _type_name(given[1].get("schema", {})) if given[0] == "application/json" else f"`{given[0]}`"
    note = "" if response["description"] == "Successful Response" else f". {response['description']}"
    return "\n".join([*lines, f"Answers {status} with {said}{note}", ""])


def _parameter_rows(operation: Schema) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        schema = parameter["schema"]
        default = "required" if parameter["required"] else _default_value(schema)
        said = parameter.get("description", "")
        yield f"| `{parameter['name']}` | {parameter['in']} | {_type_name(schema)} | {default} | {said} |"


def _body_rows(operation: Schema, document: Schema) -> Iterator[str]:
    if "requestBody" not in operation:
        return
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    if "$ref" not in schema:
        yield f"| | body | {_type_name(schema)} | required | {schema.get('description', '')} |"
        return
    model = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for name, field in model["properties"].items():
        default = "required" if name in model.get("required", ()) else _default_value(field)
        yield f"| `{name}` | body | {_type_name(field)} | {default} | {field.get('description', '')} |"


def _value_types(document: Schema) -> Iterator[tuple[str, Schema]]:
    bodies = [name for name in document["components"]["schemas"] if name.endswith("Body")]
    for name, schema in sorted(document["components"]["schemas"].items()):
        if name not in bodies and "properties" in schema and not name.startswith("HTTP"):
            yield name, schema


def _describe_type(name: str, schema: Schema) -> str:
    lines = [
        f"### {name}",
        "",
        *_docstring_to_markdown(schema.get("description", "")),
        "| field | type |",
        "|---|---|",
    ]
    lines += [f"| `{field}` | {_type_name(found)} |" for field, found in schema["properties"].items()]
    return "\n".join([*lines, ""])


def _docstring_to_markdown(text: str) -> list[str]:
    """Return a docstring as lines of Markdown; its ``Attributes:`` become a list."""
    told, _, attributes = text.partition("Attributes:")
    lines = [" ".join(paragraph.split()).replace("``", "`") for paragraph in told.split("\n\n")]
    found = [part for paragraph in lines if paragraph for part in (paragraph, "")]
    items: list[str] = []
    for line in attributes.strip("\n").splitlines():
        if not line.strip():
            continue
        if line.startswith("    ") and items and line[4:5] == " ":
            items[-1] += f" {line.strip()}"
        else:
            names, _, said = line.strip().partition(": ")
            listed = ", ".join(f"`{n.strip()}`" for n in names.split(","))
            items.append(f"- {listed}: {said}")
    return [*found, *(item.replace("``", "`") for item in items), *([""] if items else [])]


def _type_name(schema: Schema) -> str:
    """Name the type of a JSON schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type_name(option) for option in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = str(schema.get("type", "any JSON"))
    if kind == "array":
        places = schema.get("prefixItems")
        return (
            f"[{', '.join(_type_name(p) for p in places)}]"
            if places
            else f"list of {_type_name(schema['items'])}"
        )
    limits = [f"{sign} {schema[key]:.16g}" for key, sign in LIMITS.items() if key in schema]
    return " ".join(filter(None, (kind, ", ".join(limits), _length_limits(schema))))


def _length_limits(schema: Schema) -> str:
    """Return the limits of a text's length in words, empty where there are none."""
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if most is None:
        return f"of at least {least} characters" if least else ""
    return f"of {least} to {most} characters" if least else f"of at most {most} characters"


def _default_value(schema: Schema) -> str:
    found = schema.get("default")
    return EMPTY if found is None else f"`{str(found).lower() if isinstance(found, bool) else found}`"


if __name__ == "__main__":
    for variable in OFFLINE:
        os.environ.setdefault(variable, "True")
    sys.stdout.write(markdown(specification()))
