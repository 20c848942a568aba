"""Pictures of the pages. ``python -m tests.admin.screenshots`` makes those of the documentation anew."""

from __future__ import annotations

import asyncio
import re
from importlib.util import find_spec
from pathlib import Path

from playwright.async_api import Page, expect

from tests.admin.browsing import NARROW, WIDE, visiting
from tests.admin.gateway import ROOT, converse, converse_kept, demo_gateway, example
from tests.lab import Proxy
from tests.lab.proxy import MASTER_KEY

__all__ = ["take", "take_transcript"]

IMAGES = ROOT / "docs" / "images"
TALKS = (
    ("sk-support-1", "kitchen-and-hall", 82),
    ("sk-research-1", "rug-prices", 70),
    ("sk-legal-1", "terms", 60),
)
SETTLED = 1200


async def take(page: Page, folder: Path, label: str, name: str) -> list[Path]:
    """Four pages of whoever is signed in; nothing may stick out at the side.

    Raises:
        AssertionError: a page is wider than its window.
    """
    taken = []
    pages = (("overview", ""), ("sessions", "/sessions"), ("session", None), ("continue", None))
    for which, address in pages:
        if which == "continue":
            await page.locator("#do-continue").click()
            await expect(page.locator("#curl")).to_be_visible()
        elif address is None:
            await page.get_by_role("link", name=label).first.click()
            await expect(page.locator("#preview")).to_contain_text(re.compile("Would have been sent|No call"))
        else:
            await page.goto(f"/compaction/ui{address}")
        await page.wait_for_timeout(SETTLED)
        wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{which} is {wide} px too wide"
        path = folder / f"ui-{which}-{name}.png"
        # The page of a session is long: what is below says the same in every picture.
        height = min(await page.evaluate("document.documentElement.scrollHeight"), 1600)
        clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}  # type: ignore[index]
        await page.screenshot(path=path, full_page=True, clip=clip)  # type: ignore[arg-type]
        taken.append(path)
    return taken


async def take_transcript(page: Page, folder: Path, conversation: str, name: str) -> Path:
    """The last page of a conversation that the gateway keeps, by the button of its session."""
    await page.goto("/compaction/ui/sessions")
    await page.get_by_role("link", name=conversation).first.click()
    await page.locator("#do-transcript").click()
    await expect(page.locator("#transcript .msg").first).to_be_visible()
    await page.wait_for_timeout(SETTLED)
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"the conversation is {wide} px too wide"
    path = folder / f"ui-transcript-{name}.png"
    await page.screenshot(path=path)
    return path


async def _all(proxy: Proxy) -> None:
    for key, label, messages in TALKS:
        await converse(proxy, key, example(label, messages), label)
    conversation = await converse_kept(proxy, example("hall", 52))
    for theme in ("light", "dark"):
        for size in (WIDE, NARROW):
            async with visiting(proxy.url, size=size, color_scheme=theme) as visit:
                page = await visit.open("/compaction/ui/signin")
                await page.get_by_label("Key", exact=True).fill(MASTER_KEY)
                await page.get_by_role("button", name="Sign in").click()
                await take(page, IMAGES, TALKS[0][1], f"{theme}-{size[0]}")
                await take_transcript(page, IMAGES, conversation, f"{theme}-{size[0]}")


def main() -> None:
    """Write all of them into docs/images; with Pillow, in few colours, so that they are small."""
    IMAGES.mkdir(exist_ok=True)
    with demo_gateway() as proxy:
        asyncio.run(_all(proxy))
    if find_spec("PIL") is not None:
        from PIL import Image

        for path in IMAGES.glob("ui-*.png"):
            Image.open(path).convert("RGB").quantize(160).save(path, optimize=True)


if __name__ == "__main__":
    main()
