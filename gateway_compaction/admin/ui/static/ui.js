// What the pages do beyond htmx: theme, dialogs, sliders, and live parts that do not disturb the reader.
"use strict";
(() => {
  const root = document.documentElement;
  const body = document.body;
  const base = document.querySelector(".brand").getAttribute("href");
  const dialog = document.getElementById("dialog");
  const banner = document.getElementById("offline");

  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    const wanted = dark ? "light" : "dark";
    root.dataset.theme = wanted;
    document.cookie = `gateway_compaction_theme=${wanted}; path=${base}; max-age=31536000; samesite=strict`;
  });

  // A deed's confirmation opens as a dialog; without scripts it is a page of its own.
  body.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "dialog-body" && !dialog.open) dialog.showModal();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });

  body.addEventListener("input", (event) => {
    if (event.target.type !== "range") return;
    for (const label of event.target.labels) {
      const shown = label.querySelector("output");
      if (shown) shown.textContent = event.target.value;
    }
  });

  // Whoever marks text, or looks elsewhere, is not interrupted by a part that renews itself.
  let pressed = false;
  for (const [name, down] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
    document.addEventListener(name, () => { pressed = down; }, true);
  }
  const busy = (part) => {
    const marked = getSelection();
    const reads = !marked.isCollapsed && part.contains(marked.anchorNode);
    return document.hidden || dialog.open || pressed || reads;
  };
  // What a person asked for comes before what the page asks by itself, whichever answer is there first.
  const asked = new Set();
  const isLive = (element) => element.hasAttribute("data-live");
  document.addEventListener("htmx:beforeRequest", (event) => {
    const part = event.detail.elt;
    if (isLive(part) && (asked.size || busy(part))) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSend", (event) => {
    const { elt, xhr } = event.detail;
    if (isLive(elt)) return;
    asked.add(xhr);
    xhr.addEventListener("loadend", () => asked.delete(xhr));
  });
  body.addEventListener("htmx:beforeSwap", (event) => {
    const part = event.detail.requestConfig.elt;
    if (isLive(part) && (asked.size || busy(part) || !part.isConnected)) event.detail.shouldSwap = false;
    // Of two things that a person asked for, the first answer has replaced what the second one was for.
    const target = event.detail.target;
    if (!target.isConnected && target.id) event.detail.target = document.getElementById(target.id) ?? target;
  });

  // What was unfolded stays unfolded, and tables stay scrolled where they were.
  const kept = { open: new Map(), at: [] };
  body.addEventListener("htmx:beforeSwap", (event) => {
    const part = event.detail.target;
    if (part.id !== "live" || !event.detail.shouldSwap) return;
    kept.open = new Map([...part.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
    kept.at = [...part.querySelectorAll(".scroll, .cards")].map((one) => [one.scrollLeft, one.scrollTop]);
  });
  body.addEventListener("htmx:afterSettle", () => {
    const part = document.getElementById("live");
    if (!part) return;
    for (const one of part.querySelectorAll("details[id]")) {
      if (kept.open.has(one.id)) one.open = kept.open.get(one.id);
    }
    part.querySelectorAll(".scroll, .cards").forEach((one, at) => {
      [one.scrollLeft, one.scrollTop] = kept.at[at] ?? [0, 0];
    });
  });

  const tell = (sentence) => {
    banner.textContent = sentence;
    banner.hidden = !sentence;
  };
  body.addEventListener("htmx:sendError", () => tell("The gateway does not answer: what is shown may be old."));
  body.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    tell(status === 503
      ? "The store does not answer: what is shown may be old."
      : `The gateway answered ${status}: what is shown may be old.`);
  });
  body.addEventListener("htmx:afterOnLoad", (event) => { if (event.detail.xhr.status < 400) tell(""); });
})();
