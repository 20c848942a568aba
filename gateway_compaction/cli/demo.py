"""``demo``: play a conversation through a running gateway, and show what became of each call."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from gateway_compaction.cli.buffers.text import escape_terminal, format_cell
from gateway_compaction.cli.demo_talk import EVIDENCE, QUESTION, RULE, SYSTEM, TOLD_IN_TURN, write_turns
from gateway_compaction.cli.launch import program_name

HEADER = "x-compaction"
OBSERVED = "observed"
LABEL_HEADER = "x-session-id"
URL_VARIABLE = "GATEWAY_COMPACTION_URL"
USUAL_PORT = 4000
FAILED, UNREACHED = 1, 3
# Seconds that an answer may take, and between two looks whether the gateway has started.
ANSWER_SECONDS = 120.0
LOOK_SECONDS = 1.0
# Seconds within which a call is stored after its answer, and between two looks whether it is.
STORED_SECONDS = 5.0
AGAIN_SECONDS = 0.1
# Characters of a message and of its surroundings that are quoted.
AROUND = 60
ERROR_CHARS = 300
# Models that are named where the one that was asked for is missing.
MODELS_NAMED = 8
COLUMNS = "{:>4} {:>9} {:>12} {:>10} {:>6}  {:<10}  {}"
TITLES = ("call", "messages", "client sent", "model got", "saved", "level", "outcome")
MISSING = "the model did not see it"
TOO_WIDE = (
    "No call was compacted. The conversation has about 5,000 tokens: it needs a model whose window (or whose"
    " policy's context_window) is about 4,000, such as the model demo of config/litellm.yaml."
)


class DemoError(Exception):
    """The demo cannot go on; the text says why and what to do, ``code`` is the exit code."""

    def __init__(self, text: str, code: int = FAILED) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the demo, as the response headers and the usage of the answer tell of it.

    Attributes:
        messages: the number of messages that were sent.
        sent: tokens of what the client sent.
        received: tokens of what the model got.
        would: tokens that it would have got, where the call was only observed.
    """

    messages: int
    sent: int
    received: int
    outcome: str
    reason: str
    level: str | None = None
    version: str | None = None
    session: str | None = None
    answer: str = ""
    would: int | None = None

    @property
    def is_compacted(self) -> bool:
        """Whether the model got something else than the client sent."""
        return self.outcome in ("applied", "fallback")


@dataclass(slots=True)
class Gateway:
    """A running gateway, as a chat client sees it."""

    url: str
    http: Any
    model: str
    label: str
    history: list[dict[str, str]] = field(default_factory=lambda: [{"role": "system", "content": SYSTEM}])

    def ask(self, question: str) -> Call:
        """Send the whole history with one more question, as chat clients do, and keep the question in it.

        Raises:
            DemoError: the gateway cannot be reached, refuses, or has no compaction.
        """
        import httpx

        self.history.append({"role": "user", "content": question})
        body = {"model": self.model, "messages": self.history}
        try:
            answer = self.http.post("/v1/chat/completions", json=body, headers={LABEL_HEADER: self.label})
        except httpx.HTTPError as error:
            raise DemoError(f"The gateway at {self.url} does not answer: {error}.", UNREACHED) from error
        document = _read_json(answer)
        if not answer.is_success:
            hint = self._find_hint(answer.status_code)
            told = f"{answer.status_code}: {_read_error(document)}{hint}"
            raise DemoError(f"The gateway at {self.url} answered {told}")
        return read_call(len(self.history), answer.headers, document, self.url)

    def _find_hint(self, status: int) -> str:
        """Return what to do about a refusal: which key or which model is missing."""
        import httpx

        if status in (401, 403):
            return " Name a key with --key."
        try:
            listed = _read_json(self.http.get("/v1/models"))
        except httpx.HTTPError:
            return ""
        entries = listed.get("data") if isinstance(listed, dict) else None
        names = [str(one.get("id")) for one in entries or () if isinstance(one, dict)]
        if not names or self.model in names:
            return ""
        shown = ", ".join(names[:MODELS_NAMED]) + (" …" if len(names) > MODELS_NAMED else "")
        return f" It has no model {self.model}: name one with --model ({shown})."

    def load_last_call(self, session: str) -> Mapping[str, Any]:
        """Return what is stored of the session's last call; empty where this key may see nothing.

        It is stored after the answer, so the call before may be found for a moment.
        """
        end = time.monotonic() + STORED_SECONDS
        while True:
            found = self._read_last_call(session)
            if len(found.get("sent") or ()) == len(self.history):
                return found
            if not found or time.monotonic() >= end:
                return {}
            time.sleep(AGAIN_SECONDS)

    def _read_last_call(self, session: str) -> Mapping[str, Any]:
        import httpx

        try:
            answer = self.http.get(f"/compaction/sessions/{session}/last-call")
        except httpx.HTTPError:
            return {}
        document = _read_json(answer)
        return document if answer.is_success and isinstance(document, dict) else {}

    def wait_ready(self, seconds: float) -> None:
        """Wait until something answers at the address.

        Raises:
            DemoError: nothing does, after so many seconds.
        """
        import httpx

        end, told = time.monotonic() + seconds, False
        while True:
            try:
                self.http.get("/health/liveliness", timeout=10.0)
                return
            except httpx.HTTPError as error:
                if time.monotonic() >= end:
                    start = "start one with make run, or name its address with --url or --port"
                    raise DemoError(f"No gateway at {self.url} ({error}): {start}.", UNREACHED) from error
            if not told:
                typer.echo(
                    f"Nothing answers at {self.url} yet; waiting up to {seconds:.0f} s for a gateway that"
                    " starts. Another port: --port (Ctrl-C ends the wait).",
                    err=True,
                )
            told = True
            time.sleep(LOOK_SECONDS)


