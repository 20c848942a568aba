"""The commands ``policy check``, ``policy explain`` and ``policy schema``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gateway_compaction.cli.policy import app
from gateway_compaction.core.policy.document import build_policy_schema
from gateway_compaction.core.policy.model import list_paths

PREFIX = "GATEWAY_COMPACTION_DEFAULTS__"
GOOD = """\
version: 1
defaults: {mode: observe}
policies:
  - {name: research, match: {team: research}, levels: {medium: {keep_last: 20}}}
  - {name: "[red]tag", match: {tag: [a, b]}, preset: agent}
"""
BAD = """\
version: 1
defaults: {mode: on, levels: {medium: {keep_lst: 3}}}
policies:
  - {name: x, match: {team: x}, storage: {ttl: soon}}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GATEWAY_COMPACTION_POLICIES", raising=False)


def run(*arguments: str, env: dict[str, str] | None = None) -> Result:
    """Run one command; an exception that leaves it fails the test."""
    return CliRunner().invoke(app, arguments, env=env, catch_exceptions=False)


def write(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_check_says_in_one_line_what_a_file_holds() -> None:
    result = run("check", write("good.yaml", GOOD), write("bare.yaml", "version: 1\n"))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "good.yaml: ok, mode observe, 2 policies. observe: research (team research); [red]tag (tag a or b)",
        "bare.yaml: ok, mode enforce, 0 policies",
        "bare.yaml: warning: no mode under defaults: everybody who matches no other policy is rewritten"
        " (enforce)",
    ]


def test_check_shows_what_a_prompt_file_asks() -> None:
    """The page's example, word for word: nothing of ours stands around the file's text."""
    page = (Path(__file__).resolve().parents[1] / "docs" / "policies.md").read_text("utf-8")
    prompt, shown = re.findall(r"```text\n(.*?)```", page.partition("## Prompt files")[2], re.DOTALL)[:2]
    write("house.txt", prompt)
    text = "{version: 1, defaults: {mode: observe, summary: {prompt: house.txt, preserve_keys: [order_id]}}}"
    told = run("check", write("policies.yaml", text)).stdout
    assert told == f"policies.yaml: ok, mode observe, 0 policies\n{shown}"


def test_check_shows_the_prompt_of_each_policy_that_names_a_file() -> None:
    write("a.txt", "Short, please."), write("b.txt", "In {length}: {transcript}")
    text = """
        version: 1
        defaults: {mode: observe, summary: {prompt: a.txt}}
        policies:
          - {name: long, match: {team: a}, summary: {prompt: b.txt, max_tokens: 1000}}
          - {name: same, match: {team: b}, levels: {medium: {keep_last: 3}}}
          - {name: ours, match: {team: c}, summary: {prompt: coding}}
    """
    told = run("check", write("policies.yaml", text)).stdout
    assert re.findall(r"yaml: (\w+): summary.prompt (\S+)", told) == [
        ("defaults", "a.txt"),
        ("long", "b.txt"),
    ]
    assert "  | In at most 650 words: <transcript>" in told and "  | Short, please." in told


def test_check_warns_only_where_nobody_wrote_the_mode() -> None:
    bare = write(
        "bare.yaml",
        "version: 1\ndefaults: {preset: agent}\npolicies: [{name: a, match: {team: t}, mode: off}]\n",
    )
    result = run("check", bare)
    assert result.exit_code == 0 and "bare.yaml: ok, mode enforce, 1 policy. off: a (team t)" in result.stdout
    assert "warning: no mode under defaults" in result.stdout
    assert "warning" not in run("check", bare, env={f"{PREFIX}MODE": "observe"}).stdout
    assert "warning" not in run("check", write("said.yaml", "version: 1\ndefaults: {mode: enforce}\n")).stdout


def test_check_prints_every_error_of_every_file() -> None:
    result = run("check", write("bad.yaml", BAD), write("good.yaml", GOOD), "none.yaml")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["bad.yaml"] * 3 + ["good.yaml", "none.yaml"]
    assert "defaults.mode: found true" in lines[0] and "Write enforce, observe or off" in lines[0]
    assert "defaults.levels.medium.keep_lst" in lines[1] and "Did you mean 'keep_last'?" in lines[1]
    assert "policies[0].storage.ttl: found the text 'soon'" in lines[2]
    assert "cannot be read: No such file" in lines[4]


def test_check_tells_of_a_name_written_twice_beside_the_other_errors() -> None:
    entries = ["{name: x, mode: on}", "{name: x, match: {team: a}, mode: on}", "hello", "{match: {team: b}}"]
    text = "\n".join(["version: 1", "policies:", *(f"  - {entry}" for entry in entries)])
    told = run("check", write("twice.yaml", text)).stdout
    assert "policies[1].name: the name 'x' is taken by policies[0]" in told and told.count("is taken by") == 1
    assert all(f"policies[{at}]" in told for at in (2, 3)) and "policies[1].mode: found true" in told


