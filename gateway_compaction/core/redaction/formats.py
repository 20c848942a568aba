"""Secrets that are told by how they look: each provider gives its keys a prefix of its own.

The beginnings are the providers' documented ones; the lengths are a lower bound of theirs. Exact lengths, as
scanners of source code have them, miss what a provider has lengthened since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A key of random characters holds more different ones; ``sk-xxxxxxxxxxxx`` is an example's.
LEAST_KINDS = 7


@dataclass(frozen=True, slots=True)
class Format:
    """Secrets of one provider.

    Attributes:
        kind: as the mark names it.
        prefixes: how they begin, exactly.
        rest: what follows, as a regular expression.
        is_random: the rest is random characters, among them a digit.
    """

    kind: str
    prefixes: tuple[str, ...]
    rest: str
    is_random: bool = True


def _format(kind: str, prefixes: str, rest: str, *, is_random: bool = True) -> Format:
    return Format(kind, tuple(prefixes.split()), rest, is_random)


WORD, URL, BASE64 = r"[A-Za-z0-9_]", r"[A-Za-z0-9_-]", r"[A-Za-z0-9+/_-]"
FORMATS = (
    # Models.
    _format("anthropic-api-key", "sk-ant-", rf"{URL}{{16,}}"),
    _format("openrouter-api-key", "sk-or-", rf"{URL}{{20,}}"),
    _format("openai-api-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"{URL}{{20,}}"),
    _format("openai-api-key", "sk-", r"(?:[a-z]{2,12}-)?[A-Za-z0-9]{16,}"),
    _format("langfuse-key", "sk-lf- pk-lf-", r"[0-9a-f-]{30,}"),
    _format("google-api-key", "AIza", rf"{URL}{{30,}}"),
    _format("google-oauth-token", "ya29. 1//0", rf"{URL}{{20,}}"),
    _format("google-client-secret", "GOCSPX-", rf"{URL}{{20,}}"),
    _format("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}", is_random=False),
    _format("replicate-token", "r8_", r"[A-Za-z0-9]{30,}"),
    _format("groq-api-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _format("xai-api-key", "xai-", r"[A-Za-z0-9]{40,}"),
    _format("perplexity-api-key", "pplx-", r"[A-Za-z0-9]{32,}"),
    _format("nvidia-api-key", "nvapi-", rf"{URL}{{40,}}"),
    _format("fireworks-api-key", "fw_", r"[A-Za-z0-9]{22,}"),
    _format("langsmith-api-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    _format("tavily-api-key", "tvly-", rf"{URL}{{20,}}"),
    # Clouds.
    _format("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}", is_random=False),
    _format("aws-bedrock-key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{60,}={0,2}"),
    _format("alibaba-access-key", "LTAI", r"[A-Za-z0-9]{16,}"),
    _format("tencent-access-key", "AKID", r"[A-Za-z0-9]{32,}"),
    _format("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{60,}"),
    _format("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    _format("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[\w=.-]{30,}"),
    _format("supabase-key", "sbp_ sb_secret_", rf"{URL}{{20,}}"),
    _format("fly-token", "fo1_ fm1r_ fm1a_ fm2_", rf"{BASE64}{{40,}}={{0,3}}"),
    _format("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    _format("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.", r"(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{36,}"),
    _format("vault-token", "hvs. hvb. hvr.", rf"{URL}{{20,}}"),
    _format("cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    _format("heroku-key", "HRKU-", rf"{URL}{{36,}}"),
    _format("tailscale-key", "tskey-", rf"{URL}{{20,}}"),
    _format("openshift-token", "sha256~", rf"{URL}{{43}}"),
    _format("1password-token", "ops_eyJ", rf"{BASE64}{{80,}}={{0,3}}"),
    _format("1password-secret-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{5,6}(?:-[A-Z0-9]{5,6}){3,4}"),
    _format("age-secret-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    # Code and packages.
    _format("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,}"),
    _format("github-token", "github_pat_", rf"{WORD}{{40,}}"),
    _format("gitlab-token", "glpat- gldt- glrt- glptt- glagent- gloas- glsoat- glft- glimt-", r"[\w.-]{20,}"),
    _format("gitlab-token", "GR1348941", rf"{URL}{{20,}}"),
    _format("npm-token", "npm_", r"[A-Za-z0-9]{30,}"),
    _format("pypi-token", "pypi-AgE", rf"{URL}{{40,}}"),
    _format("rubygems-token", "rubygems_", r"[0-9a-f]{48}"),
    _format("docker-token", "dckr_pat_ dckr_oat_", rf"{URL}{{20,}}"),
    _format("atlassian-token", "ATATT3 ATCTT3 ATBB", rf"{URL}{{20,}}=?[0-9A-F]{{0,8}}"),
    _format("artifactory-key", "AKCp", r"[A-Za-z0-9]{60,}"),
    _format("artifactory-key", "cmVmd", r"[A-Za-z0-9]{59}"),
    _format("linear-api-key", "lin_api_", r"[A-Za-z0-9]{30,}"),
    _format("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _format("figma-token", "figd_", rf"{URL}{{20,}}"),
    _format("postman-api-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _format("sonar-token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}"),
    _format("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    # Money.
    _format("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"[A-Za-z0-9]{10,}"),
    _format("webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    _format("square-token", "sq0atp- sq0csp- EAAAE", rf"{URL}{{22,}}"),
    _format("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _format("plaid-token", "access-sandbox- access-production- access-development-", r"[0-9a-f-]{36}"),
    # Messages.
    _format("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xoxb- xoxe.xoxp-", r"[\w-]{10,}"),
    _format("slack-token", "xapp-", r"\d-[\w-]{20,}"),
    _format("sendgrid-key", "SG.", r"[\w-]{16,}\.[\w-]{16,}"),
    _format("sendinblue-key", "xkeysib-", r"[0-9a-f]{60,}-[A-Za-z0-9]{12,}"),
    _format("mailgun-key", "key-", r"[0-9a-f]{32}"),
    _format("twilio-key", "SK", r"[0-9a-f]{32}"),
    _format("facebook-token", "EAAC EAAG EAAM EAAB", r"[A-Za-z0-9]{60,}"),
    # Watching.
    _format("grafana-token", "glsa_ glc_ eyJrIjoi", r"[A-Za-z0-9+/_]{32,}={0,3}"),
    _format("sentry-token", "sntrys_ sntryu_", rf"{BASE64}{{40,}}={{0,2}}[\w+/]*"),
    _format("newrelic-key", "NRAK- NRJS- NRII-", rf"{URL}{{19,}}"),
    _format("dynatrace-token", "dt0c01. dt0s16.", r"[A-Z0-9a-z]{24}\.[A-Z0-9a-z]{64}"),
    _format("contentful-token", "CFPAT-", rf"{URL}{{40,}}"),
    _format("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    _format("adobe-secret", "p8e-", r"[A-Za-z0-9_-]{32}"),
)

# Every other form that needs no word before it: its kind, the literals of which it holds one, and the whole
# of it. The secret is the group ``secret`` where there is one. These hold a long word,
Shape = tuple[str, tuple[str, ...], re.Pattern[str]]
LONG_SHAPES: tuple[Shape, ...] = (
    (
        "private-key",
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:(?!-----)[\s\S]){0,20000}-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:\s|\\[nr]|[A-Za-z0-9+/=:,-](?!----)){16,})"
        ),
    ),
    (
        "private-key",
        ("Private-Lines:",),
        re.compile(r"Private-Lines: \d+(?P<secret>(?:\s+[A-Za-z0-9+/=]{16,})+)"),
    ),
    (
        "jwt",
        ("eyJ", "ZXlK"),
        re.compile(
            r"(?:eyJ|ZXlK)[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
            r"(?:\.[A-Za-z0-9_-]+){0,2}|[A-Za-z0-9_-]{20,})"
        ),
    ),
    (
        "aws-secret-key",
        ("AKIA", "ASIA"),
        re.compile(
            r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])[^+]{0,120}?"
            r"(?<![A-Za-z0-9+/=])(?P<secret>(?=[^\d\s]{0,39}\d)[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"
        ),
    ),
    ("firebase-key", (":APA91b",), re.compile(r"[A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{30,}")),
    ("telegram-token", (":AA",), re.compile(r"(?:bot)?(?P<secret>\d{8,10}:AA[A-Za-z0-9_-]{32,34})")),
    ("mailchimp-key", ("-us",), re.compile(r"[0-9a-f]{32}-us\d{1,2}(?!\d)")),
    ("azure-client-secret", ("Q~",), re.compile(r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}")),
    ("terraform-token", (".atlasv1.",), re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}")),
    ("maxmind-key", ("_mmk",), re.compile(r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk")),
    (
        "slack-webhook",
        ("hooks.slack.com/",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{20,})"),
    ),
    (
        "discord-webhook",
        ("/api/webhooks/",),
        re.compile(r"discord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[\w-]{40,})"),
    ),
    (
        "teams-webhook",
        ("webhook.office.com/",),
        re.compile(r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{60,})"),
    ),
    ("discord-token", (".",), re.compile(r"[MNO][A-Za-z\d]{23,25}\.[\w-]{6}\.[\w-]{27,38}")),
    (
        "password-hash",
        ("$",),
        re.compile(r"\$(?:2[abxy]|apr1|argon2(?:id|i|d)|scrypt|[156y])\$[\w./+=,$-]{20,}"),
    ),
    (
        "url-signature",
        ("ig=", "ignature="),
        re.compile(r"(?i)[?&;](?:x-amz-|x-goog-)?sig(?:nature)?=(?P<secret>[\w%+/=.-]{16,})"),
    ),
)
# and these need not.
SHORT_SHAPES: tuple[Shape, ...] = (
    (
        "docker-password",
        ("docker login",),
        re.compile(
            r"docker login\b[^\n]{0,100}?\s(?:-p|--password)[ =]?[\"']?(?P<secret>[^\s\"'-][^\s\"']{3,})"
        ),
    ),
    (
        "url-password",
        ("://",),
        re.compile(r"[a-zA-Z][\w+.-]{1,30}://[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/@\"'<>]{2,200})@"),
    ),
    (
        "curl-password",
        ("curl",),
        re.compile(
            r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,80}:(?P<secret>[^\s\"']{3,})"
        ),
    ),
    (
        "mysql-password",
        ("mysql",),
        re.compile(r"\bmysql(?:dump|admin)?\b[^\n]{0,200}?\s-p(?P<secret>[^\s-]\S{3,})"),
    ),
    (
        "redis-password",
        ("redis-cli",),
        re.compile(r"\bredis-cli\b[^\n]{0,200}?\s(?:-a|--pass)\s+[\"']?(?P<secret>[^\s\"']{4,})"),
    ),
    ("ssh-password", ("sshpass",), re.compile(r"\bsshpass\s+-p\s*[\"']?(?P<secret>[^\s\"']{4,})")),
    (
        "login-password",
        ("password ",),
        re.compile(r"\blogin\s+\S{1,80}\s+password\s+(?P<secret>\S{4,})"),
    ),
    (
        "seed-phrase",
        ("phrase", "mnemonic", "시드", "복구"),
        re.compile(
            r"(?i)(?:phrase|mnemonic|구문|문구)[^\n:=]{0,20}(?:[:=]|is|는|은)\s*[\"'`]?"
            r"(?P<secret>(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})"
        ),
    ),
)
# Shorter than every secret of a provider's format.
LONG_WORD = re.compile(r"[A-Za-z0-9_.+/=~-]{15}")
# A prefix stands at the beginning of such a word, or behind what parts two words.
WORDS = re.compile(r"[A-Za-z0-9_.~-]{13,}")
PREFIXES: dict[str, tuple[tuple[Format, re.Pattern[str]], ...]] = {}
for _one in FORMATS:
    for _prefix in _one.prefixes:
        PREFIXES[_prefix] = (*PREFIXES.get(_prefix, ()), (_one, re.compile(_one.rest)))


def is_random(text: str) -> bool:
    """Tell whether a text may be random characters: a digit among them, and not a few over and over."""
    return len(set(text)) >= LEAST_KINDS and any(c.isdigit() for c in text)


BEGINNING = re.compile(
    rf"(?<![A-Za-z0-9])(?:{'|'.join(re.escape(p) for p in sorted(PREFIXES, key=len, reverse=True))})"
)


def find_formats(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of every secret of a provider's format in a text."""
    done = 0
    for word in WORDS.finditer(text):
        for beginning in BEGINNING.finditer(text, max(done, word.start()), word.end()):
            if beginning.start() < done:
                continue
            for one, rest in PREFIXES[beginning[0]]:
                match = rest.match(text, beginning.end())
                if match is not None and _is_key(match[0], one):
                    done = beginning.end() + len(match[0].rstrip(".-"))
                    yield beginning.start(), done, one.kind
                    break


