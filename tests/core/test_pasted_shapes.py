"""What programs and other people wrote is told by its shape where no label stands above it; rules stay rules.

Both sets were written before the code that they try: bare prompts, posts, logs, recorded talk, agents that a
harness names. ``TALKS`` needs a conversation: a speaker's label is one only beside others.
"""

from __future__ import annotations

from typing import Any

import pytest

from gateway_compaction.core.pins.pins import collect_pins
from gateway_compaction.core.text.provenance import find_brought_in
from tests.core.test_hostile import given_up_after
from tests.core.test_pasted_text import ORDER, rules_of
from tests.core.test_pins import count

FORMS = {
    "zsh, bare": f"% cat CONTRIBUTING.md\n{ORDER}",
    "root, bare": f"# cat /etc/motd\n{ORDER}",
    "fish or npm, bare": f"> cat CONTRIBUTING.md\n{ORDER}",
    "npm": f"> app@1.0.0 notes\n> node notes.js\n\n{ORDER}",
    "powershell, root": f"PS C:\\> type CONTRIBUTING.md\n{ORDER}",
    "root, a pipe": f"# curl -s https://x.example/z | head -5\n{ORDER}",
    "alpine": f"/app # cat CONTRIBUTING.md\n{ORDER}",
    "busybox": f"~ # cat CONTRIBUTING.md\n{ORDER}",
    "old macOS": f"MacBook-Pro:app me$ cat CONTRIBUTING.md\n{ORDER}",
    "csh": f"web1% cat CONTRIBUTING.md\n{ORDER}",
    "a router": f"Router#show banner motd\n{ORDER}",
    "mariadb": f"MariaDB [(none)]> select note from n;\n{ORDER}",
    "oracle": f"SQL> select note from n;\n{ORDER}",
    "knowledge, one line": f"Knowledge base: {ORDER}\n\nQuestion: When is it?",
    "handbook, one line": f"Handbook: {ORDER}\nUser question: When is it?",
    "github": f"octocat commented 3 days ago\n{ORDER}",
    "github, a date": f"octocat commented on Nov 3, 2025\n{ORDER}",
    "github, a member": f"octocat\ncommented\n2 hours ago\nMember\n{ORDER}",
    "gitlab": f"Anna Berg @anna · 2 hours ago\nMaintainer\n{ORDER}",
    "gh": f"author:\toctocat\nassociation:\tmember\nedited:\tfalse\nstatus:\tnone\n--\n{ORDER}\n--",
    "jira": f"Anna Berg added a comment - 03/Nov/25 10:02 AM\n{ORDER}",
    "reddit": f"u/anna_b • 3h ago\n{ORDER}",
    "hacker news": f"anna_b 3 hours ago | parent | next [–]\n\n{ORDER}",
    "git log, one line each": f"3f1c0a9 {ORDER}\n8d7b6a5 Fix the build",
    "git log, a graph": f"* 3f1c0a9 (HEAD -> main) {ORDER}\n* 8d7b6a5 Fix the build",
    "git log, from its author on": (
        f"Author: Bob <bob@example.org>\nDate:   Mon Nov 3 10:12:01 2025 +0100\n\n    {ORDER}"
    ),
    "git reflog": f"3f1c0a9 HEAD@{{0}}: commit: {ORDER}",
    "git shortlog": f"Bob (2):\n      Fix the build\n      {ORDER}",
    "a log": f"2025-11-03 10:12:01 INFO notes: {ORDER}",
    "a log of github's": f"2025-11-03T10:12:01.1234567Z {ORDER}",
    "syslog": f"Nov  3 10:12:01 web1 notes[312]: {ORDER}",
    "docker compose": f"web-1  | {ORDER}\nweb-1  | ready",
    "http": f"HTTP/1.1 200 OK\nContent-Type: text/plain\n\n{ORDER}",
    "subtitles": f"1\n00:00:01,000 --> 00:00:04,000\n{ORDER}",
    "a transcript": f"0:01\nHello and welcome.\n0:05\n{ORDER}\n0:11\nThank you.",
    "a calendar": f"BEGIN:VEVENT\nSUMMARY:Release\nDESCRIPTION:{ORDER}\nEND:VEVENT",
    # A second set of 43, made up when the first one passed: 32 were pinned before, 21 at first sight, 5 now.
    # Those are not here: a front matter, "# docker logs web1", two heads of posts in social networks.
    "youtube": f"@anna_b\n2 weeks ago\n{ORDER}\n14\nReply",
    "gitlab, German": f"Anna Berg @anna · vor 2 Stunden\n{ORDER}",
    "github, German": f"octocat kommentierte vor 3 Tagen\n{ORDER}",
    "stack overflow": f"answered Nov 3, 2025 at 10:02\nanna\n1,234 3 gold\n{ORDER}",
    "bitbucket": f"Anna Berg\n2025-11-03\n{ORDER}",
    "linkedin": f"Anna Berg\n2nd degree\n3d\n{ORDER}",
    "a post with a handle": f"Anna Berg @anna · 3h\n{ORDER}",
    "a post, Korean": f"김안나 · 3일 전\n{ORDER}",
    "a post, Japanese": f"アンナ・3日前\n{ORDER}",
    "starship, behind its first line": f"me in app on main\n❯ cat a.md\n{ORDER}",
    "zsh, git": f"% git show HEAD\n{ORDER}",
    "zsh, npm": f"% npm run notes\n{ORDER}",
    "zsh, kubectl": f"% kubectl logs web-1\n{ORDER}",
    "Node": f"> fs.readFileSync('a.md', 'utf8')\n{ORDER}",
    "R": f'> readLines("a.md")\n{ORDER}',
    "a switch": f"sw1>show banner\n{ORDER}",
    "cmd, another drive": f"D:\\>type a.md\n{ORDER}",
    "pytest": f"E       AssertionError: {ORDER}",
    "a log of Kubernetes'": f"I1103 10:12:01.123456       1 notes.go:12] {ORDER}",
    "a log of Go's": f"2025/11/03 10:12:01 {ORDER}",
    "apache": f'127.0.0.1 - - [03/Nov/2025:10:12:01 +0000] "GET /{ORDER}"',
    "logfmt": f'ts=2025-11-03T10:12:01Z level=info msg="{ORDER}"',
    "logcat": f"11-03 10:12:01.123  1234  1234 I Notes: {ORDER}",
    "a level and its logger": f"INFO:root:{ORDER}",
    "a level in brackets": f"[INFO] {ORDER}",
    "WEBVTT": f"WEBVTT\n\n00:01.000 --> 00:04.000\n{ORDER}",
    "a transcript on lines of its own": f"[00:01] Hello.\n[00:05] {ORDER}\n[00:11] Bye.",
    "zoom": f"Anna Berg 00:01:12\n{ORDER}\n\nBen 00:02:00\nOk.",
    "vcard": f"BEGIN:VCARD\nNOTE:{ORDER}\nEND:VCARD",
    "curl, verbose": f"* Connected\n> GET / HTTP/1.1\n< HTTP/1.1 200 OK\n< Content-Type: a/b\n\n{ORDER}",
    "csv": f"id,note\n1,{ORDER}\n2,Ok",
    "toml": f'[notes]\ntext = "{ORDER}"',
    "mercurial": f"changeset:   12:3f1c0a9\nuser:        Bob\nsummary:     {ORDER}",
    "gh json": f'{{"body": "{ORDER}"}}',
    "a hunk": f"@@ -1 +1,2 @@\n Hello.\n+{ORDER}",
    "rss": f"<item><description>{ORDER}</description></item>",
    "a transcript by role": f"Human: hi\nAssistant: {ORDER}",
    # A third set of 50: 30 were pinned at first sight, 15 now. What is left says nowhere what it is: a title
    # above an address, "Ticket #4711", "Clipboard:", a by-line, a file that is only mentioned (@a.md).
    "3: claude code read": (
        f'Called the Read tool with the following input: {{"file_path": "/a.md"}}\n\n'
        f'Result of calling the Read tool: "{ORDER}"'
    ),
    "3: claude task": f"Subagent finished. Its final report:\n\n{ORDER}",
    "3: codex": f"Chunk ID: 3f1c0a\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:\n{ORDER}",
    "3: gemini cli": (
        f"--- Content from referenced files ---\nContent from @CONTRIBUTING.md:\n{ORDER}\n"
        "--- End of content ---"
    ),
    "3: opencode": f"<file>\n00001| {ORDER}\n</file>",
    "3: copilot": f'<attachment id="CONTRIBUTING.md">\n{ORDER}\n</attachment>',
    "3: aider": (
        "I have *added these files to the chat* so you can go ahead and edit them.\n\n"
        f"CONTRIBUTING.md\n```\n{ORDER}\n```"
    ),
    "3: librechat": (
        "The user has attached files to the conversation:\n<documents>\n"
        f"<document>{ORDER}</document>\n</documents>"
    ),
    "3: openwebui": (
        "### Task:\nRespond to the user query using the provided context.\n\n<context>\n"
        f'<source id="1">{ORDER}</source>\n</context>\n\nWhen is it?'
    ),
    "3: perplexity": (
        f"[1] Release notes (https://x.example/r)\n{ORDER}\n\n[2] Other (https://x.example/o)\nOk."
    ),
    "3: tavily": f"Title: Release\nURL: https://x.example/r\nContent: {ORDER}",
    "3: arxiv": f"Published: 2025-11-03\nTitle: Release\nAuthors: Bob\nSummary: {ORDER}",
    "3: sql": f"[('{ORDER}',)]",
    "3: sql table": f" id | note\n----+------\n  1 | {ORDER}\n(1 row)",
    "3: pandas": f"   id  note\n0   1  {ORDER}\n1   2  Ok",
    "3: markdown table": f"| id | note |\n|---|---|\n| 1 | {ORDER} |",
    "3: yaml": f"note: |\n  {ORDER}\nid: 1",
    "3: jira fields": f"Key: PROJ-1\nStatus: Open\nReporter: Bob\nDescription: {ORDER}",
    "3: zendesk": f"Bob Berg (bob@example.org) wrote:\n\n{ORDER}",
    "3: whisper": f"Speaker 1: Hello.\nSpeaker 2: {ORDER}\nSpeaker 1: Ok.",
    "3: ocr": f"OCR result: {ORDER}",
    "3: selection": f"Selected text:\n{ORDER}",
    "3: selection2": f"Selected text from README.md (lines 1-3):\n{ORDER}",
    "3: web clip": f"Source: https://x.example/r\n\n{ORDER}",
    "3: quote lines": f"Bob said:\n> {ORDER}",
    "3: a2a": f"Message received from agent `critic` (task 12): {ORDER}",
    "3: n8n": f'Output of node "HTTP Request":\n{ORDER}',
    "3: memory tool": f"Retrieved memory (score 0.87): {ORDER}",
    "3: rag score": f"(score: 0.91) {ORDER}",
    "3: rag brackets": f"[doc1] {ORDER}",
    "3: rag chunk": f"[chunk 3 / contributing.md]\n{ORDER}",
    "3: de mail": f"Am Mo., 3. Nov. 2025 um 10:12 Uhr schrieb Bob <bob@example.org>:\n{ORDER}",
    "3: fr result": f"Résultats de la recherche :\n{ORDER}",
    "3: zh search": f"搜索结果：\n{ORDER}",
    "3: ja mail": f"差出人: ボブ <bob@example.org>\n件名: リリース\n\n{ORDER}",
}

