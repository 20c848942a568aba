"""Put the command line together: one command group per file; heavy imports wait for the command that needs
them.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer
from dotenv import load_dotenv

from gateway_compaction import __version__
from gateway_compaction.cli import bench, policy
from gateway_compaction.cli.buffers import commands as buffers
from gateway_compaction.cli.demo import demo
from gateway_compaction.cli.doctor import doctor
from gateway_compaction.cli.eval import evaluate
from gateway_compaction.cli.init import init
from gateway_compaction.cli.replay import replay
from gateway_compaction.cli.serve import serve

app = typer.Typer(
    name="gateway-compaction",
    help="Keep long conversations inside the context window, at the LiteLLM proxy.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    # Click hands it down to every command.
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serve)
app.command()(demo)
app.command()(init)
app.command()(doctor)
app.command()(replay)
app.command("eval")(evaluate)
app.add_typer(bench.app, name="bench")
app.add_typer(policy.app, name="policy")
app.add_typer(buffers.app, name="buffers")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gateway-compaction {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep long conversations inside the context window, at the LiteLLM proxy."""
    # As LiteLLM does itself, and before the options' environment variables are looked up.
    if os.environ.get("LITELLM_MODE", "DEV") == "DEV":
        load_dotenv(".env")
