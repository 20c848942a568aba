"""Policies from disk and from the environment, the example and the page that documents them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway_compaction.adapters.policy_file import load_policy_file, read_env_overrides
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.document import Match, PolicyEntry, PolicyFile, build_policy_schema
from gateway_compaction.core.policy.model import PolicyBody, flatten, list_paths
from gateway_compaction.errors import PolicyError
from tests.policy_books import tree

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
PREFIX = "GATEWAY_COMPACTION_DEFAULTS__"


@pytest.fixture
def policy_path(tmp_path: Path) -> Path:
    return tmp_path / "policies.yaml"


def load(path: Path, text: str | bytes) -> PolicyBook:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_policy_file(path)


def load_refused(path: Path, text: str | bytes) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        load(path, text)
    assert caught.value.source == str(path)
    return caught.value


def test_a_file_is_loaded(policy_path: Path) -> None:
    made = load(policy_path, "\ufeffversion: 1\ndefaults: {mode: off, storage: {ttl: 12h}}\n")
    policy = made.resolve(Identity())
    assert (policy.mode, policy.storage.ttl) == ("off", 43_200)
    sources = {one.path: one.source for one in made.explain(Identity())}
    assert sources["mode"] == "policies.yaml: defaults"


def test_no_file_at_all_only_observes() -> None:
    assert load_policy_file(None).resolve(Identity()).mode == "observe"
    assert load_policy_file(None, {"mode": "off"}).resolve(Identity()).mode == "off"


def test_overrides_lie_over_the_defaults_of_a_file(policy_path: Path) -> None:
    policy_path.write_text("version: 1\ndefaults: {mode: observe}\n")
    assert load_policy_file(policy_path, {"mode": "off"}).resolve(Identity()).mode == "off"


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [
        ("version: 1\ndefaults: {mode: off\n", "line 3, column 1", "expected ',' or '}'"),
        ("version: 1\n\tdefaults:\n", "line 2, column 1", "a tab stands here: use spaces"),
        ("version: 1\n---\nversion: 1\n", "line 2, column 1", "expected a single document"),
        ("version: *x\n", "line 1, column 10", "undefined alias"),
        ("a: !!python/object:os.system {}\n", "line 1, column 4", "could not determine a constructor"),
        ("version: 1\nversion: 1\n", "line 2, column 1", "'version' is written twice, first in line 1"),
        (
            "version: 1\ndefaults:\n  levels:\n    light: {at: 0.5, at: 0.6}\n",
            "line 4, column 22",
            "'at' is written twice, first in line 4",
        ),
        (
            "version: 1\ndefaults: {<<: {mode: off}}\n",
            "line 2, column 12",
            "the merge key << is not supported",
        ),
        ("? [a, b]\n: c\n", "line 1, column 3", "a key must be a word"),
        ("version: 1\ndefaults: \x07\n", "character 22", "a character that YAML does not allow"),
        ("version: " + "1" * 5000, "the file", "a number, date or tag that cannot be read"),
        ("version: 2026-99-99\n", "the file", "a number, date or tag that cannot be read"),
        ("version: !!int ''\n", "the file", "a number, date or tag that cannot be read"),
        ("[" * 20_000, "the file", "nested too deeply"),
        (b"version: \xff\n", "the file", "cannot be read: not UTF-8 at byte 9"),
        ("#" * 1_000_001, "the file", "cannot be read: larger than 1000000 bytes"),
        ('version: 1\ndefaults: {"\\ud800": 1}\n', "defaults", "found text that is not Unicode"),
        ('version: 1\ndefaults: {summary: {model: "\\ud800"}}\n', "defaults.summary.model", "not Unicode"),
        ("- version\n", "(top level)", "found a list"),
        ("just text\n", "(top level)", "found the text 'just text'"),
        ("version: 1\ndefaults: {mode: on}\n", "defaults.mode", "found true"),
        ("version: 1\npolicies: [&a [*a]]\n", "policies[0]", "found a list"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    policy_path: Path, text: str | bytes, path: str, problem: str
) -> None:
    error = load_refused(policy_path, text)
    assert error.path == path
    assert problem in error.problem and error.remedy
    assert "\n" not in str(error)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path, Path("a\0b")):
        with pytest.raises(PolicyError, match="cannot be read"):
            load_policy_file(path)


def test_aliases_cannot_blow_up(policy_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    error = load_refused(policy_path, "\n".join([*lines, "version: 1", "defaults: *a11", ""]))
    assert "defaults" in {error.path, *(other.path for other in error.others)}


def test_a_section_may_be_an_alias(policy_path: Path) -> None:
    text = """
        version: 1
        policies:
          - {name: a, match: {team: a}, levels: &early {light: {at: 0.6}, medium: {at: 0.7}}}
          - {name: b, match: {team: b}, levels: *early}
    """
    assert load(policy_path, text).resolve(Identity(team_id="b")).levels.medium.at == 0.7


def test_prompt_files_stand_beside_the_policy_file(tmp_path: Path, policy_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "legal.md").write_text("\ufeff\n요약하세요.\n", encoding="utf-8")
    text = "version: 1\ndefaults: {summary: {prompt: prompts/legal.md}}\n"
    assert load(policy_path, text).resolve(Identity()).summary.prompt_text == "요약하세요."
    absolute = f"version: 1\ndefaults: {{summary: {{prompt: {tmp_path}/prompts/legal.md}}}}\n"
    assert load(policy_path, absolute).resolve(Identity()).summary.prompt_text == "요약하세요."


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        (b" \n", "it is empty"),
        (b"\xff", "not UTF-8"),
        (b"x" * 100_001, "larger than"),
    ],
)
def test_a_prompt_file_that_cannot_be_used(policy_path: Path, content: bytes | None, problem: str) -> None:
    if content is not None:
        policy_path.with_name("own.txt").write_bytes(content)
    error = load_refused(policy_path, "version: 1\ndefaults: {summary: {prompt: own.txt}}\n")
    assert error.path == "defaults.summary.prompt" and problem in error.problem


# --- environment


def test_variables_become_overrides() -> None:
    assert read_env_overrides(
        {
            f"{PREFIX}LEVELS__MEDIUM__AT": "0.8",
            f"{PREFIX}LEVELS__LIGHT__AT": "0.7",
            f"{PREFIX}MODE": "off",
            f"{PREFIX}SUMMARY__FALLBACKS": "[a, b]",
            f"{PREFIX}SUMMARY__MODEL": "null",
            f"{PREFIX}STORAGE__TTL": "12h",
            f"{PREFIX}PRESET": "",
            "GATEWAY_COMPACTION_POLICIES": "x",
            "PATH": "/bin",
        }
    ) == {
        "levels": {"medium": {"at": 0.8}, "light": {"at": 0.7}},
        "mode": False,
        "summary": {"fallbacks": ["a", "b"], "model": None},
        "storage": {"ttl": "12h"},
    }
    assert read_env_overrides({}) == {}


@pytest.mark.parametrize(
    ("name", "value", "problem", "remedy"),
    [
        ("LEVELS__MEDIUM__ATT", "0.8", "unknown key 'levels.medium.att'", "Did you mean 'levels.medium.at'?"),
        ("KEEP_LAST", "3", "unknown key 'keep_last'", "Write it under levels.medium or levels.aggressive"),
        ("X", "3", "unknown key 'x'", "Write one of mode, preset"),
        ("LEVELS__MEDIUM", "{at: 0.8}", "names a section", f"Add a key, such as {PREFIX}LEVELS__MEDIUM__AT"),
        ("MODE", "[", "expected", "Write valid YAML"),
    ],
)
def test_a_bad_variable_is_told_by_its_name(name: str, value: str, problem: str, remedy: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_env_overrides({PREFIX + name: value, f"{PREFIX}ZZ": "1"})
    error = caught.value
    assert error.source == PREFIX + name
    assert problem in error.problem and error.remedy.startswith(remedy)
    assert [other.source for other in error.others] == [f"{PREFIX}ZZ"]


@pytest.mark.parametrize("path", list_paths())
def test_every_key_has_a_variable(path: str) -> None:
    value = flatten(PolicyBody())[path]
    name = PREFIX + path.upper().replace(".", "__")
    overrides = read_env_overrides({name: json.dumps(value)})
    made = PolicyBook({}, "policies.yaml", overrides)
    found = {one.path: one for one in made.explain(Identity())}[path]
    assert (found.value, found.source) == (value, "environment")


# --- nothing but a PolicyError


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=60)
    | st.text(max_size=60)
    | st.text(alphabet="version: 1\n{}[]&*!<>?-'\"#|@%abc", max_size=60).map("version: 1\n".__add__)
)
def test_any_file_gives_a_book_or_a_policy_error(policy_path: Path, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        load(policy_path, data).resolve(Identity())
    except PolicyError as error:
        assert str(error).startswith(f"{policy_path}: ")
        str(error).encode("utf-8")


# --- the example and the page


def yaml_blocks() -> list[str]:
    """Those that are policies: a block that begins with `general_settings` is one of LiteLLM's config."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return [block for block in blocks if not block.startswith("general_settings:")]