OWN = {
    "a heading": "# Code style\nNever use tables.",
    "a heading that orders": "# Always answer in French",
    "a heading, small": "# style\nNever use tables.",
    "a heading, a tool": "# git\nNever rewrite the history. Always squash before a merge.",
    "a heading, a command": "# npm\nAlways use pnpm instead, in every answer.",
    "a heading of two words": "# unit tests\nAlways write them with pytest.",
    "a number sign": "#1 Never use tables.\n#2 Always answer in French.",
    "an answer quoted": "> The table has three columns.\nNever use tables.",
    "an answer quoted, small": "> use a table here\n\nNever use tables.",
    "percent": "% signs: never write them, always spell the word out.",
    "a placeholder": "%d and %s in strings: never translate them.",
    "a topic": "[Backend]: always use Go.",
    "two topics": "[Backend]: always use Go.\n[Frontend]: always use React.",
    "a topic with a question": "Style: never use tables. Always be brief.\n\nQuestion: When is it?",
    "a topic with one rule and a question": "Backend: always use Go.\n\nQuestion: how do I read a file?",
    "a date": "2025-11-03: from now on always answer in French.",
    "an appointment": "10:00 standup: always start with the numbers.",
    "somebody who asked": "Anna asked for this 3 days ago.\nAlways answer in French.",
    "since when": "We started 3 days ago.\nNever use tables.",
    "a status": "HTTP 404 errors: always log them.",
    "a commit": "commit 3f1c0a9 broke it. Never deploy it again.",
    "a hash": "3f1c0a9 broke the build.\nAlways squash commits before a merge.",
    "a bar": "a | b means either. Never use tables.",
    "a path": "/app is the folder of the app. Never touch it.",
    "an author": "Author: use my full name.\nNever use tables.",
    "a dash": "- Never use tables.\n- Always answer in French.",
    "a command named": "Run `npm test` first.\nAlways show me its output.",
    "a command in a line": "npm test is slow, so never run it without asking.",
    "behind a bare prompt": "% npm test\n3 failed, 12 passed in 3.1s\n\nFrom now on never use var.",
    "behind a log": "2025-11-03 10:12:01 ERROR worker: refused\n\nFrom now on never use var.",
    "behind a post": "octocat commented 3 days ago\nThe build is red.\n\nFrom now on never use var.",
    "a time in a line": "Stand-up is at 10:02:11, never later.",
    "korean": "# 말투\n앞으로는 항상 존댓말로 답해 주세요.",
    "german": "# Stil\nAntworte ab jetzt immer auf Deutsch.",
    "behind a date in words": "Anna 3 days ago told me so.\nNever use tables.",
    "a deadline": "Deadline: yesterday\nNever use tables.",
    "a heading, one word of a command": "# deploy\nNever deploy on Friday, always on Monday.",
    "a heading that points": "# see the guide\nNever use tables.",
    "a version": "Version 2 · 3 May 2025\nNever use tables.",
    "two times": "10:00 Stand-up\n11:00 Review\nAlways start on time, in every plan.",
    "a share": "% of revenue\nAlways give it with two decimals.",
    "a language with a sharp": "C# records\nAlways use them for DTOs.",
    "a number": "Use Python 3.11 from now on.\nNever use var.",
    "two words and a dot": "anna · design\nNever use tables.",
    "a greater sign between words": "Python > JavaScript\nAlways use Python for scripts.",
    "since yesterday": "Since yesterday\nthe build is red. Never merge when it is red.",
    "numbered": "1. Never use tables.\n2. Always answer in French.",
    "3: project": "Name: Anna\nRepo: https://x.example/r\nRule: never push to main.",
    "3: project 2": "Repo: https://x.example/r\nStack: Go\nStyle: never use panics.",
    "3: project 3": "Repo: https://x.example/r\nBranch: main\nTicket: ABC-12\n\nNever push to main.",
    "3: project 4": "Repo: https://x.example/r\nBranch: main\nTicket: ABC-12\nNever push to main.",
    "3: list": "1. Read https://x.example/r\n2. Never push to main.",
    "3: steps": "Step 1: read the file.\nStep 2: never push to main.",
    "3: options": "Option A: Go\nOption B: Rust\nAlways choose the cheaper one.",
    "3: rules twice": "Rule 1: never push.\nRule 2: never use var.\nRule 1: never push, really.",
    "3: profile": "Name: Anna\nRole: nurse\nTone: always be formal.",
    "3: paren": "(Always answer in French.)",
    "3: fields": "Frontend: React\nBackend: Go\nTests: always run them before a commit.",
    "3: score": "The score (0.91) is low. Never show scores.",
    "3: doc": "Docs: always in English.",
    "3: transcripts": "Transcripts: never shorten them.",
    "3: selected": "Only selected text: never change the rest.",
    "3: table ask": "a | b\nNever use tables like this one.",
    "3: yaml": "style: brief\nNever use tables.",
    "3: de": "Projekt: https://x.example/r\nSprache: Go\nStil: nie Tabellen verwenden.",
}


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **fields}


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **fields}


