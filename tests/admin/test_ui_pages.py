"""The pages over the wire: who sees them, what they hold, and what they refuse."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from gateway_compaction.adapters.litellm.models import ProxyModels, RouterSummarizer
from gateway_compaction.adapters.policy_watcher import PolicySource
from gateway_compaction.admin.dependencies import STATE, Parts
from gateway_compaction.admin.mount import describe_health
from gateway_compaction.admin.origin import COOKIE
from gateway_compaction.admin.sign_ins import MOST_FAILURES, SignIns
from gateway_compaction.admin.ui import forms as doing
from gateway_compaction.admin.ui import routes
from gateway_compaction.admin.ui.actions import pin_mark
from gateway_compaction.admin.ui.render import STATIC
from gateway_compaction.archive import SessionDetail
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.runtime import build
from gateway_compaction.settings import Settings
from tests.admin.conftest import bearer
from tests.admin.looking import looked
from tests.admin.memory_archive import MemoryArchive, MemorySignIns
from tests.admin.people import MASTER
from tests.admin.scenes import FIRST_PIN, SCRIPT, hostile, long_talk

pytestmark = pytest.mark.usefixtures("keyed")
UI = "/compaction/ui"
CONTENT = "text/html; charset=utf-8"
OWN = "tr.1"
PIN = "never deploy on Fridays"
# Of every page that names a session: what it needs to be asked.
SESSION_PAGES = {
    ("GET", f"{UI}/sessions/{{id}}"): "",
    ("GET", f"{UI}/sessions/{{id}}/live"): "",
    ("GET", f"{UI}/sessions/{{id}}/versions/{{number}}"): "",
    ("GET", f"{UI}/sessions/{{id}}/preview"): "?keep_last=3",
    ("GET", f"{UI}/sessions/{{id}}/continue"): "?snapshot=1",
    ("GET", f"{UI}/sessions/{{id}}/transcript"): "?page=1",
    ("GET", f"{UI}/sessions/{{id}}/export"): "",
    ("GET", f"{UI}/sessions/{{id}}/do/{{name}}"): "",
    ("POST", f"{UI}/sessions/{{id}}/do/{{name}}"): "",
}
OTHERS = {
    ("GET", UI),
    ("GET", f"{UI}/live"),
    ("GET", f"{UI}/sessions"),
    ("GET", f"{UI}/static/{{name}}"),
    ("GET", f"{UI}/signin"),
    ("POST", f"{UI}/signin"),
    ("POST", f"{UI}/signout"),
}
ACTIONS: dict[str, dict[str, str]] = {
    "compact": {},
    "rebuild": {},
    "rollback": {"version": "1"},
    "pin": {"text": "Ann decides"},
    "unpin": {"pin": pin_mark(PIN)},
    "reset": {},
    "forget": {},
}


@pytest.fixture
def sign_ins() -> MemorySignIns:
    """Who is signed in, as the store has it."""
    return MemorySignIns()


@pytest.fixture
def parts(parts: Parts, sign_ins: MemorySignIns) -> Parts:
    """The parts, with a store of sign-ins that the test sees."""
    return replace(parts, sign_ins=SignIns(sign_ins))


@pytest.fixture
async def browser(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client that keeps cookies and says where its requests come from, as browsers do."""
    headers = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost:4000", headers=headers
    ) as client:
        yield client


async def sign_in(browser: httpx.AsyncClient, key: str, wanted: str = "") -> httpx.Response:
    """Give a key at the page that asks for one."""
    return await browser.post(f"{UI}/signin", data={"key": key, "next": wanted})


async def csrf(browser: httpx.AsyncClient) -> str:
    """The token that every page of a signed-in browser holds."""
    found = re.search(r'name="csrf" value="([^"]+)"', (await browser.get(UI)).text)
    assert found is not None
    return found[1]


