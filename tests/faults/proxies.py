"""The laboratory's own servers: three proxies that differ in how they reach Redis and in their clock.

The Redis speaks no RESP3, and all proxies come as the user of docs/redis.md, who may do what is needed and
nothing else. The second proxy comes through TLS. The third one's clock is ten minutes ahead.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import re
import ssl
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.e2e.fleet import BLOCK, MASK, MEANWHILE
from tests.faults.laboratory import Laboratory, Member
from tests.lab import Client, Model, Proxy, RedisServer, Upstream
from tests.lab.forwarder import Forwarder
from tests.lab.ports import HOST
from tests.lab.proxy import proxy_config, start_all

__all__ = ["PASSWORD", "SUMMARISER", "USER_RULES", "laboratory", "make_proxy"]

ROOT = Path(__file__).resolve().parents[2]
SUMMARISER = "gpt-4o-small"
PASSWORD = "secret"
KEYS = {"chat": "sk-lab-chat", "kept": "sk-lab-kept"}
TEAMS = {
    KEYS["chat"]: {"team_id": "chat"},
    KEYS["kept"]: {"team_id": "kept"},
}
WINDOWS = {"gpt-4o-chat": 4000, "gpt-4o-smaller": 3000, "gpt-4o-larger": 8000}
POLICIES: Mapping[str, Any] = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "small"}},
    "policies": [
        {
            "name": "kept",
            "match": {"team": "kept"},
            "conversation": {"keep": "gateway"},
            "storage": {"content": "full"},
        }
    ],
}
# What a call may take at the upstream; then LiteLLM tries again.
CALL_SECONDS = 3
RAISE: dict[str, Any] = {
    "guardrail_name": "raise",
    "litellm_params": {"guardrail": "lab_guard.Raise", "mode": "pre_call", "default_on": True},
}


def read_user_rules() -> tuple[str, ...]:
    """The rules of the user in docs/redis.md, as they stand there."""
    text = (ROOT / "docs" / "redis.md").read_text(encoding="utf-8")
    found = re.search(r"> ACL SETUSER gateway (.+)", text)
    assert found is not None, "docs/redis.md names no user"
    return tuple(found.group(1).split())


USER_RULES = read_user_rules()
SERVER_OPTIONS = ("--rename-command", "HELLO", "", "--user", "gateway", *USER_RULES)


def make_certificate(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """A context for a server on loopback, and the file by which clients trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "laboratory")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    trusted, secret = directory / "certificate.pem", directory / "key.pem"
    trusted.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, secret)
    return context, trusted


def make_proxy(
    name: str, upstream: Upstream, redis_url: str | None, *, plugin: bool = True, paths: tuple[Path, ...] = ()
) -> Proxy:
    """A proxy of the laboratory.

    Args:
        name: of the proxy, and in the key by which the upstream knows it.
        redis_url: None for one without the plugin.
        paths: where Python looks first.
    """
    params = {"api_key": f"sk-upstream-{name}", "timeout": CALL_SECONDS}
    models = [
        Model("chat", WINDOWS["gpt-4o-chat"], params=params),
        Model("smaller", WINDOWS["gpt-4o-smaller"], params=params),
        Model("larger", WINDOWS["gpt-4o-larger"], params=params),
        Model("small", 64_000, params={"api_key": params["api_key"]}),
    ]
    config = proxy_config(
        models,
        upstream.url,
        plugin=plugin,
        guardrails=[MASK, BLOCK, MEANWHILE, RAISE],
        custom_auth=True,
        router={"num_retries": 1, "fallbacks": [{"chat": ["smaller", "larger"]}]},
        litellm={"num_retries": 1},
    )
    path = ":".join(str(item) for item in (*paths, ROOT))
    policies = POLICIES if plugin else None
    env = {"PYTHONPATH": path}
    return Proxy(config, name=name, policies=policies, redis_url=redis_url, keys=TEAMS, env=env)


@asynccontextmanager
async def laboratory() -> AsyncIterator[Laboratory]:
    """Everything, started; it takes about a minute."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lab-faults-")))
        redis = stack.enter_context(RedisServer(None, *SERVER_OPTIONS))
        upstream = stack.enter_context(Upstream())
        context, trusted = make_certificate(directory)
        roads = [
            await stack.enter_async_context(Forwarder(redis.port, tls=context if secure else None))
            for secure in (False, True, False)
        ]
        ahead = Path(__file__).parent / "ten_minutes_ahead"
        members = []
        for name, road in zip(("first", "second", "third"), roads, strict=True):
            scheme, query = ("rediss", f"?ssl_ca_certs={trusted}") if name == "second" else ("redis", "")
            url = f"{scheme}://gateway:{PASSWORD}@{HOST}:{road.port}/0{query}"
            paths = (ahead,) if name == "third" else ()
            members.append(Member(name, make_proxy(name, upstream, url, paths=paths), road))
        plain = make_proxy("plain", upstream, None, plugin=False)
        proxies = [plain, *(member.proxy for member in members)]
        for proxy in proxies:
            stack.callback(proxy.remove)
            stack.callback(proxy.stop)
        await asyncio.to_thread(start_all, proxies)
        lab = Laboratory(redis, upstream, members, plain, "chat", WINDOWS, {**KEYS, "plain": KEYS["chat"]})
        await asyncio.gather(*(warm_up(proxy) for proxy in proxies))
        yield lab


async def warm_up(proxy: Proxy) -> None:
    """Make the first call of a proxy, for which LiteLLM imports what it needs for seconds."""
    async with Client(proxy, KEYS["chat"]) as client:
        for _ in range(3):
            await client.chat("chat", [{"role": "user", "content": "Hello."}])
