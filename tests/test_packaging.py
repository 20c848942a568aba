"""The repository's frame: what is declared, pinned, shipped and documented hangs together."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import gateway_compaction
from gateway_compaction import errors, ports

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "gateway_compaction"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
DEV = [Requirement(line) for line in PROJECT["optional-dependencies"]["dev"]]
COMPAT = sorted(f"compat/{path.name}" for path in (ROOT / "requirements/compat").glob("*.txt"))
# Parts of a declared dependency that are imported by a name of their own.
CARRIED = {"pydantic_core": "pydantic"}


def pins(name: str) -> dict[str, Version]:
    """Canonical name -> version of a requirements list."""
    text = (ROOT / "requirements" / name).read_text()
    found = re.findall(r"(?m)^([\w.-]+)==([^\s;]+)", text)
    assert found
    return {canonicalize_name(project): Version(version) for project, version in found}


def imported() -> Iterator[str]:
    """Top-level modules that the package imports."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


class TestDependencies:
    """Declared is what is imported; pinned is what is declared."""

    def test_every_import_is_declared(self) -> None:
        owners = metadata.packages_distributions()
        declared = {canonicalize_name(r.name) for r in RUNTIME}
        for module in set(imported()) - sys.stdlib_module_names - {"gateway_compaction"}:
            names = {canonicalize_name(name) for name in owners[CARRIED.get(module, module)]}
            assert names & declared, f"{module} is imported but not declared"

    def test_every_declared_dependency_is_pinned_within_its_bounds(self) -> None:
        for required, listed in ((RUNTIME, pins("run.txt")), (DEV, pins("dev.txt"))):
            for requirement in required:
                assert listed[canonicalize_name(requirement.name)] in requirement.specifier, requirement

    def test_contributing_gives_a_reason_for_each(self) -> None:
        table = (ROOT / "CONTRIBUTING.md").read_text().partition("| package | why |")[2].partition("\n\n")[0]
        rows = re.findall(r"(?m)^\| (`.+?) \| (.+?) \|$", table)
        named = [Requirement(name) for cell, _ in rows for name in re.findall(r"`([^`]+)`", cell)]
        extras = [*DEV, *map(Requirement, PROJECT["optional-dependencies"]["eval"])]
        assert {(r.name, *r.extras) for r in named} == {(r.name, *r.extras) for r in (*RUNTIME, *extras)}
        assert len(named) == len({r.name for r in named})

    def test_the_lists_agree(self) -> None:
        developing = pins("dev.txt")
        for name in ("run.txt", "build.txt"):
            assert pins(name).items() <= developing.items()

    @pytest.mark.parametrize("name", COMPAT)
    def test_each_litellm_of_make_compat_is_allowed_and_named(self, name: str) -> None:
        listed = pins(name)
        allowed = next(r for r in RUNTIME if r.name == "litellm")
        for requirement in RUNTIME:
            assert listed[canonicalize_name(requirement.name)] in requirement.specifier, requirement
        assert name == f"compat/litellm-{listed['litellm'].major}.{listed['litellm'].minor}.txt"
        minors = sorted(Version(Path(one).stem.removeprefix("litellm-")) for one in COMPAT)
        made = re.search(r"(?m)^COMPAT_LISTS \?= (.*)$", (ROOT / "Makefile").read_text())
        assert made and made[1].split() == [f"litellm-{minor}" for minor in minors]
        # Nothing newer is allowed than what is run, and README says the same range.
        newest = pins(f"compat/litellm-{minors[-1]}.txt")["litellm"]
        assert Version(f"{newest.major}.{newest.minor + 1}") not in allowed.specifier
        lowest = pins("run.txt")["litellm"]
        assert f"LiteLLM {lowest} to {newest}" in (ROOT / "README.md").read_text()
        assert allowed.specifier.contains(lowest) and str(lowest) in str(allowed.specifier)

    @pytest.mark.parametrize("name", ["build.txt", "dev.txt", "run.txt", *COMPAT])
    def test_every_pin_has_hashes_and_no_place_to_fetch_from(self, name: str) -> None:
        text = (ROOT / "requirements" / name).read_text()
        blocks = re.split(r"(?m)^(?=\w)", text)[1:]
        assert all("--hash=sha256:" in block for block in blocks)
        assert "://" not in text
        assert not re.search(r"(?m)^\s*(-i|-f|--(index|extra|find|trusted))", text)