class TestSigningIn:
    """From a key to a cookie."""

    async def test_without_a_key_every_page_leads_there(self, browser: httpx.AsyncClient) -> None:
        answer = await browser.get(f"{UI}/sessions/tr.1")
        assert answer.status_code == 303
        assert answer.headers["location"] == f"{UI}/signin?next=%2Fcompaction%2Fui%2Fsessions%2Ftr.1"
        part = await browser.get(f"{UI}/sessions/tr.1/live", headers={"hx-request": "true"})
        assert part.status_code == 204 and part.headers["hx-redirect"].startswith(f"{UI}/signin")

    async def test_a_key_opens_the_page_that_was_wanted(self, browser: httpx.AsyncClient) -> None:
        answer = await sign_in(browser, "sk-red-1", f"{UI}/sessions/tr.1")
        assert (answer.status_code, answer.headers["location"]) == (303, f"{UI}/sessions/tr.1")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "path=/compaction" in cookie
        assert (await browser.get(f"{UI}/sessions/tr.1")).status_code == 200

    @pytest.mark.parametrize("key", ["", "sk-nobody", "sk-blocked", "x" * 2000, "sk-\x00", "ключ"])
    async def test_another_key_does_not(self, browser: httpx.AsyncClient, key: str) -> None:
        answer = await sign_in(browser, key)
        assert answer.status_code == 401 and "does not accept" in answer.text
        assert "set-cookie" not in answer.headers and (not key or key not in answer.text)

    @pytest.mark.parametrize(
        "wanted", ["https://evil.example", "//evil.example", f"{UI}evil", "/", f"{UI}/\\evil", "javascript:1"]
    )
    async def test_it_leads_nowhere_else(self, browser: httpx.AsyncClient, wanted: str) -> None:
        assert (await sign_in(browser, "sk-red-1", wanted)).headers["location"] == UI

    async def test_another_site_cannot_sign_anybody_in(self, browser: httpx.AsyncClient) -> None:
        answer = await browser.post(
            f"{UI}/signin", data={"key": "sk-red-1"}, headers={"sec-fetch-site": "cross-site"}
        )
        assert answer.status_code == 403 and "set-cookie" not in answer.headers

    async def test_signing_out_takes_the_cookie_back(self, browser: httpx.AsyncClient) -> None:
        await sign_in(browser, "sk-red-1")
        assert (await browser.post(f"{UI}/signout", data={"csrf": "wrong"})).status_code == 403
        token = await csrf(browser)
        secret = browser.cookies[COOKIE]
        answer = await browser.post(f"{UI}/signout", data={"csrf": token})
        assert answer.status_code == 303 and COOKIE not in browser.cookies
        assert (await browser.get(UI)).status_code == 303
        browser.cookies.set(COOKIE, secret, path="/compaction")
        assert (await browser.get(UI)).status_code == 303, "a copy of the cookie is of no use either"

    async def test_neither_the_browser_nor_the_store_has_the_key(
        self, browser: httpx.AsyncClient, sign_ins: MemorySignIns
    ) -> None:
        await sign_in(browser, "sk-red-1")
        first = browser.cookies[COOKIE]
        await sign_in(browser, "sk-red-1")
        assert first != browser.cookies[COOKIE] and len(sign_ins.kept) == 1, "the former one has ended"
        [(name, sealed)] = sign_ins.kept.items()
        held = f"{name} {sealed} {base64.b64decode(sealed)!r} {browser.cookies[COOKIE]}"
        assert "sk-red" not in held and browser.cookies[COOKIE] not in f"{name} {sealed}"
        await sign_in(browser, "sk-red-2")
        [(other, text)] = sign_ins.kept.items()
        sign_ins.kept[other] = sealed
        assert (await browser.get(UI)).status_code == 303, "sealed for another sign-in"
        sign_ins.kept[other] = f"A{text[1:]}" if text[0] != "A" else f"B{text[1:]}"
        assert (await browser.get(UI)).status_code == 303, "changed"

    async def test_keys_cannot_be_guessed_at_any_rate(self, browser: httpx.AsyncClient) -> None:
        for _ in range(15):
            await sign_in(browser, "sk-red-1")
        guesses = [(await sign_in(browser, f"sk-{number}")).status_code for number in range(12)]
        assert guesses == [401] * MOST_FAILURES + [429] * 2
        refused = await sign_in(browser, "sk-red-1")
        assert refused.status_code == 429 and "in a minute" in refused.text
        assert "set-cookie" not in refused.headers

    async def test_without_the_store_nobody_is_signed_in_or_out(
        self, browser: httpx.AsyncClient, sign_ins: MemorySignIns
    ) -> None:
        await sign_in(browser, "sk-red-1")
        sign_ins.down = True
        answer = await browser.get(UI)
        assert answer.status_code == 503 and "The store does not answer" in answer.text
        sign_ins.down = False
        assert (await browser.get(UI)).status_code == 200