TASK, ANSWER = "Fix the failing build.", "I look at it."
RULE = "From now on never use var."
# Conversations in which another agent gives the order, and such in which a person does.
TALKS = {
    "autogen": [user(TASK, name="user_proxy"), said(ANSWER, name="coder"), user(ORDER, name="critic")],
    "autogen, capitals": [user(TASK, name="Admin"), said(ANSWER, name="Coder"), user(ORDER, name="Critic")],
    "autogen, the task has no name": [user(TASK), said(ANSWER, name="coder"), user(ORDER, name="critic")],
    "named beside a person without a name": [user(TASK), said(ANSWER), user(ORDER, name="Critic")],
    "brackets": [user(TASK), said(ANSWER), user(f"[Critic]: {ORDER}"), said(ANSWER), user("[Critic]: Good.")],
    "brackets, two agents": [
        user(TASK),
        said(ANSWER),
        user("[Planner]: Read the file."),
        said(ANSWER),
        user(f"[Critic]: {ORDER}"),
    ],
    "brackets, the assistant too": [
        user(TASK),
        said(f"[Coder]: {ANSWER}"),
        user(f"[Critic]: {ORDER}"),
    ],
    "names, the assistant too": [
        user(f"Anna: {TASK}"),
        said(f"Coder: {ANSWER}"),
        user(f"Critic: {ORDER}"),
        said("Coder: Done."),
    ],
}
OWN_TALKS = {
    "autogen's person": [
        user(TASK, name="user_proxy"),
        said(ANSWER, name="coder"),
        user(RULE, name="user_proxy"),
    ],
    "one name": [user(TASK, name="anna"), said(ANSWER), user(RULE, name="anna")],
    "a group of people": [user(TASK, name="anna"), said(ANSWER), user(RULE, name="ben")],
    "a name once": [user(TASK, name="anna"), said(ANSWER), user(RULE)],
    "a topic": [user(TASK), said(ANSWER), user("[Backend]: always use Go.")],
    "topics from the beginning": [
        user("[Build]: fix it."),
        said(ANSWER),
        user("[Backend]: always use Go."),
        said(ANSWER),
        user("[Backend]: never use panics."),
    ],
    "a person with a label": [
        user(f"Anna: {TASK}"),
        said(f"Coder: {ANSWER}"),
        user(f"Anna: {RULE}"),
        said("Coder: Done."),
    ],
    "kinds of words": [
        user(TASK),
        said(ANSWER),
        user("[Note]: never use tables."),
        said(ANSWER),
        user("[Rule]: always use Go."),
    ],
    "an assistant that labels": [user(TASK), said(f"Answer: {ANSWER}"), user("Style: never use tables.")],
}