def _is_key(rest: str, one: Format) -> bool:
    return is_random(rest) if one.is_random else len(set(rest)) >= LEAST_KINDS


def find_shapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of every secret that is told by its shape."""
    for shapes in (LONG_SHAPES, SHORT_SHAPES) if LONG_WORD.search(text) else (SHORT_SHAPES,):
        for kind, literals, pattern in shapes:
            if not any(literal in text for literal in literals):
                continue
            for match in pattern.finditer(text):
                start, end = match.span("secret" if "secret" in pattern.groupindex else 0)
                is_within_word = start == match.start() > 0 and _continues_word(text[start - 1])
                is_example = shapes is SHORT_SHAPES and is_placeholder(text[start:end])
                if not is_within_word and not is_example:
                    yield start, end, kind


def _continues_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


PLACEHOLDER = re.compile(
    r"(?i)(?:.{0,2}|[*•.xX#?_\-]+|\W+|<.*|\$.*|%[({a-z].*|\{.*|\[.*|\(.*|.*(?:\.\.\.|…|\*{3}).*|"
    r"(?:your|my|the|some|enter|insert|change|example|dummy|fake|redacted|hidden|placeholder|removed)[\w-]*|"
    r"pass|password|passwd|pwd|pw|secret|token|key|apikey|none|null|nil|true|false|undefined|str|string|text|bytes)"
)


def is_placeholder(value: str) -> bool:
    """Tell whether a value stands for a secret in an example, or is a template's variable."""
    return PLACEHOLDER.fullmatch(value) is not None