def demo(
    url: Annotated[
        str | None,
        typer.Option(
            help="The gateway, with or without /v1.", envvar=URL_VARIABLE, show_default=False, metavar="URL"
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(help="The gateway's port on this machine, where no URL is named.", envvar="PORT")
    ] = USUAL_PORT,
    key: Annotated[
        str | None,
        typer.Option(
            help="The key to show to the gateway, where it asks for one.",
            envvar=["GATEWAY_COMPACTION_KEY", "LITELLM_MASTER_KEY", "OPENAI_API_KEY"],
            show_default=False,
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="The model to ask: one with a window of about 4,000.")] = "demo",
    label: Annotated[
        str | None,
        typer.Option(help=f"The label to send in the header {LABEL_HEADER}; default: a new one each time."),
    ] = None,
    pause: Annotated[
        float, typer.Option(help="Seconds between two calls, in which a summary may become ready.", min=0.0)
    ] = 0.4,
    wait: Annotated[float, typer.Option(help="Seconds to wait for a gateway that starts.", min=0.0)] = 180.0,
) -> None:
    """Play a made-up conversation through the running gateway, and show what became of each call.

    It sends the whole history with every call, as chat clients do, and asks for something early in the end.
    The answers that it goes on with are written beforehand, so any model will do.
    """
    import httpx

    from gateway_compaction.adapters.http_archive import is_loopback

    base = choose_address(url, port)
    name = label or f"demo-{uuid.uuid4().hex[:6]}"
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        # A proxy of the environment cannot reach this machine's own loopback.
        outside = not is_loopback(base)
        with httpx.Client(base_url=base, headers=headers, timeout=ANSWER_SECONDS, trust_env=outside) as http:
            gateway = Gateway(base, http, model, name)
            gateway.wait_ready(wait)
            play(gateway, pause)
    except (DemoError, httpx.InvalidURL) as error:
        typer.echo(escape_terminal(str(error)), err=True)
        raise typer.Exit(getattr(error, "code", FAILED)) from error


def choose_address(url: str | None, port: int) -> str:
    """Return the gateway's address without ``/v1``; that of this machine where none is named."""
    base = (url or f"http://127.0.0.1:{port}").rstrip("/").removesuffix("/v1").rstrip("/")
    return base if "://" in base else f"http://{base}"


def play(gateway: Gateway, pause: float) -> None:
    """Play the conversation and print each call as it is answered, the savings, and where to look.

    Raises:
        DemoError: the gateway cannot be reached, refuses, or compacted nothing.
    """
    turns = write_turns(gateway.label)
    typer.echo(f"A conversation of {len(turns) + 1} calls with the model {gateway.model} at {gateway.url},")
    typer.echo(f"labelled {gateway.label} (header {LABEL_HEADER}). Each call sends the whole history.\n")
    typer.echo(COLUMNS.format(*TITLES))
    calls: list[Call] = []
    for turn in turns:
        calls.append(gateway.ask(turn.question))
        typer.echo(format_call(len(calls), calls[-1]))
        gateway.history.append({"role": "assistant", "content": turn.answer})
        time.sleep(pause)
    calls.append(gateway.ask(QUESTION))
    typer.echo(format_call(len(calls), calls[-1]))
    typer.echo("\n" + "\n".join(describe_savings(calls)))
    last = calls[-1]
    if last.session and last.is_compacted:
        typer.echo("\n" + "\n".join(describe_evidence(gateway.load_last_call(last.session))))
    typer.echo("\n" + "\n".join(describe_places(gateway, last)))
    if not any(call.is_compacted for call in calls):
        raise DemoError(TOO_WIDE if last.outcome != OBSERVED else f"Nothing was changed: {last.reason}.")


def read_call(messages: int, headers: Mapping[str, str], document: Any, url: str) -> Call:
    """Read what the gateway tells of a call. Small requests are not counted: the provider's count stands in.

    Raises:
        DemoError: there is no compaction at the address.
    """
    if HEADER not in headers:
        raise DemoError(
            f"What answers at {url} does not load the plugin (its answer has no header {HEADER}): another"
            " proxy may have the port; name the gateway's with --url or --port."
        )
    body = document if isinstance(document, dict) else {}
    reported = (body.get("usage") or {}).get("prompt_tokens") or 0
    choices = body.get("choices") or [{}]
    sent = _to_number(headers.get(f"{HEADER}-tokens-before"), reported)
    after = _to_number(headers.get(f"{HEADER}-tokens-after"), sent)
    # In shadow mode the header tells what would have been sent; the model got what came.
    observed = headers[HEADER] == OBSERVED
    return Call(
        messages,
        sent=sent,
        received=sent if observed else after,
        outcome=headers[HEADER],
        reason=headers.get(f"{HEADER}-reason", ""),
        level=headers.get(f"{HEADER}-level"),
        version=headers.get(f"{HEADER}-version"),
        session=headers.get(f"{HEADER}-session"),
        answer=str((choices[0].get("message") or {}).get("content") or ""),
        would=after if observed else None,
    )


def format_call(number: int, call: Call) -> str:
    """Return a call as one line of the table."""
    told = f"{call.outcome} ({call.reason})" if call.reason else call.outcome
    told += f", version {call.version}" if call.version else ""
    told += f": {call.would:,} tokens" if call.would is not None and call.would != call.sent else ""
    saved = f"{(call.sent - call.received) / call.sent:.0%}" if call.sent > call.received else "–"
    cells = (number, call.messages, f"{call.sent:,}", f"{call.received:,}", saved, call.level or "–")
    return COLUMNS.format(*cells, format_cell(told, 120)).rstrip()


def describe_savings(calls: Sequence[Call]) -> Iterator[str]:
    """Say what all calls come to."""
    sent, received = sum(c.sent for c in calls), sum(c.received for c in calls)
    compacted = [n for n, call in enumerate(calls, 1) if call.is_compacted]
    yield (
        f"{len(calls)} calls: the client sent {sent:,} tokens, the model got {received:,};"
        f" {(sent - received) / sent if sent else 0:.0%} saved, by the gateway's count."
    )
    if compacted:
        verb = "was" if len(compacted) == 1 else "were"
        yield f"{len(compacted)} of them {verb} compacted, from call {compacted[0]} on."
    if any(call.would is not None for call in calls):
        would = sum(c.received if c.would is None else c.would for c in calls)
        yield (
            f"In shadow mode the model gets what came. Enforced, it would have got {would:,} tokens,"
            f" {(sent - would) / sent if sent else 0:.0%} less."
        )


def describe_evidence(last_call: Mapping[str, Any]) -> Iterator[str]:
    """Say where in the messages that the model got the answer to the last question stands."""
    yield f'The last question: "{QUESTION}"'
    saw = [str(m.get("content") or "") for m in last_call.get("model") or () if isinstance(m, Mapping)]
    if not saw:
        yield "What the model got is not stored: that takes storage.content: full in the policy."
        return
    yield f"It was told in call {TOLD_IN_TURN}, whose messages are {_tell_fate(last_call)}."
    for evidence in EVIDENCE:
        text = next((text for text in reversed(saw) if evidence in text), None)
        yield f"  {evidence}: {f'the model saw it {_quote(text, evidence)}' if text else MISSING}"
    kept = any(RULE in text for text in saw)
    yield f'  The rule of call 1, "{RULE}": {"the model saw it" if kept else MISSING}'


def describe_places(gateway: Gateway, last: Call) -> Iterator[str]:
    """Say where to look at exactly this session."""
    program = program_name()
    if last.session:
        yield f"The page of this conversation:  {gateway.url}/compaction/ui/sessions/{last.session}"
        yield f"The same from a terminal:       {program} buffers show {gateway.label} --url {gateway.url}"
    else:
        yield f"The page:  {gateway.url}/compaction/ui"


def _tell_fate(last_call: Mapping[str, Any]) -> str:
    """Say what became of the user message that told the answer."""
    # A preamble of one message; every turn before had two.
    index = 1 + 2 * (TOLD_IN_TURN - 1)
    sent = last_call.get("sent") or ()
    fate = sent[index][2] if len(sent) > index else "unknown"
    told = {"covered": "covered by a summary", "recalled": "covered by a summary, and quoted from"}
    return told.get(fate, str(fate))


def _quote(text: str, evidence: str) -> str:
    """Return a passage around the evidence on one line, with the part of the prompt that it stands in."""
    at = text.index(evidence)
    part = "in a message"
    if "<conversation_summary" in text[:at]:
        part = "in the summary"
    if "<recall" in text[:at]:
        part = "in a quoted passage (<recall>)"
    before, after = text[max(0, at - AROUND) : at], text[at : at + len(evidence) + AROUND]
    return f'{part}: "…{escape_terminal(" ".join(f"{before}{after}".split()))}…"'


def _to_number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdigit() else default


def _read_json(answer: Any) -> Any:
    try:
        return answer.json()
    except ValueError:
        return answer.text


def _read_error(document: Any) -> str:
    found = document.get("error", document) if isinstance(document, dict) else document
    text = found.get("message", found) if isinstance(found, dict) else found
    return " ".join(str(text).split())[:ERROR_CHARS]