def pinned(talk: list[dict[str, Any]]) -> tuple[str, ...]:
    return collect_pins(talk, 100, 400, count).rules


@pytest.mark.parametrize("form", FORMS)
def test_an_order_that_was_brought_in_is_no_rule_of_the_user_s(form: str) -> None:
    assert not [rule for rule in rules_of(FORMS[form]) if "push" in rule or "release" in rule]


@pytest.mark.parametrize("form", OWN)
def test_what_a_person_writes_is_a_rule_of_hers(form: str) -> None:
    assert rules_of(OWN[form])


@pytest.mark.parametrize("talk", TALKS)
def test_what_another_agent_says_is_no_rule_of_the_user_s(talk: str) -> None:
    assert pinned(TALKS[talk]) == ()


@pytest.mark.parametrize("talk", OWN_TALKS)
def test_what_people_say_is_a_rule_whatever_names_there_are(talk: str) -> None:
    assert pinned(OWN_TALKS[talk])


REPEATED = (
    "% cat a.md\n",
    "# cat a.md | head\n",
    "> f(x)\n",
    "octocat commented 3 days ago\nHi.\n",
    "Anna\n3h ago\n",
    "3f1c0a9 Fix it\n\n",
    "web1  | ready\n",
    "web1  | ready\nx\n",
    "0:01\nHi.\n",
    "2025-11-03 10:12:01 INFO x\n\n",
    "2025-11-03 10:12:01 INFO x\nHi.\n",
    "HTTP/1.1 200 OK\nA: b\n\n",
    "BEGIN:VCARD\n",
    "a:\tb\n\n",
    "Bob (2):\n      Fix\n\n",
    "Human: Hi\n\n",
    "Speaker 1: Hi\n",
    "A: 2025-11-03\n",
    "A: b\n",
    "a: |\n  b\n",
    " a | b\n---+---\n",
    "0  a\n",
    "[1] a (https://x.example)\n",
)


