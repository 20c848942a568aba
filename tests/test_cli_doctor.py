"""``gateway-compaction doctor``: what it looks at, what it makes of it, and when it exits with 1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway_compaction.cli import findings
from gateway_compaction.cli.launch import CALLBACK, DEFAULTS, ProxyConfig
from gateway_compaction.cli.main import app
from gateway_compaction.core.policy.model import Policy

ROOT = Path(__file__).resolve().parents[1]
KEY = "sk-a-long-and-random-value-1234567890"
SMALL = f"""
model_list:
  - {{model_name: demo, litellm_params: {{model: demo/demo}}, model_info: {{max_input_tokens: 4000}}}}
  - {{model_name: known, litellm_params: {{model: openai/gpt-4o, api_key: sk-none}}}}
litellm_settings:
  callbacks: ["{CALLBACK}"]
  custom_provider_map: [{{provider: demo, custom_handler: gateway_compaction.adapters.demo_model.demo}}]
general_settings: {{master_key: os.environ/LITELLM_MASTER_KEY}}
"""


def prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to an empty folder, with an environment without what is looked at."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(("GATEWAY_COMPACTION_", "LITELLM_")) or name == "REDIS_URL":
            monkeypatch.delenv(name)
    for name, value in DEFAULTS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LITELLM_MASTER_KEY", KEY)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own set-up."""
    prepare(tmp_path, monkeypatch)


def written(text: str = SMALL, name: str = "litellm.yaml") -> str:
    """A file in the test's folder."""
    Path(name).write_text(text, encoding="utf-8")
    return name


