"""docs/cli.md is what the commands say, and the shell completes them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway_compaction.cli.main import app
from scripts.cli_page import COMMON, MARK, PAGE, list_commands, write_page

REMEDY = "write it anew: python -m scripts.cli_page"
ROOT = Path(__file__).resolve().parents[1]
SCRIPT = f"""#!{sys.executable}
from gateway_compaction.cli.main import app
app(prog_name="gateway-compaction")
"""


def test_the_page_is_up_to_date() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert write_page(written) == written, REMEDY


def test_every_command_option_and_variable_is_in_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = list(list_commands())
    assert len(listed) > 20
    for name, command in listed:
        assert re.search(rf"^#+ `{name}`$", text, re.MULTILINE), name
        for param in command.params:
            for opt in param.opts if param.param_type_name == "option" and param.name not in COMMON else ():
                assert f"`{opt}`" in text, f"{name} {opt}"
            for variable in [param.envvar] if isinstance(param.envvar, str) else param.envvar or ():
                assert f"`{variable}`" in text, variable
    assert "`GATEWAY_COMPACTION_KEY`" in text


def test_every_command_takes_the_short_word_for_help() -> None:
    for name, command in list_commands():
        words = [*name.split()[1:], "-h"]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0 and "Usage: " in result.stdout, name
        assert command.name is None or command.name in result.stdout


def test_a_page_without_its_line_is_refused() -> None:
    with pytest.raises(ValueError, match="has no line"):
        write_page("# Nothing")
    assert write_page(MARK).startswith(MARK)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment with the command on its path and a home of its own."""
    program = tmp_path / "bin" / "gateway-compaction"
    program.parent.mkdir()
    program.write_text(SCRIPT)
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "LITELLM_MODE": "PRODUCTION"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("buffers ex", {"export"}),
        ("buffers re", {"reset", "rebuild", "records", "restore"}),
        ("buffers ls --sort c", {"created", "calls"}),
        ("buffers show --vers", {"--version"}),
        ("pol", {"policy"}),
    ],
)
def test_what_is_installed_completes_in_a_real_bash(
    shell: dict[str, str], tmp_path: Path, words: str, found: set[str]
) -> None:
    asked = f"""
        gateway-compaction --install-completion >/dev/null
        source ~/.bashrc
        COMP_WORDS=(gateway-compaction {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _gateway_compaction_completion gateway-compaction
        echo "${{COMPREPLY[@]}}"
    """
    script = tmp_path / "asked.sh"
    script.write_text(asked)
    done = subprocess.run(["bash", str(script)], env=shell, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == found, done.stderr