class TestRoles:
    """Nobody sees what is not theirs."""

    def test_every_page_is_walked(self) -> None:
        declared = {
            (method, route.path)
            for router in (routes.router, doing.router)
            for route in router.routes
            if isinstance(route, APIRoute)
            for method in route.methods
        }
        assert declared == set(SESSION_PAGES) | OTHERS

    @pytest.mark.parametrize("key", ["sk-red-admin", "sk-red-1", "sk-blue-1", "sk-ruth", "sk-claims", MASTER])
    @pytest.mark.parametrize("route", SESSION_PAGES, ids=" ".join)
    async def test_foreign_sessions_are_as_missing_ones(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, route: tuple[str, str], key: str
    ) -> None:
        await sign_in(browser, key)
        token = await csrf(browser)
        own = {
            "sk-red-admin": {"tr.1", "tr.2"},
            "sk-red-1": {"tr.1"},
            "sk-blue-1": {"tb.1"},
            "sk-ruth": {"tu.1"},
            "sk-claims": set[str](),
            MASTER: {"tr.1", "tr.2", "tb.1", "tu.1"},
        }[key]
        answers: dict[bool, list[httpx.Response]] = {True: [], False: []}
        for name in ("tr.9", "tr.1", "tr.2", "tb.1", "tu.1"):
            path = route[1].replace("{id}", name).replace("{number}", "1").replace("{name}", "compact")
            sent = {"data": {"csrf": token}} if route[0] == "POST" else {}
            answers[name in own].append(
                await browser.request(route[0], path + SESSION_PAGES[route], **sent)  # type: ignore[arg-type]
            )
        assert {answer.status_code for answer in answers[True]} <= {200, 303}
        missing = answers[False]
        assert {answer.status_code for answer in missing} <= {404, 286}
        assert len({answer.text for answer in missing}) == 1
        assert {name for _, name, _ in archive.actions} == (own if route[0] == "POST" else set())

    async def test_lists_and_sums_hold_ones_own_only(self, browser: httpx.AsyncClient) -> None:
        await sign_in(browser, "sk-red-1")
        for path in (UI, f"{UI}/sessions", f"{UI}/live", f"{UI}/sessions?text=label-tb"):
            page = await browser.get(path)
            assert page.status_code == 200
            assert not {"Blue", "tb.1", "label-tu-1", "unknown"} & set(re.findall(r"[\w.-]+", page.text))

    @pytest.mark.parametrize("key", ["sk-viewer", "sk-looks"])
    async def test_who_may_only_look_is_offered_nothing_else(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, key: str
    ) -> None:
        await sign_in(browser, key)
        page = await browser.get(f"{UI}/sessions/tu.1")
        assert page.status_code == 200 and "/do/" not in page.text
        assert (await browser.get(f"{UI}/sessions/tu.1/do/forget")).status_code == 403
        data = {"csrf": await csrf(browser)}
        assert (await browser.post(f"{UI}/sessions/tu.1/do/forget", data=data)).status_code == 403
        assert archive.actions == []

    async def test_a_header_works_too(self, client: httpx.AsyncClient) -> None:
        answer = await client.get(f"{UI}/sessions", headers=bearer("sk-red-1"))
        assert answer.status_code == 200 and "label-tr-1" in answer.text