def test_check_refuses_policies_that_contradict_each_other_together() -> None:
    text = """
        version: 1
        policies:
          - {name: a, match: {model: m}, levels: {light: {at: 0.5}, medium: {at: 0.6}}}
          - {name: b, match: {team: t}, levels: {light: {at: 0.8}}}
    """
    result = run("check", write("pair.yaml", text))
    assert result.exit_code == 1
    assert result.stdout.startswith(
        "pair.yaml: policies[1].levels.light.at: where 'a' and 'b' match one request"
    )


def test_the_file_is_named_by_the_environment_or_is_the_usual_one() -> None:
    result = run("check")
    assert result.exit_code == 1
    assert "$GATEWAY_COMPACTION_POLICIES is not set, and there is no config/policies.yaml" in result.stdout
    assert "gateway-compaction init" in result.stdout
    write("config/policies.yaml", "version: 1\ndefaults: {mode: off}\n")
    assert "config/policies.yaml: ok, mode off" in run("check").stdout
    named = {"GATEWAY_COMPACTION_POLICIES": write("named.yaml", GOOD)}
    assert "named.yaml: ok" in run("check", env=named).stdout
    assert "named.yaml: defaults" in run("explain", env=named).stdout
    beside = write("elsewhere/policies.yaml", GOOD).replace("policies", "litellm")
    assert "elsewhere/policies.yaml: ok" in run("check", "--config", beside).stdout
    assert "policies.yaml: defaults" in run("explain", "--config", beside, "--json").stdout
    assert "named.yaml: ok" in run("check", "--config", beside, env=named).stdout
    gone = run("explain", env={"GATEWAY_COMPACTION_POLICIES": "gone.yaml"})
    assert gone.exit_code == 1 and "gone.yaml" in gone.stderr


def test_a_value_that_is_no_yaml_is_not_called_a_file() -> None:
    good = write("good.yaml", GOOD)
    refused = run("check", good, env={f"{PREFIX}MODE": "!!int ''"})
    assert refused.stdout.startswith(f"{PREFIX}MODE: the value: holds a number, date or tag")


def test_check_and_explain_take_the_overrides_of_the_environment() -> None:
    good = write("good.yaml", GOOD)
    assert "mode enforce" in run("check", good, env={f"{PREFIX}MODE": "enforce"}).stdout
    bad = run("check", good, env={f"{PREFIX}LEVELS__MEDIUM__AT": "0.7"})
    assert bad.exit_code == 1 and bad.stdout.startswith(f"{PREFIX}LEVELS__MEDIUM__AT: levels.medium.at")
    unknown = run("check", good, env={f"{PREFIX}MOD": "off"})
    assert unknown.exit_code == 1 and "Did you mean 'mode'?" in unknown.stdout
    assert f"{good}: ok" in unknown.stdout
    refused = run("explain", "--file", good, env={f"{PREFIX}MOD": "off"})
    assert refused.exit_code == 1 and "Did you mean 'mode'?" in refused.stderr


def test_explain_shows_values_sources_and_matches() -> None:
    result = run("explain", "--file", write("good.yaml", GOOD), "--team", "research", "--tag", "z")
    assert result.exit_code == 0
    for shown in ("research", "keep_last", "20", "built-in default", "[red]tag", "tag is z, needed: a or b"):
        assert shown in result.stdout


def test_explain_takes_the_endpoint() -> None:
    text = "version: 1\npolicies:\n- {name: agents, match: {endpoint: messages}, mode: 'off'}\n"
    file = write("door.yaml", text)
    for endpoint, mode in (("messages", "off"), ("chat", "enforce")):
        told = json.loads(run("explain", "--file", file, "--endpoint", endpoint, "--json").stdout)
        assert [value["value"] for value in told["values"] if value["path"] == "mode"] == [mode]
    assert run("explain", "--file", file, "--endpoint", "embeddings").exit_code == 2


@pytest.mark.parametrize(
    ("written", "shown"),
    [("7d", "7d"), ("14d", "14d"), ("36h", "36h"), ("90m", "90m"), ("86400", "1d"), ("", "7d")],
)
def test_explain_shows_how_long_sessions_are_kept_as_it_is_written(written: str, shown: str) -> None:
    text = f"version: 1\ndefaults: {{storage: {{ttl: {written}}}}}\n" if written else "version: 1\n"
    lines = run("explain", "--file", write("ttl.yaml", text)).stdout.splitlines()
    [line] = [one for one in lines if "storage.ttl" in one]
    assert line.split("│")[2].strip() == shown


