"""The page in headless Chromium, before a real proxy: every action, a live conversation, nothing amiss."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.admin.browsing import NARROW, WIDE, chromium, visiting
from tests.admin.gateway import converse, converse_kept, demo_gateway, example
from tests.admin.scenes import SCRIPT
from tests.admin.screenshots import take, take_transcript
from tests.lab import Proxy, RedisServer
from tests.lab.proxy import MASTER_KEY

LABEL = "kitchen-and-hall"
# More than what the browser and the proxy need on an idle machine: tests share it with others.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def store() -> Iterator[RedisServer]:
    """A Redis of this module's own: it is stopped at the end."""
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="module")
def proxy(store: RedisServer) -> Iterator[Proxy]:
    """The proxy with the demo model."""
    chromium()
    with demo_gateway(store.url) as running:
        yield running


@pytest.fixture(scope="module")
def talked(proxy: Proxy) -> Proxy:
    """The same after one long conversation of team support."""
    import asyncio

    # Beside pytest's own loop, since this is done once for all tests.
    asyncio.run(converse(proxy, "sk-support-1", example(LABEL), LABEL))
    # Once more: what the last call was made to fit with, if it was, has a version then.
    asyncio.run(converse(proxy, "sk-support-1", example(LABEL), LABEL, begin=len(example(LABEL)) - 1))
    return proxy


async def sign_in(page: Page, key: str) -> None:
    """Type a key, as a person would."""
    await page.goto("/compaction/ui")
    await page.get_by_label("Key", exact=True).fill(key)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()


async def open_session(page: Page, label: str = LABEL) -> None:
    """From wherever to a session's page."""
    await page.get_by_role("link", name="Sessions", exact=True).first.click()
    await page.get_by_role("link", name=label).first.click()
    await expect(page.get_by_role("heading", name=label)).to_be_visible()


async def confirm(page: Page, button: str, told: str) -> None:
    """Press a button, read what it will mean, agree, and read that it was done."""
    await page.locator(button).first.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_be_visible()
    await expect(dialog.locator("li").first).not_to_be_empty()
    await dialog.locator("#confirm").click()
    await expect(page.locator('.notice[role="status"]')).to_contain_text(told)