class TestSurface:
    """What the package offers by name."""

    def test_public_names_exist_and_have_every_error_and_port(self) -> None:
        names = gateway_compaction.__all__
        assert len(set(names)) == len(names)
        assert all(hasattr(gateway_compaction, name) for name in names)
        assert {*errors.__all__, *ports.__all__} <= set(names)

    def test_help_needs_nothing_heavy(self) -> None:
        code = (
            "import sys; from gateway_compaction.cli.main import app;"
            "print(sorted({'litellm', 'openai', 'tiktoken', 'redis', 'fakeredis'} & set(sys.modules)))"
        )
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy with the pinned backend."""
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(PACKAGE, copy / "gateway_compaction", ignore=shutil.ignore_patterns("__pycache__"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(out),
        str(copy),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(next(out.glob("*.whl")))


class TestWheel:
    """What `pip install gateway-compaction` brings."""

    def test_has_every_file_of_the_package(self, wheel: zipfile.ZipFile) -> None:
        mine = {p.relative_to(ROOT).as_posix() for p in PACKAGE.rglob("*") if p.is_file()}
        mine = {name for name in mine if "__pycache__" not in name}
        shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert shipped == mine
        assert "gateway_compaction/py.typed" in shipped
        assert any(name.endswith(".lua") for name in shipped)

    def test_says_what_it_is(self, wheel: zipfile.ZipFile) -> None:
        (info,) = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
        told: Message = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
        assert told["Version"] == gateway_compaction.__version__
        assert told["License-Expression"] == "MIT"
        assert told["Requires-Python"] == ">=3.11"
        assert told["Summary"]
        assert "gateway_compaction.cli.main:app" in wheel.read(f"{info}/entry_points.txt").decode()


def repository(folder: Path) -> set[str]:
    """Files of the repository; of an unpacked archive, all but what git would ignore."""
    asked = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
    if not (ROOT / ".git").exists():
        empty = folder / "empty"
        subprocess.run(["git", "init", "-q", "--bare", str(empty)], check=True)
        asked += [f"--git-dir={empty}", f"--work-tree={ROOT}"]
        names = [*asked, "ls-files", "-z", "--others", "--exclude-standard"]
    else:
        names = [*asked, "ls-files", "-z"]
    found = subprocess.run(names, capture_output=True, text=True, check=True).stdout.split("\0")
    return {name for name in found if name and (ROOT / name).is_file()} - {"PKG-INFO"}


class TestSourceArchive:
    """What a distribution builds from."""

    def test_has_every_file_of_the_repository(self, tmp_path: Path) -> None:
        mine = repository(tmp_path)
        assert {"pyproject.toml", ".ci/run", "compose.yaml"} <= mine
        for name in mine:
            (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "tree" / name)
        code = f"from hatchling.build import build_sdist; print(build_sdist({str(tmp_path)!r}))"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path / "tree", capture_output=True, text=True, check=True)
        with tarfile.open(tmp_path / done.stdout.strip()) as archive:
            shipped = {name.partition("/")[2] for name in archive.getnames()}
            script = archive.getmember(f"{archive.getnames()[0].partition('/')[0]}/.ci/run")
        assert shipped - {"PKG-INFO"} == mine
        assert script.mode & 0o100


class TestFrame:
    """Files that no import checks."""

    def test_the_changelog_knows_the_version(self) -> None:
        assert f"## [{gateway_compaction.__version__}]" in (ROOT / "CHANGELOG.md").read_text()

    def test_contributing_names_every_make_target(self) -> None:
        targets = re.findall(r"(?m)^([a-z]+):.* ## ", (ROOT / "Makefile").read_text())
        text = (ROOT / "CONTRIBUTING.md").read_text()
        assert len(targets) > 5
        assert [t for t in targets if f"`make {t}`" not in text] == []

    def test_contributing_names_every_bench(self) -> None:
        text = (ROOT / "CONTRIBUTING.md").read_text()
        runs = [p for p in (ROOT / "bench").glob("*.py") if 'if __name__ == "__main__"' in p.read_text()]
        benches = {f"bench.{p.stem}" for p in runs}
        assert benches and set(re.findall(r"`(bench\.\w+)`", text)) == benches

    def test_contributing_names_every_generated_file(self) -> None:
        table = (ROOT / "CONTRIBUTING.md").read_text().partition("| file | made by |")[2].partition("\n\n")[0]
        named = re.findall(r"(?m)^\| `([^`]+)`", table)
        assert all(list(ROOT.glob(name)) for name in named)
        pages = {p.relative_to(ROOT).as_posix(): p.read_text() for p in (ROOT / "docs").glob("*.md")}
        made = {name for name, text in pages.items() if re.search(r"generated: python|Made by `python", text)}
        assert {"config/policies.schema.json", "requirements/*.txt", *made} <= set(named)

    def test_the_example_is_what_its_script_makes(self) -> None:
        folder = ROOT / "docs" / "examples"
        made = runpy.run_path(str(folder / "make.py"))["conversation"]()
        assert json.loads((folder / "support_chat.json").read_text()) == made and len(made) == 82

    def test_ci_runs_the_tests_and_fails_with_them(self) -> None:
        script = ROOT / ".ci" / "run"
        assert os.access(script, os.X_OK)
        text = script.read_text()
        assert "set -euo pipefail" in text
        assert text.rstrip().endswith("make test")

    def test_the_image_can_copy_what_it_wants(self) -> None:
        patterns = (ROOT / ".dockerignore").read_text().splitlines()
        let_in = {p.removeprefix("!") for p in patterns if p.startswith("!")}
        steps = re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text())
        sources = [source for step in steps for source in step.split()]
        assert sources
        for source in sources:
            assert (ROOT / source).exists(), source
            assert source in let_in, source

    def test_the_config_loads_the_plugin_and_writes_no_secret(self) -> None:
        text = (ROOT / "config" / "litellm.yaml").read_text()
        config = yaml.safe_load(text)
        assert config["litellm_settings"]["callbacks"] == ["gateway_compaction.hook.handler"]
        secrets = re.findall(r"(?m)^[ #]*(?:api_key|master_key|aws_\w+): (.+?)(?: +#.*)?$", text)
        assert len(secrets) > 3
        assert all(value.startswith("os.environ/") for value in secrets)
