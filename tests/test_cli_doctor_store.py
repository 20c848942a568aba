"""``gateway-compaction doctor`` on what lies outside the configuration: Redis, and the tokeniser's files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateway_compaction.adapters.redis.codec import encode_window
from gateway_compaction.cli import findings
from gateway_compaction.cli.doctor import ENCODINGS
from gateway_compaction.core.tokens.calibration import FAMILIES, UNKNOWN, family_of
from gateway_compaction.core.tokens.windows import LearnedWindow
from tests.lab.ports import free_port
from tests.lab.redis_server import HungServer, RedisServer
from tests.test_cli_doctor import ROOT, prepare, run, written


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own set-up."""
    prepare(tmp_path, monkeypatch)


class TestRedis:
    """The store."""

    def test_a_real_server_is_written_read_and_scripted(self, redis_server: RedisServer) -> None:
        redis_server.flush()
        with redis_server.client() as client:
            client.config_resetstat()
        found = run("--config", written(), "--redis-url", redis_server.url)
        assert found["redis"][0]["found"].startswith(f"{redis_server.url}, version ")
        assert found["redis memory"][0]["found"] == "no limit"
        assert all(one["result"] == "ok" for one in found["redis"])
        with redis_server.client() as client:
            commands = {name.removeprefix("cmdstat_") for name in client.info("commandstats")}
            assert {"evalsha", "lpush", "hincrby", "zadd"} < commands, "a call was stored and counted"
            assert "scan" not in commands, "other people's keys are nobody's business"
            assert list(client.scan_iter()) == []

    def test_a_replica_that_only_reads_is_none_that_serves(self, redis_server: RedisServer) -> None:
        with redis_server.client() as client:
            client.replicaof("127.0.0.1", "1")
            found = run("--config", written(), "--redis-url", redis_server.url, code=1)
            client.replicaof("NO", "ONE")
        assert found["redis"][0]["result"] == "fail" and "read" in found["redis"][0]["found"].lower()

    def test_windows_that_refusals_have_taught(self, redis_server: RedisServer) -> None:
        redis_server.flush()
        now = time.time()
        learned = {
            "a": LearnedWindow(3_000, at=(now,), model="openai/told", declared=8_000),
            "b": LearnedWindow(None, 2_900, 3_050, (now,), "openai/bounded"),
            "c": LearnedWindow(9_000, at=(now,), model="openai/as-declared", declared=9_000),
        }
        with redis_server.client() as client:
            client.hset("gwc:windows", mapping={name: encode_window(one) for name, one in learned.items()})
        found = run("--config", written(), "--redis-url", redis_server.url)
        [told], [bounded] = found["window of openai/told"], found["window of openai/bounded"]
        assert told["result"] == bounded["result"] == "warn" and "window of openai/as-declared" not in found
        assert (
            told["found"] == "its provider told a window of 3,000 tokens; 8,000 are declared (deployment a)"
        )
        assert told["remedy"] == "Set model_info.max_input_tokens: 3000"
        assert bounded["found"].startswith("its refusals bound a window of 2,897 tokens; none is declared")
        redis_server.flush()

    def test_policies_in_metadata_that_cannot_be_used(self, redis_server: RedisServer) -> None:
        redis_server.flush()
        with redis_server.client() as client:
            problem = "team metadata of Legal: mode: found the text 'perhaps'"
            client.hset("gwc:policy-problems", mapping={problem: 1200, "nonsense": "x"})
        [one] = run("--config", written(), "--redis-url", redis_server.url)["policies in metadata"]
        assert one["result"] == "warn" and one["found"].startswith("1,200 requests were left alone")
        assert one["found"].endswith(problem)
        redis_server.flush()

    @pytest.mark.parametrize(
        ("rule", "result"), [("noeviction", "warn"), ("allkeys-lru", "warn"), ("volatile-ttl", "ok")]
    )
    def test_what_it_does_when_it_is_full(self, redis_server: RedisServer, rule: str, result: str) -> None:
        with redis_server.client() as client:
            client.config_set("maxmemory", "50mb")
            client.config_set("maxmemory-policy", rule)
            try:
                [found] = run("--config", written(), "--redis-url", redis_server.url)["redis memory"]
            finally:
                client.config_set("maxmemory", "0")
                client.config_set("maxmemory-policy", "noeviction")
        assert found["result"] == result and rule in found["found"]

    def test_nobody_there(self) -> None:
        url = f"redis://user:secret@127.0.0.1:{free_port()}/0"
        found = run("--config", written(), "--redis-url", url, code=1)
        assert found["redis"][0]["result"] == "fail" and "secret" not in json.dumps(found)

    def test_somebody_who_never_answers(self) -> None:
        with HungServer() as server:
            found = run("--config", written(), "--redis-url", server.url, code=1)
        assert "did not answer in time" in found["redis"][0]["found"]

    def test_no_url(self) -> None:
        [found] = run("--config", written(), "--redis-url", "localhost:6379", code=1)["redis"]
        assert "must begin with" in found["found"] and found["remedy"].startswith("Write redis://")

    def test_the_url_is_read_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_REDIS_URL", f"redis://127.0.0.1:{free_port()}/7")
        assert "/7: " in run("--config", written(), code=1)["redis"][0]["found"]

    @pytest.mark.parametrize(
        ("seconds", "facts", "warned"),
        [
            (0.001, {"maxmemory": "0"}, []),
            (0.03, {"maxmemory": "0"}, ["redis speed"]),
            (0.001, {"maxmemory": "0", "cluster_enabled": "1"}, ["redis cluster"]),
            (0.001, {}, ["redis memory"]),
        ],
    )
    def test_what_a_server_says_of_itself(
        self, seconds: float, facts: dict[str, str], warned: list[str]
    ) -> None:
        found = list(findings.check_server("redis://x", seconds, 0.05, facts))
        assert [one.check for one in found if one.result == "warn"] == warned


class TestEncodings:
    """The tokeniser's files."""

    def test_every_encoding_that_is_counted_with_is_looked_at(self) -> None:
        assert set(ENCODINGS) == {family.encoding for _, family in FAMILIES} | {UNKNOWN.encoding}
        assert all(family_of(model).encoding == name for name, model in ENCODINGS.items())

    def test_missing_files_fail_and_nothing_is_fetched(self, tmp_path: Path) -> None:
        empty = tmp_path / "empty"
        empty.mkdir()
        env = {**os.environ, "TIKTOKEN_CACHE_DIR": str(empty), "PYTHONPATH": str(ROOT)}
        command = [
            sys.executable,
            "-c",
            "from gateway_compaction.cli.main import app; app()",
            "doctor",
            "--json",
        ]
        done = subprocess.run(
            [*command, "--config", written()], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1 and "Traceback" not in done.stderr
        found = {one["check"]: one for one in json.loads(done.stdout)["findings"]}
        assert found["encoding o200k_base"]["result"] == found["encoding cl100k_base"]["result"] == "fail"
        assert list(empty.iterdir()) == []