class TestWalk:
    """What an operator does."""

    async def test_from_the_key_to_one_version(self, talked: Proxy) -> None:
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await page.goto("/compaction/ui")
            await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
            await sign_in(page, "sk-support-1")
            await expect(page.locator(".tile", has_text="Tokens saved").locator(".figure")).not_to_have_text(
                "0"
            )
            await expect(page.locator("svg[role=img] .s-saved").first).to_be_visible()
            await page.get_by_role("link", name="support").click()
            await expect(page.get_by_label("Team")).to_have_value("support")
            await open_session(page)
            assert await page.locator(".point").count() > 15
            await expect(page.locator(".version-card.current")).to_have_count(1)
            await expect(page.locator(".run.f-covered").first).to_be_attached()
            await expect(page.locator(".pair.block .badge.fate", has_text="summary")).to_be_visible()
            await expect(page.locator(".statistics .total").first).to_contain_text("%")
            await expect(page.locator("#records .record-card h3").first).to_contain_text("[turn")
            await expect(page.locator("#records .total")).to_contain_text("%")
            await page.locator(".version-card.current h3 a").click()
            await expect(page.get_by_role("heading", name=re.compile(r"^Version \d+"))).to_be_visible()
            await expect(page.locator(".segment").first).to_contain_text("messages 1–")
            assert visit.complaints == []

    async def test_filters_and_order_without_a_reload(self, talked: Proxy) -> None:
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await sign_in(page, MASTER_KEY)
            await page.get_by_role("link", name="Sessions", exact=True).click()
            await page.evaluate("window.same = true")
            await page.get_by_label("Text").fill("no such session")
            await expect(page.locator("#live .empty")).to_contain_text("No session matches")
            await page.get_by_label("Text").fill("kitchen")
            await expect(page.locator("#live tbody tr")).to_have_count(1)
            await page.get_by_role("link", name="Saved").click()
            await expect(page.locator('th[aria-sort="descending"]')).to_contain_text("Saved")
            assert "text=kitchen" in page.url and "sort=saved" in page.url
            assert await page.evaluate("window.same") is True
            await page.reload()
            await expect(page.get_by_label("Text")).to_have_value("kitchen")
            assert visit.complaints == []

    async def test_every_action(self, talked: Proxy, tmp_path: Path) -> None:
        await converse(talked, "sk-research-1", example("act-on-me"), "act-on-me")
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await sign_in(page, "sk-research-1")
            await open_session(page, "act-on-me")
            await page.locator("#do-forget").click()
            await expect(page.get_by_role("dialog")).to_be_visible()
            await page.keyboard.press("Escape")
            await expect(page.get_by_role("dialog")).to_be_hidden()
            await page.locator("#do-pin").click()
            await page.get_by_label("The fact").fill("Ann signs every order <b>herself</b>.")
            await page.locator("#confirm").click()
            await expect(page.locator(".pins")).to_contain_text("Ann signs every order <b>herself</b>.")
            await confirm(page, "#do-unpin-1", "no summary any more")
            await expect(page.locator(".pins")).to_have_count(0)
            await page.locator("#do-rate").click()
            await page.locator("#deed-text").fill("0.2")
            await page.locator("#confirm").click()
            await expect(page.locator("#live")).to_contain_text("Rate 0.2 was set for the next summaries")
            await page.locator("#do-rate").click()
            await page.locator("#deed-text").fill("0.3")
            await page.locator("#deed-key").check()
            await page.locator("#confirm").click()
            told = "Rate 0.3 was set for the next summaries of its key"
            await expect(page.locator("#live")).to_contain_text(told)
            await expect(page.locator("#live")).to_contain_text("for its key: 0.3, from the next summary on")
            await confirm(page, "#do-compact", "compacted though it would still fit")
            await expect(page.locator("#live")).to_contain_text("Asked to compact from the next call on")
            newest = page.locator(".version-card:not(.retired)")
            versions = await newest.count()
            assert versions >= 2, "the conversation is long enough for two summaries"
            await confirm(page, ".version-card:not(.current) .card-actions a", "uses this version")
            await confirm(page, "#do-rollback-0", "Every version is taken back")
            await expect(page.locator(".version-card.retired")).to_have_count(versions)
            await confirm(page, ".version-card.retired .card-actions a", "uses this version")
            await confirm(page, "#do-rebuild", "The source is not stored")
            async with page.expect_download() as download:
                await page.locator("#do-export").click()
            file = await (await download.value).path()
            assert json.loads(file.read_text())
            await page.get_by_role("link", name="Continue in a new conversation").click()
            told = page.get_by_label("What would be sent")
            await expect(told).to_have_value(re.compile(r"^<restored_conversation .*<summary>", re.DOTALL))
            await expect(page.locator("#curl")).to_have_value(re.compile(r"x-conversation-restore: \S+'"))
            # Each deed above that changed what is told has left the state of before it.
            await page.locator("#moments a").first.click()
            await expect(page.locator("#moments")).to_contain_text("What has changed since")
            await expect(page.locator("#curl")).to_have_value(
                re.compile(r"x-conversation-restore: \S+@[0-9]+'")
            )
            await page.get_by_role("link", name="act-on-me").click()
            await confirm(page, "#do-reset", "Compactions, pins and wishes are gone")
            events = page.locator("tr.audit")
            assert await events.count() >= 7
            await expect(events.first).to_contain_text("key ann-laptop")
            await page.locator("#do-forget").click()
            await page.locator("#confirm").click()
            await expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
            await expect(page.locator("#live")).not_to_contain_text("act-on-me")
            assert visit.complaints == []

    async def test_other_values_can_be_tried(self, talked: Proxy) -> None:
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await sign_in(page, "sk-support-1")
            await open_session(page)
            await expect(page.locator("#preview")).to_contain_text("Would have been sent")
            await page.get_by_label("Last messages kept").focus()
            await page.keyboard.press("ArrowLeft")
            await expect(page.locator("#yaml")).to_have_value(re.compile(r"keep_last: 9"))
            await expect(
                page.get_by_label("Last messages kept").locator("xpath=preceding::output[1]")
            ).to_have_text("9")
            await page.locator("#t-use").check()
            await expect(page.locator("#yaml")).to_have_value(re.compile(r"rate: 0\.3"))
            assert visit.complaints == []

    async def test_by_keyboard_and_without_scripts(self, talked: Proxy) -> None:
        async with visiting(talked.url) as visit:
            page = await visit.open("/compaction/ui/signin")
            await page.keyboard.type("sk-support-1")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
            await page.keyboard.press("Tab")
            assert await page.evaluate("document.activeElement.className") == "skip"
            await page.keyboard.press("Tab")
            await page.keyboard.press("Tab")
            await page.keyboard.press("Tab")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
            assert visit.complaints == []
        async with visiting(talked.url, java_script_enabled=False) as visit:
            page = await visit.open()
            await sign_in(page, "sk-support-1")
            await open_session(page)
            await page.locator("#do-compact").click()
            await expect(page.get_by_role("heading", name="Compact at the next call?")).to_be_visible()
            await page.get_by_role("link", name="Cancel").click()
            await expect(page.get_by_role("heading", name=LABEL)).to_be_visible()
            await page.locator("#signout").click()
            await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
            assert visit.complaints == []

    async def test_the_theme_stays(self, talked: Proxy) -> None:
        async with visiting(talked.url, color_scheme="light") as visit:
            page = await visit.open("/compaction/ui/signin")
            ground = "getComputedStyle(document.body).backgroundColor"
            light = await page.evaluate(ground)
            await page.locator("#theme").click()
            dark = await page.evaluate(ground)
            assert dark != light
            await page.reload()
            assert await page.evaluate(ground) == dark
            assert visit.complaints == []