@pytest.mark.parametrize(
    ("model", "medium", "reason"),
    [
        ("half", 0.6, "costs 0.50 of a new one"),
        ("tenth", 0.85, "costs 0.10 of a new one"),
        ("gpt-4o", 0.6, "costs 0.50 of a new one"),
        ("nobody-s", 0.85, "is not known"),
    ],
)
def test_explain_looks_up_the_price_that_a_policy_goes_by(model: str, medium: float, reason: str) -> None:
    """A group of the proxy's config, or a model as LiteLLM's price map knows it."""
    groups = [
        {
            "model_name": name,
            "litellm_params": {"model": "openai/one-of-ours", "api_key": "sk-x"},
            "model_info": {
                "input_cost_per_token": 1.0,
                "cache_read_input_token_cost": cached,
                "max_input_tokens": 32_000,
            },
        }
        for name, cached in (("half", 0.5), ("tenth", 0.1))
    ]
    config = write("litellm.yaml", json.dumps({"model_list": groups}))
    file = write("p.yaml", "version: 1\ndefaults: {mode: enforce, optimize: cost}\n")
    printed = run("explain", "--file", file, "--config", config, "--model", model, "--json").stdout
    values = {one["path"]: one for one in json.loads(printed)["values"]}
    assert values["levels.medium.at"]["value"] == medium
    assert reason in values["recall.priority"]["source"]


def test_explain_as_json() -> None:
    arguments = ["explain", "--file", write("good.yaml", GOOD), "--team", "research", "--key", "k"]
    arguments += ["--model", "m", "--user", "u", "--tag", "x", "--tag", "b", "--json"]
    arguments += ["--team-block", '{"recall": {"max_tokens": 0}}', "--key-block", '{"mode": "off"}']
    answer = json.loads(run(*arguments).stdout)
    assert [(one["name"], one["rank"], one["matched"]) for one in answer["policies"]] == [
        ("research", "team", True),
        ("[red]tag", "model", True),
    ]
    values = {one["path"]: (one["value"], one["source"]) for one in answer["values"]}
    assert set(values) == {"name", *list_paths()}
    assert values["mode"] == ("off", "key metadata")
    assert values["recall.max_tokens"] == (0, "team metadata")
    assert values["levels.medium.keep_last"] == (20, "good.yaml: policies[0] 'research' (team)")
    assert values["levels.medium.at"] == (0.75, "preset 'agent' (policies[1] '[red]tag')")
    assert values["labels.headers"] == (["x-session-id", "x-litellm-session-id"], "built-in default")
    assert values["name"][0] == "research"


def test_explain_without_any_file_explains_what_then_holds() -> None:
    result = run("explain", "--json")
    assert "$GATEWAY_COMPACTION_POLICIES is not set, and there is no config/policies.yaml" in result.stderr
    values = {one["path"]: one for one in json.loads(result.stdout)["values"]}
    assert (values["mode"]["value"], values["mode"]["source"]) == ("observe", "no policy file: defaults")
    assert "What holds" in run("explain").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--file", "bad.yaml"], 1, "Did you mean 'keep_last'?"),
        (["--file", "good.yaml", "--team-block", '{"mode": "on"}'], 1, "team metadata: compaction.mode"),
        (["--file", "good.yaml", "--key-block", "{"], 2, "not JSON"),
        (["--file", "good.yaml", "--key-block", "[" * 100_000], 2, "not JSON"),
        (["--file", "good.yaml", "--key-block", '"x"'], 1, "key metadata: compaction: found the text 'x'"),
    ],
)
def test_bad_input_is_told_without_a_traceback(arguments: list[str], code: int, told: str) -> None:
    write("bad.yaml", BAD)
    write("good.yaml", GOOD)
    result = run("explain", *arguments)
    assert result.exit_code == code and result.stdout == ""
    assert told in result.stderr and "Traceback" not in result.stderr


def test_schema_prints_the_schema() -> None:
    result = run("schema")
    assert result.exit_code == 0 and json.loads(result.stdout) == build_policy_schema()


def test_help_names_the_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name in ("check", "explain", "schema"):
        assert name in result.stdout


def whole_files() -> list[str]:
    """The examples of the documentation that are whole policy files."""
    root = Path(__file__).resolve().parents[1]
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    blocks = [b for p in pages for b in re.findall(r"```yaml\n(.*?)```", p.read_text("utf-8"), re.DOTALL)]
    return [block for block in blocks if re.search(r"(?m)^version: 1$", block)]


@pytest.mark.parametrize("text", whole_files())
def test_every_example_is_sound_and_writes_its_mode(text: str) -> None:
    result = run("check", write("example.yaml", text))
    assert result.exit_code == 0 and "warning" not in result.stdout, result.stdout
