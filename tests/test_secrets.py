"""No text of an error repeats a password or a key, nor a part of one."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from gateway_compaction.adapters.http_archive import HttpArchive
from gateway_compaction.adapters.litellm.probes import load_config_models
from gateway_compaction.adapters.policy_file import load_policy_file
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.secrets import UNREADABLE, find_address_fault, hide_password, strip_values
from gateway_compaction.archive import Query, Scope
from gateway_compaction.cli.launch import LaunchError, read_config
from gateway_compaction.cli.main import app
from gateway_compaction.errors import PolicyError, StoreError
from gateway_compaction.settings import Settings

BEGINNING, END = "Winter2026", "Summer2027"
"""The two halves of every password; none of them may be told."""

RAW = [f"{BEGINNING}{mark}{END}" for mark in "#/?[]%^ "] + [f"20262027{mark}{END}" for mark in "#/?"]
"""Passwords as people write them into a URL; with digits first they pass for a port."""

PLACES = ("redis://:{}@cache.internal:6379/0", "rediss://me:{}@cache.internal", "redis://{}@cache.internal/0")
URLS = [place.format(password) for place in PLACES for password in RAW]


def hides(text: str) -> bool:
    """Whether a text tells nothing of a password."""
    return not any(half in text for half in (BEGINNING, END, "20262027"))


def told(error: BaseException) -> str:
    """Everything that a log shows of an error, with what it came from."""
    return "".join(traceback.format_exception(error))


async def fault_of(url: str) -> str:
    """What is told of a URL, refused at once or with the first call; empty where all is well."""
    try:
        connection = connect(url)
        await connection.send(("PING",), seconds=0.5)
    except StoreError as error:
        return told(error)
    return ""


class TestRedis:
    """The URL of the store."""

    @pytest.mark.parametrize("url", URLS)
    async def test_nothing_of_a_password_is_told(self, url: str, caplog: pytest.LogCaptureFixture) -> None:
        text = await fault_of(url)
        assert text
        assert hides(text.replace(url, "")) and hides(caplog.text), text
        assert hides(hide_password(url))

    @pytest.mark.parametrize("mark", ["#", "/", "?", "["])
    @pytest.mark.parametrize("command", ["doctor", "serve", "buffers"])
    def test_the_commands_say_to_encode_it(
        self, mark: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("LITELLM_MASTER_KEY", "sk-0123456789abcdef0123456789abcdef")
        Path("litellm.yaml").write_text("model_list: []\n", "utf-8")
        url = f"redis://:{BEGINNING}{mark}{END}@cache.internal:6379/0"
        options = {
            "doctor": ["doctor", "--config", "litellm.yaml", "--redis-url", url],
            "serve": ["serve", "--config", "litellm.yaml", "--redis-url", url],
            "buffers": ["buffers", "ls", "--redis", url],
        }
        result = CliRunner().invoke(app, options[command])
        assert result.exit_code
        assert hides(result.output), result.output
        assert "percent-encode" in result.output

    @pytest.mark.parametrize(
        "url",
        [
            "rediss://:pw@h:1/0?ssl_cert_reqs=CERT_NONE",
            f"redis://localhost/0?{BEGINNING}={END}",
            f"redis://localhost/0?db={BEGINNING}",
            f"redis://localhost/0?socket_timeout={BEGINNING}",
            f"{BEGINNING}://{END}",
            f"unix://me:{BEGINNING}#{END}@/run/redis.sock",
            f"unix:///:{BEGINNING}@/run/redis.sock",
            f"unix:///me:{BEGINNING}/{END}@/run/redis.sock",
            f"unix:///{BEGINNING}@/run/redis.sock",
        ],
    )
    def test_nor_of_the_rest_of_an_address(self, url: str) -> None:
        with pytest.raises(StoreError) as caught:
            connect(url)
        assert hides(told(caught.value).replace(url, "")), caught.value

    @pytest.mark.parametrize(
        "url",
        [
            "redis://localhost",
            "redis://:Winter2026%23rest@cache.internal:6379/0",
            "redis://me:p@ss@cache.internal/0",
            "redis://cache/0?password=p@ss",
            "unix:///run/a@b.sock?db=1",
            "rediss://[::1]:6380/1?ssl_cert_reqs=none",
        ],
    )
    def test_what_can_be_used_is_used(self, url: str) -> None:
        assert find_address_fault(url) is None
        assert connect(url).round_trips == 0

    @pytest.mark.parametrize("user", [":", "me:", ""])
    def test_one_before_the_path_of_a_socket_is_not_shown(self, user: str) -> None:
        url = f"unix:///{user}{BEGINNING}@/run/redis.sock"
        assert "percent-encode" in str(find_address_fault(url)) and hide_password(url) == UNREADABLE

    def test_a_password_alone_is_taken_for_one(self) -> None:
        assert hide_password(f"redis://{BEGINNING}@cache/0") == "redis://***@cache/0"
        assert hide_password(f"redis://:{BEGINNING}#{END}@cache/0") == UNREADABLE


class TestValues:
    """What a library repeats of values that it was given."""

    @pytest.mark.parametrize(
        "values",
        [
            {"api_key": BEGINNING},
            {"extra_headers": {"Authorization": f"Bearer {BEGINNING}"}},
            {"credentials": [{"parts": (BEGINNING, None, True)}]},
            {"api_key": "a-b.c/" + BEGINNING},
        ],
    )
    def test_nested_ones_are_not_told(self, values: Any) -> None:
        assert hides(strip_values(f"cannot use {BEGINNING}: {values}", values))

    def test_whole_ones_of_short_pieces_and_numbers(self) -> None:
        text = strip_values("ab-cd-ef and 20262027, True", {"key": "ab-cd-ef", "pin": 20262027, "on": True})
        assert text == "(not shown) and (not shown), True"

    def test_a_longer_one_goes_before_a_part_of_it(self) -> None:
        assert strip_values("secret-and-more", ["secret", "secret-and-more"]) == "(not shown)"


class TestGateway:
    """The address of the gateway, and the key."""

    @pytest.mark.parametrize("mark", ["#", "/", "?", "[", "\x00"])
    async def test_nothing_of_a_password_is_told(self, mark: str) -> None:
        url = f"http://me:{BEGINNING}{mark}{END}@gateway:4000"
        with pytest.raises(StoreError) as caught:
            async with HttpArchive(url, None) as archive:
                await archive.sessions(Scope(), Query())
        assert hides(told(caught.value).replace(url, "")), caught.value

    async def test_nor_of_a_key(self) -> None:
        with pytest.raises(StoreError) as caught:
            async with HttpArchive("http://127.0.0.1:1", f"{BEGINNING}\n{END}") as archive:
                await archive.sessions(Scope(), Query())
        assert hides(str(caught.value)), caught.value

    def test_nor_of_a_proxy_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", f"odd://me:{BEGINNING}@proxy")
        with pytest.raises(StoreError) as caught:
            HttpArchive("http://gateway.internal", None)
        assert hides(told(caught.value)), caught.value

    @pytest.mark.parametrize("mark", ["#", "/", "?", "["])
    def test_nor_by_the_command(self, mark: str) -> None:
        url = f"http://me:{BEGINNING}{mark}{END}@gateway:4000"
        result = CliRunner().invoke(app, ["buffers", "ls", "--url", url])
        assert result.exit_code and hides(result.output), result.output


BROKEN_YAML = [
    f"api_key: *{BEGINNING}",
    f"api_key: !{BEGINNING} {END}",
    f"api_key: {BEGINNING}: {END}",
    f"api_key: '{BEGINNING}\n  {END}",
    f'api_key: "{BEGINNING}\\q{END}"',
    f"api_key: @{BEGINNING}",
    f"{{api_key: {BEGINNING}, {END}",
    f"a: &{BEGINNING} 1\n  b: {END}\n c: 2",
]
"""Config files with a typing error beside a key."""


class TestFiles:
    """LiteLLM's config file and the policy file."""

    @pytest.mark.parametrize("text", BROKEN_YAML)
    def test_nothing_of_a_file_that_is_no_yaml_is_told(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "config.yaml"
        path.write_text(text, "utf-8")
        with pytest.raises(LaunchError, match=r"not YAML: line \d+, column \d+") as config:
            read_config(path)
        assert hides(told(config.value)), config.value
        with pytest.raises(PolicyError, match=r"line \d+, column \d+") as policies:
            load_policy_file(path)
        assert hides(str(policies.value)), policies.value

    def test_nor_of_an_address_that_stands_in_a_policy(self, tmp_path: Path) -> None:
        path = tmp_path / "policies.yaml"
        url = f"redis://:{BEGINNING}@cache"
        path.write_text(f"version: 1\ndefaults:\n  mode: {url}\n  redis_url: {url}\n", "utf-8")
        with pytest.raises(PolicyError) as caught:
            load_policy_file(path)
        assert len(caught.value.others) == 1
        assert all(hides(str(one)) for one in (caught.value, *caught.value.others))

    @pytest.mark.parametrize(
        "params",
        [
            {"model": "nothing-known", "api_key": BEGINNING},
            {"model": "openai/x", "api_key": BEGINNING, "rpm": BEGINNING},
            {"model": "openai/x", "api_key": [BEGINNING]},
            {"model": "azure/x", "api_base": f"http://me:{BEGINNING}#{END}@host"},
        ],
    )
    def test_nor_of_a_deployment(self, params: dict[str, Any]) -> None:
        models = load_config_models([{"model_name": "chat", "litellm_params": params}], [])
        assert hides(json.dumps(dict(models.broken)))


class TestEnvironment:
    """Our own variables."""

    def test_a_value_of_the_wrong_kind_is_not_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_QUEUE", f"redis://:{BEGINNING}@cache")
        with pytest.raises(ValidationError) as caught:
            Settings()
        assert hides(told(caught.value)), caught.value

    def test_nor_by_serve(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_QUEUE", f"redis://:{BEGINNING}@cache")
        path = tmp_path / "litellm.yaml"
        path.write_text("model_list: []\n", "utf-8")
        result = CliRunner().invoke(app, ["serve", "--config", str(path)])
        assert result.exit_code and "GATEWAY_COMPACTION_QUEUE" in result.output
        assert hides(result.output), result.output


def test_the_check_itself_sees_a_password() -> None:
    assert not hides(f"Port could not be cast to integer value as '{BEGINNING}'")
