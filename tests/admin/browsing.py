"""A real browser before the page of a real proxy: what it is told, what it asks, what it complains about."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Page, Request, async_playwright

from tests.lab.skips import skip_loudly

__all__ = ["NARROW", "WIDE", "Visit", "chromium", "visiting"]

WIDE, NARROW = (1280, 900), (390, 844)
# A driver of Chromium says this of every form with a password; it is advice, no fault.
ADVICE = ("[DOM] Password forms should have",)


@dataclass(slots=True)
class Visit:
    """One browser context. ``complaints`` gathers what must not be: errors, and requests to elsewhere."""

    context: BrowserContext
    host: str
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def open(self, address: str = "") -> Page:
        """A new page, watched from the beginning."""
        page = await self.context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda request: self._asked(request))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        if address:
            await page.goto(address)
        return page

    def expect(self, part: str) -> None:
        """Forget complaints that hold ``part``: the test has brought them about."""
        self.complaints[:] = [text for text in self.complaints if part not in text]

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not text.startswith(ADVICE):
            self.complaints.append(f"{kind}: {text}")

    def _asked(self, request: Request) -> None:
        self.asked.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self.host:
            self.complaints.append(f"asked elsewhere: {request.url}")


def chromium() -> str:
    """The system's Chromium; without one the test is skipped, loudly."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    skip_loudly("no chromium on this machine: nothing is known of the page in a browser")


@asynccontextmanager
async def visiting(url: str, **context: Any) -> AsyncIterator[Visit]:
    """A browser that knows nothing yet; at the end nothing may have been amiss."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=SWITCHES)
        try:
            yield await _context(browser, url, **context)
        finally:
            await browser.close()


# Without a sandbox of its own: tests run as root in containers. Nothing but our own pages is opened.
SWITCHES: Sequence[str] = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")


async def _context(browser: Browser, url: str, size: tuple[int, int] = WIDE, **options: Any) -> Visit:
    viewport = {"width": size[0], "height": size[1]}
    context = await browser.new_context(base_url=url, viewport=viewport, **options)  # type: ignore[arg-type]
    return Visit(context, urlsplit(url).netloc)