def rows() -> dict[str, list[str]]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line[:3] == "| `"
    ]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_the_example_holds_what_it_says() -> None:
    made = load_policy_file(ROOT / "config" / "policies.yaml")
    assert made.resolve(Identity()).mode == "enforce" and made.resolve(Identity()).summary.model is None
    assert made.resolve(Identity(team_alias="lab-7")).levels.medium.keep_last == 20
    assert made.resolve(Identity(team_id="legal")).mode == "off"
    assert made.resolve(Identity(team_id="agents")).preset == "agent"
    assert made.resolve(Identity(model="demo")).context_window == 4000
    assert made.resolve(Identity(model="gpt-4o")).context_window is None


def test_the_page_has_every_key_with_its_default() -> None:
    documented = rows()
    for path, default in flatten(PolicyBody()).items():
        shown = yaml.safe_load(documented[path][1].strip("`"))
        written = shown if path != "mode" else default
        assert PolicyBook({"version": 1, "defaults": tree(path, written)}, "page").resolve(Identity())
        assert flatten(PolicyBody.model_validate(tree(path, written)))[path] == default, path
    wanted = {*PolicyFile.model_fields, *(f"match.{name}" for name in Match.model_fields), "name", "match"}
    assert wanted <= set(documented)
    assert set(PolicyEntry.model_fields) - set(PolicyBody.model_fields) == {"name", "match"}