class TestDeeds:
    """Asked for, confirmed, done."""

    @pytest.mark.parametrize("name", ACTIONS)
    async def test_each_is_confirmed_and_done(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, name: str
    ) -> None:
        await sign_in(browser, "sk-red-1")
        data = {"csrf": await csrf(browser), **ACTIONS[name]}
        question = await browser.get(f"{UI}/sessions/{OWN}/do/{name}", params=ACTIONS[name])
        assert question.status_code == 200
        page = looked(question.text)
        assert f"{UI}/sessions/{OWN}/do/{name}" in page.values("action")
        assert page.tags.count("li") >= 2 and archive.actions == []
        part = await browser.get(
            f"{UI}/sessions/{OWN}/do/{name}", params=ACTIONS[name], headers={"hx-request": "true"}
        )
        assert "<html" not in part.text and "<form" in part.text
        done = await browser.post(f"{UI}/sessions/{OWN}/do/{name}", data=data)
        assert done.status_code == 303, done.text
        assert [(action, session) for action, session, _ in archive.actions] == [(name, OWN)]
        after = await browser.get(done.headers["location"])
        assert after.status_code == 200
        if name != "forget":
            assert 'role="status">' in after.text and looked(after.text).tags.count("p") > 1

    @pytest.mark.parametrize("sent", [{}, {"csrf": ""}, {"csrf": "wrong"}, {"csrf": "ü"}])
    async def test_only_forms_of_this_page_count(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, sent: dict[str, str]
    ) -> None:
        await sign_in(browser, "sk-red-1")
        answer = await browser.post(f"{UI}/sessions/{OWN}/do/forget", data={"x": "1", **sent})
        assert answer.status_code == 403 and archive.actions == []

    async def test_another_keys_token_does_not_count(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        await sign_in(browser, "sk-red-2")
        token = await csrf(browser)
        await sign_in(browser, "sk-red-1")
        answer = await browser.post(f"{UI}/sessions/{OWN}/do/forget", data={"csrf": token})
        assert answer.status_code == 403 and archive.actions == []

    async def test_another_site_cannot_post(self, browser: httpx.AsyncClient, archive: MemoryArchive) -> None:
        await sign_in(browser, "sk-red-1")
        data = {"csrf": await csrf(browser)}
        answer = await browser.post(
            f"{UI}/sessions/{OWN}/do/reset", data=data, headers={"sec-fetch-site": "cross-site"}
        )
        assert answer.status_code == 403 and archive.actions == []

    async def test_a_refusal_is_said_where_it_was_asked(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        await sign_in(browser, "sk-red-1")
        data = {"csrf": await csrf(browser), "text": "one"}
        for number in range(19):
            await browser.post(f"{UI}/sessions/{OWN}/do/pin", data={**data, "text": f"pin {number}"})
        answer = await browser.post(f"{UI}/sessions/{OWN}/do/pin", data={**data, "text": "one <b>too many"})
        assert answer.status_code == 409 and "there are 20 pins already" in answer.text
        assert "one &lt;b&gt;too many" in answer.text

    @pytest.mark.parametrize("path", ["do/destroy", "do/rollback?version=9", "do/unpin?pin=0", "versions/9"])
    async def test_what_is_not_there(self, browser: httpx.AsyncClient, path: str) -> None:
        await sign_in(browser, "sk-red-1")
        answer = await browser.get(f"{UI}/sessions/{OWN}/{path}")
        assert answer.status_code == 404 and "<h1>Not there</h1>" in answer.text

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            ("do/rollback?version=9", "The session has no version 9; there are: 2, 1."),
            ("do/unpin?pin=0", "The session has no such pin; it has 1 pin."),
            ("versions/9", "The session has no version 9; there are: 2, 1."),
        ],
    )
    async def test_what_is_there_instead_is_said_to_who_may_see_it(
        self, browser: httpx.AsyncClient, path: str, told: str
    ) -> None:
        await sign_in(browser, "sk-red-1")
        assert told in (await browser.get(f"{UI}/sessions/{OWN}/{path}")).text
        await sign_in(browser, "sk-blue-1")
        foreign = looked((await browser.get(f"{UI}/sessions/{OWN}/{path}")).text)
        assert "or it is not yours to see" in foreign.words and told not in foreign.words

    async def test_a_form_without_end_is_not_read(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        await sign_in(browser, "sk-red-1")
        data = {"csrf": await csrf(browser), "text": "x" * 100_000}
        answer = await browser.post(f"{UI}/sessions/{OWN}/do/pin", data=data)
        assert answer.status_code == 413 and archive.actions == []

    @pytest.mark.parametrize("path", ["signin", f"sessions/{OWN}/do/pin", "signout"])
    async def test_a_form_of_too_many_fields_is_refused_on_a_page(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, path: str
    ) -> None:
        await sign_in(browser, "sk-red-1")
        fields = {"csrf": (None, await csrf(browser)), **{f"f{n}": (None, "x") for n in range(20)}}
        answer = await browser.post(f"{UI}/{path}", files=fields)
        assert answer.status_code == 400 and answer.headers["content-type"] == CONTENT
        assert "Too many fields" in looked(answer.text).words and archive.actions == []


class TestHarm:
    """Text by strangers, and the rules that browsers are given."""

    async def test_every_answer_has_the_policy(self, browser: httpx.AsyncClient) -> None:
        answers = [await browser.get(f"{UI}/signin"), await browser.get(f"{UI}/sessions")]
        await sign_in(browser, "sk-red-1")
        paths = ("", "/live", "/sessions", f"/sessions/{OWN}", f"/sessions/{OWN}/live", "/sessions/zz.1")
        answers += [await browser.get(UI + path) for path in paths]
        for answer in answers:
            told = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
            assert told["default-src"] == "'none'" and told["script-src"] == told["style-src"] == "'self'"
            assert told["connect-src"] == told["form-action"] == "'self'"
            assert told["frame-ancestors"] == told["base-uri"] == "'none'"
            assert "unsafe" not in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize("name", STATIC)
    async def test_scripts_and_styles_are_here(self, browser: httpx.AsyncClient, name: str) -> None:
        answer = await browser.get(f"{UI}/static/{name}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(STATIC[name])
        assert "immutable" in answer.headers["cache-control"] and len(answer.content) > 100

    @pytest.mark.parametrize("name", ["..%2Frender.py", "nothing.js", "ui.css%00"])
    async def test_nothing_else_is(self, browser: httpx.AsyncClient, name: str) -> None:
        assert (await browser.get(f"{UI}/static/{name}")).status_code == 404

    async def test_nothing_written_by_strangers_becomes_markup(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        session_id = archive.add(hostile())
        await sign_in(browser, MASTER)
        mark = pin_mark(hostile().steering.pins[0])
        paths = [
            "",
            "/sessions",
            f"/sessions/{session_id}",
            f"/sessions/{session_id}/live",
            f"/sessions/{session_id}/versions/1",
        ]
        paths += [f"/sessions/{session_id}/versions/2", f"/sessions/{session_id}/preview?keep_last=2"]
        archive.transcripts[session_id] = [{"role": SCRIPT, "content": SCRIPT}, {"type": SCRIPT, "x": SCRIPT}]
        paths += [f"/sessions/{session_id}/transcript"]
        paths += [f"/sessions/{session_id}/continue", f"/sessions/{session_id}/continue?snapshot=1"]
        paths += [
            f"/sessions/{session_id}/do/{name}"
            for name in ("rollback?version=1", "forget", f"unpin?pin={mark}")
        ]
        for path in paths:
            answer = await browser.get(UI + path)
            assert answer.status_code == 200, path
            self._harmless(answer.text)
        shown = looked((await browser.get(f"{UI}/sessions/{session_id}")).text)
        assert SCRIPT in shown.text and "⟨ESC⟩" in shown.text and "⟨RLO⟩gnp.exe" in shown.text
        assert "{{7*7}}" in shown.text

    @staticmethod
    def _harmless(page: str) -> None:
        found = looked(page)
        assert not {"style", "img", "iframe", "object", "embed", "base"} & set(found.tags)
        assert found.tags.count("script") in (0, 2)
        assert all(src.startswith(f"{UI}/static/") for src in found.values("src"))
        names = {name for _, name, _ in found.attributes}
        assert "style" not in names and not any(name.startswith(("on", "hx-on")) for name in names)
        assert not any(value.strip().lower().startswith("javascript:") for value in found.values("href"))
        for name in ("href", "action", "hx-get"):
            assert all(v.startswith(("/compaction/ui", "?", "#")) for v in found.values(name)), name
        hidden = {c for c in page if unicodedata.category(c) in ("Cc", "Cs", "Cf", "Zl", "Zp")} - {"\n", "\t"}
        assert not hidden

    async def test_a_megabyte_is_cut_with_a_way_to_the_rest(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        session_id = archive.add(hostile())
        await sign_in(browser, MASTER)
        page = await browser.get(f"{UI}/sessions/{session_id}")
        assert len(page.content) < 300_000 and "THE-END" not in page.text
        assert "Cut here, at 20,000 of 1,000," in page.text
        assert f"{UI}/sessions/{session_id}/export" in looked(page.text).values("href")

    async def test_the_endpoint_of_the_last_call_is_told(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        session_id = archive.add(long_talk())
        await sign_in(browser, MASTER)
        page = (await browser.get(f"{UI}/sessions/{session_id}")).text
        assert "<dt>Endpoint</dt><dd><bdi>messages</bdi>" in page
        # Beside the messages of the call too: a session may change its endpoint.
        assert ", through messages<span" in page
        assert (
            '<span class="quiet" title="the endpoint of its last call">messages</span>'
            in (await browser.get(f"{UI}/sessions")).text
        )

    async def test_the_filter_is_shown_as_it_was_typed(self, browser: httpx.AsyncClient) -> None:
        await sign_in(browser, MASTER)
        page = await browser.get(f"{UI}/sessions", params={"text": f'"><{SCRIPT}', "sort": '"x', "dir": "<"})
        assert page.status_code == 200 and "No session matches" in page.text
        self._harmless(page.text)
        assert f'"><{SCRIPT}' in looked(page.text).values("value")


class TestLive:
    """Parts that follow what happens."""

    @pytest.mark.parametrize("path", [f"/sessions/{OWN}/live", "/sessions", "/live?hours=72"])
    async def test_what_has_not_changed_is_not_sent(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, path: str
    ) -> None:
        await sign_in(browser, "sk-red-1")
        ask = {"hx-request": "true"}
        first = await browser.get(UI + path, headers=ask)
        assert first.status_code == 200 and "<html" not in first.text
        etag = first.headers["etag"]
        assert etag in first.text
        again = await browser.get(UI + path, headers={**ask, "if-none-match": etag})
        assert again.status_code == 304 and again.content == b""
        archive.hours = archive.hours * 2
        archive.add(one_call_later(archive))
        changed = await browser.get(UI + path, headers={**ask, "if-none-match": etag})
        assert changed.status_code == 200 and changed.headers["etag"] != etag

    async def test_a_session_that_is_gone_is_asked_for_no_more(self, browser: httpx.AsyncClient) -> None:
        await sign_in(browser, "sk-red-1")
        answer = await browser.get(f"{UI}/sessions/tr.404/live", headers={"hx-request": "true"})
        assert answer.status_code == 286 and "no longer there" in answer.text

    async def test_going_back_in_a_browser_gives_the_whole_page(self, browser: httpx.AsyncClient) -> None:
        await sign_in(browser, "sk-red-1")
        headers = {"hx-request": "true", "hx-history-restore-request": "true"}
        assert "<html" in (await browser.get(f"{UI}/sessions", headers=headers)).text


class TestPolicyFile:
    """What the first page says while the policy file cannot be used."""

    SAID = "The policy file cannot be used as it is now; the last good policies stay in force."
    GOOD = "version: 1\ndefaults: {mode: observe}\n"

    @pytest.fixture
    async def source(self, app: FastAPI, parts: Parts, tmp_path: Path) -> AsyncIterator[PolicySource]:
        """The policies of a process, from a file, told by the health of that process."""
        file = tmp_path / "policies.yaml"
        file.write_text(self.GOOD, encoding="utf-8")
        source = PolicySource(file)
        runtime = build(Settings(), ProxyModels(lambda: None), RouterSummarizer(lambda: None), source)
        setattr(app.state, STATE, replace(parts, health=lambda: describe_health(runtime)))
        yield source
        await runtime.aclose()

    @staticmethod
    def write(source: PolicySource, text: str) -> None:
        """A changed file counts once two looks have found the same."""
        assert source.state.path is not None
        source.state.path.write_text(text, encoding="utf-8")
        for _ in range(2):
            source.reload_if_changed()

    @pytest.mark.parametrize("path", ["", "/live"])
    @pytest.mark.parametrize(
        ("key", "why"), [(MASTER, True), ("sk-viewer", True), ("sk-red-admin", False), ("sk-red-1", False)]
    )
    async def test_for_as_long_as_it_is_so(
        self, browser: httpx.AsyncClient, source: PolicySource, key: str, why: bool, path: str
    ) -> None:
        await sign_in(browser, key)
        fine = await browser.get(UI + path)
        assert self.SAID not in fine.text
        self.write(source, "version: 1\ndefaults: {mod: <b>observe}\n")
        headers = {"if-none-match": fine.headers.get("etag", "")}
        for _ in range(2):
            bad = await browser.get(UI + path, headers=headers)
            assert bad.status_code == 200 and self.SAID in bad.text
            assert ("defaults.mod" in bad.text) is why and ("policies.yaml" in bad.text) is why
            assert "<b>" not in bad.text
        self.write(source, self.GOOD)
        assert self.SAID not in (await browser.get(UI + path)).text


class TestPreview:
    """Looking changes nothing."""

    async def test_values_to_try(self, browser: httpx.AsyncClient, archive: MemoryArchive) -> None:
        await sign_in(browser, "sk-red-1")
        kept = archive.known[OWN]
        answer = await browser.get(f"{UI}/sessions/{OWN}/preview", params={"keep_last": "3", "target": "0.3"})
        assert answer.status_code == 200
        page = looked(answer.text)
        assert "Would have been sent" in page.words and "keep_last: 3" in page.text
        assert archive.known[OWN] is kept and archive.actions == []

    async def test_what_a_new_conversation_would_be_told(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        await sign_in(browser, "sk-red-1")
        kept = archive.known[OWN]
        state = ClientState(plan="the second plan", files=("a.py",))
        archive.add(replace(kept, client_state=state, row=replace(kept.row, model="it's $(a) model")))
        session = looked((await browser.get(f"{UI}/sessions/{OWN}")).text)
        assert "the second plan" in session.words and "Continue in a new conversation" in session.words
        now = looked((await browser.get(f"{UI}/sessions/{OWN}/continue")).text)
        assert "ACTIVE PLAN (told): the second plan" in now.text and "the client told it" in now.words
        assert f"x-conversation-restore: {OWN}'" in now.text and "What has changed since" not in now.words
        command = now.text[now.text.index('curl "$') :]
        assert "it'\"'\"'s $(a) model" in command and "before rebuild, the first plan" in now.words
        then = looked((await browser.get(f"{UI}/sessions/{OWN}/continue?snapshot=1")).text)
        assert "ACTIVE PLAN (told): the first plan" in then.text and "What has changed since" in then.words
        assert f"x-conversation-restore: {OWN}@1'" in then.text
        assert (await browser.get(f"{UI}/sessions/{OWN}/continue?snapshot=2")).status_code == 404
        assert archive.actions == []

    async def test_the_rate_of_a_key(self, browser: httpx.AsyncClient, archive: MemoryArchive) -> None:
        await sign_in(browser, "sk-red-1")
        sent = {"csrf": await csrf(browser), "text": "0.2", "for_key": "1"}
        answer = await browser.post(f"{UI}/sessions/{OWN}/do/rate", data=sent)
        assert answer.status_code == 303, answer.text
        detail = archive.known[OWN]
        assert (detail.key_rate, detail.steering.rate) == (0.2, None)
        words = looked((await browser.get(f"{UI}/sessions/{OWN}")).text).words
        assert "Rate 0.2 was set for the next summaries of its key" in words

    async def test_the_whole_of_a_conversation_that_is_kept_here(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        await sign_in(browser, "sk-red-1")
        assert "Whole conversation" not in looked((await browser.get(f"{UI}/sessions/{OWN}")).text).words
        kept = archive.known[OWN]
        archive.add(replace(kept, row=replace(kept.row, labels=("conv_1",))))
        assert "Whole conversation" in looked((await browser.get(f"{UI}/sessions/{OWN}")).text).words
        said = [{"role": "user", "content": f"message {n}."} for n in range(1, 203)]
        archive.transcripts[OWN] = [{"role": "system", "content": "Be brief."}, *said]
        page = f"{UI}/sessions/{OWN}/transcript"
        last = looked((await browser.get(page)).text)
        assert "202 messages" in last.words and "page 3 of 3" in last.words
        assert [f"message {n}." in last.words for n in (199, 200, 202)] == [False, True, True]
        assert f"{page}?page=2" in last.values("href") and f"{page}?page=4" not in last.values("href")
        first = looked((await browser.get(f"{page}?page=1")).text)
        assert "system Be brief. 1 user message 1." in first.words and "message 99." in first.words
        assert "message 100." not in first.words and f"{page}?page=2" in first.values("href")
        for beyond, shown in ((-5, 1), (9_999, 3)):
            assert f"page {shown} of 3" in looked((await browser.get(f"{page}?page={beyond}")).text).words
        archive.transcripts[OWN] = [{"type": "function_call", "name": "look", "arguments": "{}"}]
        items = looked((await browser.get(page)).text)
        assert "1 messages" in items.words and 'function_call {"name": "look"' in items.words
        archive.transcripts[OWN] = []
        assert "No call of this conversation has ended yet" in looked((await browser.get(page)).text).words

    @pytest.mark.parametrize(
        "query", ["target=x", "target=0.9&keep_last=1", "keep_last=-1", "use_rate=1&rate=9"]
    )
    async def test_values_that_cannot_be(self, browser: httpx.AsyncClient, query: str) -> None:
        await sign_in(browser, "sk-red-1")
        answer = await browser.get(f"{UI}/sessions/{OWN}/preview?{query}")
        assert answer.status_code == 200 and 'class="notice warn"' in answer.text


class TestStoreDown:
    """A sentence, not a stack."""

    @pytest.mark.parametrize("path", ["", "/sessions", f"/sessions/{OWN}", f"/sessions/{OWN}/do/forget"])
    async def test_pages(self, browser: httpx.AsyncClient, archive: MemoryArchive, path: str) -> None:
        await sign_in(browser, "sk-red-1")
        archive.down = True
        answer = await browser.get(UI + path)
        assert answer.status_code == 503 and answer.headers["content-type"] == CONTENT
        page = looked(answer.text)
        assert "The store does not answer" in page.words
        assert not re.search(r"Traceback|redis://|10\.0\.0\.7", answer.text)

    async def test_a_fault_of_ours_is_a_page_that_tells_nothing(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, caplog: pytest.LogCaptureFixture
    ) -> None:
        await sign_in(browser, MASTER)
        archive.hours = [object()]  # type: ignore[list-item]
        answer = await browser.get(UI)
        assert (answer.status_code, answer.headers["content-type"]) == (500, CONTENT)
        assert "Something went wrong here" in answer.text and "object" not in looked(answer.text).words
        assert "a fault while answering" in caplog.text

    async def test_the_log_says_what_did_not_answer(
        self, browser: httpx.AsyncClient, archive: MemoryArchive, caplog: pytest.LogCaptureFixture
    ) -> None:
        await sign_in(browser, "sk-red-1")
        archive.down = True
        await browser.get(UI)
        said = [r.getMessage() for r in caplog.records if r.name == "gateway_compaction"]
        assert len(said) == 1 and said[0].startswith("admin: no answer from the store: ")


class TestAddresses:
    """What somebody may type."""

    @pytest.mark.parametrize("path", ["/compaction", "/compaction/", f"{UI}/", f"{UI}//"])
    async def test_ways_to_the_first_page(self, browser: httpx.AsyncClient, path: str) -> None:
        answer = await browser.get(path)
        assert (answer.status_code, answer.headers["location"]) == (307, UI)

    async def test_a_slash_too_many(self, browser: httpx.AsyncClient) -> None:
        answer = await browser.get(f"{UI}/sessions/?team=a")
        assert (answer.status_code, answer.headers["location"]) == (307, f"{UI}/sessions?team=a")

    @pytest.mark.parametrize("method", ["GET", "POST"])
    @pytest.mark.parametrize("path", ["/nothing", "/sessions/a/b/c/d", "/<script>", "/..%2f..%2fetc"])
    async def test_where_no_page_is(self, browser: httpx.AsyncClient, method: str, path: str) -> None:
        answer = await browser.request(method, UI + path)
        assert answer.status_code == 404 and answer.headers["content-type"] == CONTENT
        page = looked(answer.text)
        assert "There is no page at this address." in page.words and page.tags.count("h1") == 1
        assert f"{UI}/sessions" in page.values("href")


class TestLooks:
    """What a person chose."""

    async def test_the_theme_is_a_cookies(self, browser: httpx.AsyncClient) -> None:
        assert "data-theme" not in (await browser.get(f"{UI}/signin")).text
        browser.cookies.set("gateway_compaction_theme", "dark")
        assert '<html lang="en" data-theme="dark">' in (await browser.get(f"{UI}/signin")).text
        browser.cookies.set("gateway_compaction_theme", '"><b>')
        assert "data-theme" not in (await browser.get(f"{UI}/signin")).text

    async def test_every_row_and_every_fate_is_there(
        self, browser: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        session_id = archive.add(long_talk())
        await sign_in(browser, MASTER)
        page = looked((await browser.get(f"{UI}/sessions/{session_id}")).text)
        for words in (
            "v3 messages 1–28 in use",
            "turns 1–14 · summary by a model",
            "15.3k → 1.08k tokens · rate 0.07",
            "94 %",
            "with the quotes of the last call",
            "messages 1–28, turns 1–14",
            FIRST_PIN,
            "levels.medium.target",
            "built-in default",
            "covered 26",
            "at level",
            "proxy admin, user ann",
        ):
            assert words in page.words, words
        assert all(name for tag, name, _ in page.attributes if tag == "svg")
        assert page.tags.count("h1") == 1


def one_call_later(archive: MemoryArchive) -> SessionDetail:
    """The session that the tests look at, after another call."""
    detail = archive.known[OWN]
    return replace(detail, row=replace(detail.row, calls=detail.row.calls + 1))


async def test_policies_in_metadata_that_cannot_be_used_are_for_proxy_admins(
    client: httpx.AsyncClient, app: FastAPI, parts: Parts
) -> None:
    async def problems() -> dict[str, int]:
        return {f"team metadata of <b>{number}</b>: mode": number for number in range(1, 9)}

    setattr(app.state, STATE, replace(parts, policy_problems=problems))
    page = (await client.get(UI, headers=bearer(MASTER))).text
    assert "8 requests were left alone: team metadata of &lt;b&gt;8" in page and "<b>8" not in page
    assert page.count("were left alone") == 5
    assert "were left alone" not in (await client.get(UI, headers=bearer("sk-red-1"))).text


async def test_windows_known_from_refusals_are_for_proxy_admins(
    client: httpx.AsyncClient, app: FastAPI, parts: Parts
) -> None:
    learned = {
        "id-1 openai/<b>gpt": LearnedWindow(3_000, at=(1_000_000.0,), model="openai/<b>gpt", declared=8_000),
        "id-2": LearnedWindow(None, None, 6_000, (1_000_000.0,), "openai/other"),
    }
    setattr(app.state, STATE, replace(parts, windows=lambda: learned))
    page = (await client.get(UI, headers=bearer(MASTER))).text
    assert "Windows known from refusals" in page and "3,000 told by the provider" in page
    assert "nothing passed, 6,000 was refused" in page and ">unknown<" in page and "12 Jan 13:46" in page
    assert "openai/&lt;b&gt;gpt" in page and "<b>gpt" not in page
    assert "Windows known" not in (await client.get(UI, headers=bearer("sk-red-1"))).text