@pytest.mark.parametrize("repeated", REPEATED)
def test_it_is_looked_for_in_time_that_is_linear(repeated: str) -> None:
    with given_up_after(2.0):
        find_brought_in(repeated * 4_000)


@pytest.mark.parametrize(
    "text",
    [
        "HTTP/1.1 404: always log it.\nNever use tables.",
        "BEGIN:V\nNever use tables.",
        "web1 | one service\nNever use tables.",
        "Bob (2):\nNever use tables.",
        "10:00\nNever use tables.\n11:00\nBreak",
        "Style\nyesterday",
        "> f(x)\n\nNever call it.",
        "# npm test -- --watch\n\nNever run it.",
        "Rules#always use them\nNever use tables.",
        "a: |\nNever use tables.",
        "0  columns\nNever use tables.",
    ],
)
def test_what_only_looks_like_it_is_a_person_s(text: str) -> None:
    assert find_brought_in(text) == []


def test_what_a_person_writes_behind_it_is_hers() -> None:
    answer = 'HTTP/1.1 500 Oops\nContent-Type: application/json\n\n{"error": 1}'
    card = "BEGIN:VCARD\nNOTE:Call her.\nEND:VCARD"
    shown = "> app@1.0.0 test\n> node test.js\n\n3 failed, 12 passed in 3.1s"
    logged = "2025-11-03 10:12:01 ERROR refused\n  at x.js:1\n2025-11-03 10:12:02 INFO retry"
    for pasted in (answer, card, shown, logged):
        assert rules_of(f"{pasted}\n\n{RULE}") == (RULE,)
    assert rules_of(f"{logged}\n{RULE}") == rules_of(f"{logged}\n  at y.js:2\n{RULE}") == (RULE,)


def test_a_record_that_was_cut_goes_on_to_the_end() -> None:
    assert rules_of(f"BEGIN:VCARD\nNOTE:{ORDER}") == ()
