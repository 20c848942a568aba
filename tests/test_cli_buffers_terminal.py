"""``buffers`` on a real terminal: colours, width, the live table, Ctrl-C."""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.buffers_archive import FIRST, HOSTILE, SECOND

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import asyncio, sys
from gateway_compaction.cli.buffers.commands import app
from tests.buffers_archive import FakeArchive, opener

class Busy(FakeArchive):
    async def watch(self, scope):
        async for row in super().watch(scope):
            yield row
        await asyncio.sleep(60)

app(sys.argv[1:], obj=opener(Busy()))
"""
# What Rich itself sends: colours, and for the live table cursor moves and erased lines.
OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*A|\x1b\[2K|\r")


class Terminal:
    """A command on a pseudo-terminal."""

    def __init__(self, *arguments: str, columns: int = 100, rows: int = 30) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
        command = [sys.executable, "-c", SCRIPT, *arguments]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        os.close(slave)
        self._master, self.shown = master, ""
        # What is read may end within a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self, wanted: str | None = None, seconds: float = 30.0) -> str:
        """What it shows until it ends, or until ``wanted`` is there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (wanted is None or wanted not in self.shown):
            ready, _, _ = select.select([self._master], [], [], 0.2)
            try:
                part = os.read(self._master, 65_536) if ready else b""
            except OSError:
                return self.shown
            self.shown += self._decoder.decode(part)
        assert wanted is not None and wanted in self.shown, self.shown[-2_000:]
        return self.shown

    def close(self) -> int:
        """End it; its exit code."""
        code = self.process.wait(30)
        os.close(self._master)
        return code


def shown(*arguments: str, columns: int = 100) -> str:
    terminal = Terminal(*arguments, columns=columns)
    text = terminal.read()
    assert terminal.close() == 0, text
    return text


@pytest.mark.parametrize("columns", [60, 80, 130, 200])
def test_a_list_fits_its_terminal(columns: int) -> None:
    text = shown("ls", columns=columns)
    assert "\x1b[31mfailed" in text
    plain = OWN.sub("", text)
    assert "\x1b" not in plain
    assert max(cell_len(line) for line in plain.splitlines()) <= columns
    # An id that is cut could not be typed.
    assert FIRST.key[:12] in plain and SECOND.key[:12] in plain
    # Nor could a label, and it is what people know a session by.
    assert "ticket-4711" in plain or columns < 80


def test_texts_of_strangers_stay_texts() -> None:
    for arguments in (["show", "aa22"], ["show", "aa11", "--full"]):
        plain = OWN.sub("", shown(*arguments))
        assert "\x1b" not in plain and "\u202e" not in plain and "␛" in plain


def test_a_difference_is_coloured() -> None:
    text = shown("diff", "aa11")
    assert "\x1b[31m-The north is missing." in text and "\x1b[32m+The south is late." in text


def test_the_live_table_follows_until_ctrl_c() -> None:
    terminal = Terminal("watch", columns=120)
    text = terminal.read("Ctrl-C ends")
    terminal.read("0 calls in 0 sessions")
    assert FIRST.key[:12] in text
    os.killpg(terminal.process.pid, signal.SIGINT)
    with_end = terminal.read()
    assert terminal.close() == 0
    assert "Traceback" not in with_end
    assert with_end.rstrip().endswith("\x1b[?25h") and "\x1b" not in OWN.sub("", with_end)


def test_the_live_table_ends_after_so_many_changes() -> None:
    text = OWN.sub("", shown("watch", "--count", "2", columns=120))
    assert text.count(FIRST.key[:12]) >= 1 and SECOND.key[:12] in text


def piped(*arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    """A command whose output goes into a pipe of some encoding."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], env=env, capture_output=True, check=False
    )


def test_a_pipe_gets_no_colours_and_whole_lines() -> None:
    done = piped("ls", "--full")
    assert done.returncode == 0 and b"\x1b" not in done.stdout
    [line] = [line for line in done.stdout.decode().splitlines() if FIRST.session_id in line]
    assert "250,000" in line and "90 min ago" in line and "…" not in line


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_pipe_that_is_not_utf_8(encoding: str) -> None:
    for arguments in (["ls"], ["show", "aa11", "--full"], ["diff", "aa11"], ["events", "aa11"]):
        done = piped(*arguments, encoding=encoding)
        assert done.returncode == 0 and not done.stderr, done.stderr
    raw = piped("show", "aa22", "--json", encoding=encoding).stdout
    assert raw.isascii() and json.loads(raw)["row"]["labels"][0] == HOSTILE


def test_a_reader_that_leaves_is_no_error() -> None:
    script = f'{sys.executable} -c "$SCRIPT" show aa22 --full | head -c 10; echo ${{PIPESTATUS[0]}}'
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SCRIPT": SCRIPT}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr and done.stdout.endswith(("0\n", "1\n"))