class TestLive:
    """Open pages follow what happens."""

    async def test_a_running_conversation(self, talked: Proxy) -> None:
        talk = example("running-now")
        await converse(talked, "sk-support-1", talk[:50], "running-now", begin=46)
        async with visiting(talked.url) as visit:
            page, listed = await visit.open(), await visit.open()
            await sign_in(page, "sk-support-1")
            await open_session(page, "running-now")
            await listed.goto("/compaction/ui/sessions?text=running-now")
            for one in (page, listed):
                await one.evaluate("window.same = true")
            calls = page.locator(".tile", has=page.get_by_text("Calls", exact=True)).locator(".figure")
            points = await page.locator(".point").count()
            before = await calls.inner_text()
            await converse(talked, "sk-support-1", talk, "running-now", begin=51)
            await expect(calls).not_to_have_text(before)
            await expect(page.locator(".version-card").first).to_be_visible()
            await expect(page.locator(".point").nth(points + 5)).to_be_attached()
            await expect(listed.locator('td[data-name="Calls"]')).not_to_have_text(before)
            for one in (page, listed):
                assert await one.evaluate("window.same") is True
            assert visit.complaints == []

    async def test_what_is_unfolded_stays_so(self, talked: Proxy) -> None:
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await sign_in(page, "sk-support-1")
            await open_session(page)
            await page.locator(".pair.block summary").first.click()
            unfolded = page.locator(".pair.block details[open]")
            await expect(unfolded).to_have_count(1)
            mark = await page.locator("#live").get_attribute("hx-headers")
            await converse(talked, "sk-support-1", example(LABEL), LABEL, begin=80)
            await expect(page.locator("#live")).not_to_have_attribute("hx-headers", mark or "")
            await expect(page.locator(".pair.block details[open]").first).to_be_attached()
            assert visit.complaints == []


class TestHarm:
    """Strangers' text in a real browser."""

    async def test_nothing_runs(self, talked: Proxy) -> None:
        label = f"{SCRIPT}&#x202e;"
        talk = [{**m, "content": f"{SCRIPT}\x1b[2J\u202e {m['content']}"} for m in example(SCRIPT, 60)]
        await converse(talked, "sk-research-1", talk, label, begin=30)
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await sign_in(page, "sk-research-1")
            await page.goto("/compaction/ui/sessions")
            await page.locator("#live tbody th a").first.click()
            await expect(page.locator("h1")).to_contain_text("</script><script>alert(1)</script>")
            await page.locator(".pair.block summary").first.click()
            await expect(page.locator(".ctl", has_text="⟨RLO⟩").first).to_be_attached()
            assert await page.locator("main script, main img").count() == 0
            assert visit.complaints == []