def run(*arguments: str, code: int = 0) -> dict[str, list[dict[str, str]]]:
    """Findings by check."""
    result = CliRunner().invoke(app, ["doctor", "--json", *arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    # Each step is told while it runs, beside the document.
    assert "Asking Redis …\n" in result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    assert document["ok"] is (code == 0)
    found: dict[str, list[dict[str, str]]] = {}
    for one in document["findings"]:
        found.setdefault(one["check"], []).append(one)
    return found


def results(found: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    """The result of each check that is not ``ok``."""
    return {check: one["result"] for check, ones in found.items() for one in ones if one["result"] != "ok"}


class TestWhole:
    """A sound set-up, and the repository's own."""

    def test_nothing_is_found_where_nothing_is_wrong(self) -> None:
        written("version: 1\n", "policies.yaml")
        found = run("--config", written())
        assert results(found) == {}
        assert set(found) == {
            "config", "callback", "doors", "litellm", "master key", "redis", "policies", "model demo",
            "model known", "encoding o200k_base", "encoding cl100k_base",
        }  # fmt: skip
        assert found["model demo"][0]["found"] == "4,000 tokens"
        assert found["model known"][0]["found"] == "128,000 tokens"
        assert found["policies"][0]["found"] == "policies.yaml: by default enforce"

    def test_the_repository_s_own_configuration_works(self) -> None:
        found = run("--config", str(ROOT / "config" / "litellm.yaml"))
        assert results(found) == {}

    def test_the_table_says_the_same_as_the_json(self) -> None:
        written("version: 1\n", "policies.yaml")
        arguments = ["doctor", "--config", written(SMALL.replace("callbacks", "callback"))]
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"}, catch_exceptions=False)
        assert result.exit_code == 1 and "Traceback" not in result.output
        for told in (
            "callback",
            "fail",
            "does not load the plugin",
            '→ Add litellm_settings.callbacks: ["gate',
        ):
            assert told in result.output

    def test_help_is_quick_to_import(self) -> None:
        script = "import sys; from gateway_compaction.cli.main import app; print('litellm' in sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert done.stdout.strip() == "False"


class TestConfig:
    """LiteLLM's config."""

    def test_none(self) -> None:
        found = run("--config", "none.yaml", code=1)
        assert "none.yaml cannot be read" in found["config"][0]["found"]
        assert {"redis", "policies"} <= set(found)

    @pytest.mark.parametrize(
        ("included", "result"), [("include: [other.yaml]\n", "warn"), ("", "fail")]
    )  # fmt: skip
    def test_without_the_callback(self, included: str, result: str) -> None:
        text = SMALL.replace(f'callbacks: ["{CALLBACK}"]', "") + included
        found = run("--config", written(text), code=int(result == "fail"))
        assert found["callback"][0]["result"] == result and CALLBACK in found["callback"][0]["remedy"]

    @pytest.mark.parametrize(
        ("key", "result", "told"),
        [
            (None, "warn", "LITELLM_MASTER_KEY is not set"),
            ("", "fail", "LITELLM_MASTER_KEY is empty"),
            ("sk-1234", "fail", "LITELLM_MASTER_KEY is publicly known"),
            ("sk-short", "warn", "short enough to be guessed"),
            (KEY, "ok", "set by LITELLM_MASTER_KEY"),
        ],
    )
    def test_the_master_key(
        self, monkeypatch: pytest.MonkeyPatch, key: str | None, result: str, told: str
    ) -> None:
        if key is None:
            monkeypatch.delenv("LITELLM_MASTER_KEY")
        else:
            monkeypatch.setenv("LITELLM_MASTER_KEY", key)
        [found] = run("--config", written(), code=int(result == "fail"))["master key"]
        assert found["result"] == result and told in found["found"]
        assert not key or key not in found["found"]

    def test_what_make_run_does_without_a_key_is_no_contradiction(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("LITELLM_MASTER_KEY")
        [found] = run("--config", written())["master key"]
        assert "needs none with --no-auth (so does make run)" in found["found"]

    def test_doing_without_a_key_must_be_permitted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("LITELLM_MASTER_KEY")
        monkeypatch.setenv("LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY", "true")
        [found] = run("--config", written())["master key"]
        assert found["result"] == "warn" and "everybody is served" in found["found"]


class TestModels:
    """Model groups, their windows, and who summarises."""

    def test_an_unknown_window_is_told(self) -> None:
        text = SMALL.replace("model: openai/gpt-4o", "model: openai/unheard-of")
        found = run("--config", written(text))["model known"]
        assert found[0]["result"] == "warn" and "stay untouched" in found[0]["found"]
        assert "model_info.max_input_tokens, or context_window" in found[0]["remedy"]

    def test_a_policy_may_state_it(self) -> None:
        policy = "version: 1\npolicies: [{name: p, match: {model: known}, context_window: 9000}]\n"
        written(policy, "policies.yaml")
        text = SMALL.replace("model: openai/gpt-4o", "model: openai/unheard-of")
        [found] = run("--config", written(text))["model known"]
        assert (found["result"], found["found"]) == ("ok", "9,000 tokens, by the policy p")

    def test_a_model_that_litellm_cannot_use_does_not_hide_the_others(self) -> None:
        secret = "sk-very-secret"
        text = SMALL.replace(
            "model_list:",
            "model_list:\n  - {model_name: odd, litellm_params: {model: nonsense}}\n"
            f"  - {{model_name: bare, litellm_params: {{api_key: {secret}}}}}\n  - {{litellm_params: {{}}}}",
        )
        found = run("--config", written(text), code=1)
        assert "LLM Provider NOT provided" in found["model odd"][0]["found"]
        assert "model: Field required" in found["model bare"][0]["found"]
        assert found["model model_list[2]"][0]["result"] == "fail"
        assert found["model demo"][0]["result"] == "ok" and secret not in json.dumps(found)

    def test_a_variable_that_is_not_set_is_named_once(self) -> None:
        text = SMALL.replace("api_key: sk-none", "api_key: os.environ/NOT_SET_HERE")
        params = "{model: openai/gpt-4o, api_key: os.environ/NOT_SET_HERE}"
        extra = f"  - {{model_name: known, litellm_params: {params}}}"
        found = run("--config", written(text.replace("litellm_settings:", f"{extra}\nlitellm_settings:")))
        told = [one["found"] for one in found["model known"]]
        assert told == ["reads NOT_SET_HERE, which is not set", "128,000 tokens"]

    def test_a_config_without_models(self) -> None:
        text = "general_settings: {}\nlitellm_settings: {callbacks: [" + CALLBACK + "]}\n"
        assert run("--config", written(text))["models"][0]["result"] == "warn"

    @pytest.mark.parametrize(
        ("settings", "params", "info", "warned"),
        [
            ("enable_tag_filtering: true", "", "", True),
            ("enable_tag_filtering: true", ", tags: [blue]", "", True),
            ("enable_tag_filtering: true", ", tags: [blue, default]", "", False),
            ("enable_tag_filtering: true", "", ", enable_tag_filtering: false", False),
            ("enable_tag_filtering: false", ", tags: [blue]", "", False),
            ("num_retries: 0", ", tags: [blue]", ", enable_tag_filtering: true", True),
        ],
    )
    def test_tags_that_may_keep_summaries_from_their_model(
        self, settings: str, params: str, info: str, warned: bool
    ) -> None:
        written("version: 1\ndefaults: {summary: {model: small}}\n", "policies.yaml")
        deployment = (
            f"  - {{model_name: small, litellm_params: {{model: openai/gpt-4o, api_key: sk-none{params}}},"
            f" model_info: {{max_input_tokens: 9000{info}}}}}\n"
        )
        config = SMALL.replace("model_list:\n", f"model_list:\n{deployment}")
        found = run("--config", written(f"{config}router_settings: {{{settings}}}\n"))
        assert ("summariser small" in found) is warned
        if warned:
            assert "default" in found["summariser small"][0]["remedy"]

    @pytest.mark.parametrize(("setting", "warned"), [("", True), (", context_compaction: false", False)])
    def test_a_router_that_compacts_by_itself_and_the_window_of_its_group(
        self, setting: str, warned: bool
    ) -> None:
        router = (
            "  - model_name: auto\n    litellm_params:\n      model: auto_router/complexity_router\n"
            "      complexity_router_config: {tiers: {SIMPLE: demo, MEDIUM: known, COMPLEX: known,"
            f" REASONING: known}}{setting}}}\n"
        )
        found = run("--config", written(SMALL.replace("model_list:\n", f"model_list:\n{router}")))
        said = {one["result"]: one for one in found["model auto"]}
        assert said["ok"]["found"] == "4,000 tokens", "that of the smallest tier"
        assert ("warn" in said) is warned
        if warned:
            assert "context_compaction: false" in said["warn"]["remedy"]

    def test_summarisers_must_be_offered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        written(
            "version: 1\ndefaults: {summary: {model: known, fallbacks: [gone]}}\n"
            "policies: [{name: p, match: {team: t}, summary: {model: extractive}},"
            " {name: q, match: {team: u}, summary: {model: elsewhere}}]\n",
            "policies.yaml",
        )
        monkeypatch.setenv("GATEWAY_COMPACTION_DEFAULTS__SUMMARY__MODEL", "nowhere")
        found = run("--config", written(), code=1)
        told = {k: v[0]["found"] for k, v in found.items() if k.startswith("summariser")}
        assert {name: text.partition(",")[0] for name, text in told.items()} == {
            "summariser gone": "named by defaults",
            "summariser nowhere": "named by environment",
            "summariser elsewhere": "named by policies[1]",
        }

    def test_aliases_and_patterns_count_and_an_unknown_window_is_told(self) -> None:
        written("version: 1\ndefaults: {summary: {model: openai/unheard-of}}\n", "policies.yaml")
        extra = '  - {model_name: "openai/*", litellm_params: {model: "openai/*", api_key: x}}'
        found = run("--config", written(SMALL.replace("litellm_settings:", f"{extra}\nlitellm_settings:")))
        assert found["summariser openai/unheard-of"][0]["result"] == "warn"
        assert found["model openai/*"][0]["result"] == "ok"

    def test_a_policy_may_not_state_more_than_there_is(self) -> None:
        found = findings.check_window("m", 4_000, Policy(context_window=8_000))
        assert found.result == "warn" and "8,000" in found.found and "4,000" in found.found
        assert findings.check_window("m", 8_000, Policy(context_window=4_000)).result == "ok"


class TestPolicies:
    """The policy file."""

    def test_every_problem_is_told(self) -> None:
        written("version: 1\ndefaults: {mode: on, levels: {medium: {keep_lst: 3}}}\n", "bad.yaml")
        found = run("--config", written(), "--policies", "bad.yaml", code=1)["policies"]
        assert [one["result"] for one in found] == ["fail", "fail"]
        assert "bad.yaml: defaults.levels.medium.keep_lst" in found[1]["found"]
        assert "keep_last" in found[1]["remedy"]

    def test_none_only_observes(self) -> None:
        [found] = run("--config", written())["policies"]
        assert found["result"] == "warn" and "no file: observe" in found["found"]

    def test_what_contradicts_itself_is_told(self) -> None:
        written(
            "version: 1\npolicies:\n"
            "  - {name: a, match: {model: m}, levels: {light: {at: 0.5}, medium: {at: 0.6}}}\n"
            "  - {name: b, match: {team: t}, levels: {light: {at: 0.8}}}\n",
            "policies.yaml",
        )
        [found] = run("--config", written(), code=1)["policies"]
        assert found["result"] == "fail" and "where 'a' and 'b' match one request" in found["found"]

    def test_who_is_rewritten_and_who_is_watched(self) -> None:
        text = """
            version: 1
            defaults: {mode: observe}
            policies:
              - {name: pilot, match: {team: [research, "lab-*"]}, mode: enforce}
              - {name: legal, match: {team: legal}, mode: off}
              - {name: small, match: {model: "*-mini"}, recall: {max_tokens: 0}}
            """
        written(text, "policies.yaml")
        [found] = run("--config", written())["policies"]
        assert found["result"] == "ok"
        assert found["found"] == (
            "policies.yaml: by default observe. enforce: pilot (team research or lab-*)."
            " observe: small (model *-mini). off: legal (team legal)"
        )
        assert found["remedy"].startswith("Compare the metrics of the teams that enforce")

    def test_the_switch_for_everybody(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_ENABLED", "false")
        [found] = run("--config", written())["GATEWAY_COMPACTION_ENABLED"]
        assert found["result"] == "warn" and "off for everybody" in found["found"]

    def test_shadow_mode_is_told_what_to_look_at(self) -> None:
        written("version: 1\ndefaults: {mode: observe}\n", "policies.yaml")
        [found] = run("--config", written())["policies"]
        for place in ("outcome=observed", "x-compaction-reason", 'mode="observe"', "docs/operating.md"):
            assert place in found["remedy"]

    def test_an_empty_file_does_not_switch_it_on(self) -> None:
        written("", "policies.yaml")
        [found] = run("--config", written(), code=1)["policies"]
        assert "it is empty" in found["found"] and "mode: observe" in found["remedy"]


class TestEnvironment:
    """Variables."""

    def test_litellm_s_own_redis_is_warned_of(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REDIS_URL", "redis://localhost:1/0")
        [found] = run("--config", written())["REDIS_URL"]
        assert found["result"] == "warn" and "waits for it when it hangs" in found["found"]

    def test_a_misspelt_variable_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_REDIS_UR", "redis://localhost")
        monkeypatch.setenv("GATEWAY_COMPACTION_XQZW", "1")
        first, second = run("--config", written())["environment"]
        assert first["remedy"] == "Did you mean GATEWAY_COMPACTION_REDIS_URL?"
        assert second["remedy"].startswith("Known are GATEWAY_COMPACTION_ENABLED, ")

    def test_a_value_that_cannot_be_read_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_QUEUE", "many")
        [found] = run("--config", written(), code=1)["environment"]
        assert found["found"].startswith("GATEWAY_COMPACTION_QUEUE: Input should be a valid integer")

    def test_an_override_of_the_policies_that_cannot_be_read_fails(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_DEFAULTS__MOD", "off")
        [found] = run("--config", written(), code=1)["policies"]
        assert "GATEWAY_COMPACTION_DEFAULTS__MOD" in found["found"] and "'mode'" in found["remedy"]


def test_a_config_that_is_included_elsewhere_is_not_judged() -> None:
    config = ProxyConfig(Path("x.yaml"), has_plugin=None)
    assert findings.check_callback(config).result == "warn"
    assert findings.check_callback(replace(config, has_plugin=True)).result == "ok"


def test_a_router_that_refuses_what_is_not_shortened_yet() -> None:
    checking = SMALL + "router_settings: {enable_pre_call_checks: true}\n"
    [found] = run("--config", written(checking))["router"]
    assert found["result"] == "warn" and "enable_pre_call_checks" in found["found"]
    assert "router" not in run("--config", written(SMALL))


class TestNextStep:
    """The last line says what to do next."""

    def following(self, *arguments: str) -> str:
        """The value of ``next``, which the last line of the table says as well."""
        document = CliRunner().invoke(app, ["doctor", "--json", *arguments], catch_exceptions=False).stdout
        told: str = json.loads(document)["next"]
        table = CliRunner().invoke(app, ["doctor", *arguments], catch_exceptions=False).stdout
        assert table.endswith(f"Next: {told}.\n")
        return told

    def test_what_fails_comes_first(self) -> None:
        assert "mend what fails" in self.following("--config", "none.yaml")

    def test_without_a_policy_file_one_is_written(self) -> None:
        assert "gateway-compaction init --config litellm.yaml" in self.following("--config", written())

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("version: 1\ndefaults: {mode: observe}\n", "what would be done"),
            ("version: 1\ndefaults: {mode: enforce}\n", "what is done"),
            (
                "version: 1\ndefaults: {mode: observe}\n"
                "policies: [{name: p, match: {team: t}, mode: enforce}]\n",
                "what is done",
            ),
            ("version: 1\ndefaults: {mode: off}\n", "switches everybody off"),
        ],
    )
    def test_with_one_the_proxy_is_started(self, text: str, told: str) -> None:
        written(text, "policies.yaml")
        step = self.following("--config", written())
        assert told in step
        assert told == "switches everybody off" or "gateway-compaction serve --config litellm.yaml" in step


def test_the_doors_are_told() -> None:
    [found] = run("--config", written())["doors"]
    assert found["result"] == "ok" and "/v1/chat/completions" in found["found"]
    for door in ("/v1/messages", "/v1/responses", "/v1/completions", "threads of assistants"):
        assert door in found["found"]
    assert "gateway_compaction_uncovered_requests_total" in found["remedy"]