@pytest.mark.parametrize("block", yaml_blocks())
def test_the_examples_of_the_page_load(policy_path: Path, block: str) -> None:
    assert load(policy_path, block).resolve(Identity())


def test_the_metadata_example_of_the_page_is_a_block() -> None:
    (block,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    policy = PolicyBook.default().resolve(Identity(team_block=json.loads(block)["compaction"]))
    assert policy.levels.medium.keep_last == 20


def test_the_variables_of_the_page_exist() -> None:
    shown = dict(re.findall(rf"^({PREFIX}\w+)=(.+)$", PAGE, re.MULTILINE))
    overrides = read_env_overrides({name: text.strip('"') for name, text in shown.items()})
    assert PolicyBook.default(overrides).resolve(Identity()).summary.fallbacks == ("small", "medium")


def test_the_schema_accepts_the_example_and_the_page() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(build_policy_schema())
    validator.check_schema(build_policy_schema())
    for text in [(ROOT / "config" / "policies.yaml").read_text(encoding="utf-8"), *yaml_blocks()]:
        validator.validate(yaml.safe_load(text))
    assert not validator.is_valid({"version": 1, "defaults": {"levels": {"medium": {"keep_lst": 3}}}})
    assert not validator.is_valid({"version": 1, "policies": [{"name": "a"}]})
    empty = {"version": 1, "defaults": {"levels": {"light": None}, "summary": None}, "policies": []}
    assert validator.is_valid(empty) and PolicyBook(empty, "policies.yaml").resolve(Identity())
    assert not validator.is_valid({"version": 1, "policies": [{"name": "a", "match": None}]})


def test_every_key_of_the_schema_is_explained() -> None:
    schema = build_policy_schema()
    sections = [schema, *schema["$defs"].values()]
    silent = [n for s in sections for n, field in s["properties"].items() if not field.get("description")]
    assert silent == [] and all(section["additionalProperties"] is False for section in sections)


def test_the_schema_beside_the_example_is_the_one_that_is_printed() -> None:
    example = (ROOT / "config" / "policies.yaml").read_text(encoding="utf-8")
    name = re.match(r"# yaml-language-server: \$schema=(\S+)\n", example)
    assert name is not None
    assert json.loads((ROOT / "config" / name[1]).read_text(encoding="utf-8")) == build_policy_schema()