@pytest.fixture(scope="module")
def kept(talked: Proxy) -> str:
    """The id of a conversation of team sales, which the gateway keeps: 104 messages."""
    import asyncio

    said = [{"role": "user", "content": f"Question {number} about the kitchen?"} for number in range(1, 53)]
    return asyncio.run(converse_kept(talked, said))


class TestWholeConversation:
    """A conversation that the gateway keeps, looked through."""

    @pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
    @pytest.mark.parametrize("theme", ["light", "dark"])
    async def test_it_is_walked_from_the_last_page_to_the_first(
        self, talked: Proxy, kept: str, tmp_path: Path, theme: str, size: tuple[int, int]
    ) -> None:
        async with visiting(talked.url, size=size, color_scheme=theme) as visit:
            page = await visit.open()
            await sign_in(page, MASTER_KEY)
            assert (await take_transcript(page, tmp_path, kept, f"{theme}-{size[0]}")).stat().st_size > 5_000
            transcript = page.locator("#transcript")
            await expect(transcript).to_contain_text("104 messages")
            await expect(transcript).to_contain_text("Question 52 about the kitchen?")
            await expect(transcript).not_to_contain_text("Question 50 about the kitchen?")
            await page.get_by_role("link", name="Earlier").first.click()
            await expect(transcript.locator(".msg")).to_have_count(100)
            await expect(transcript).to_contain_text("Question 1 about the kitchen?")
            await page.get_by_role("link", name="Later").first.click()
            await expect(transcript).to_contain_text("Question 52 about the kitchen?")
            assert visit.complaints == []

    async def test_another_conversation_has_no_such_button(self, talked: Proxy) -> None:
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await sign_in(page, MASTER_KEY)
            await open_session(page)
            await expect(page.locator("#do-continue")).to_be_visible()
            await expect(page.locator("#do-transcript")).to_have_count(0)


class TestPictures:
    """Pages as they look, wide and narrow, light and dark."""

    @pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
    @pytest.mark.parametrize("theme", ["light", "dark"])
    async def test_are_taken_and_fit(
        self, talked: Proxy, tmp_path: Path, theme: str, size: tuple[int, int]
    ) -> None:
        async with visiting(talked.url, size=size, color_scheme=theme) as visit:
            page = await visit.open()
            await sign_in(page, MASTER_KEY)
            taken = await take(page, tmp_path, LABEL, f"{theme}-{size[0]}")
            assert [path.name.split("-")[1] for path in taken] == [
                "overview",
                "sessions",
                "session",
                "continue",
            ]
            await page.get_by_role("link", name=LABEL).click()
            same = page.locator(".pairs > .pair.same")
            await expect(same.first.locator("> div:first-child .msg")).to_be_visible()
            # On a telephone, one below the other, what is the same stands once.
            await expect(same.first.locator("> div + div .msg")).to_be_visible(visible=size == WIDE)
            await expect(page.locator(".once")).to_be_visible(visible=size == NARROW)
            assert all(
                path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000 for path in taken
            )
            assert visit.complaints == []


class TestStoreDown:
    """Last, since the store does not come back."""

    async def test_a_sentence_and_what_was_seen_stays(self, talked: Proxy, store: RedisServer) -> None:
        async with visiting(talked.url) as visit:
            page = await visit.open()
            await sign_in(page, "sk-support-1")
            await open_session(page)
            store.stop()
            await expect(page.locator("#offline")).to_contain_text("The store does not answer")
            await expect(page.get_by_role("heading", name="Tokens per call")).to_be_visible()
            await page.goto("/compaction/ui/sessions")
            await expect(page.locator("#problem h1")).to_have_text("The store does not answer")
            visit.expect("503")
            assert visit.complaints == []
