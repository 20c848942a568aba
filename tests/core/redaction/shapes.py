"""Eighty shapes of secrets in the places where they stand in conversations, and near misses that are none.

No value was ever a key: each is made of a hash of its name, so that no scanner of repositories finds one.
"""

from __future__ import annotations

import base64
import hashlib
import string
from dataclasses import dataclass

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LETTERS = string.ascii_letters
WORD = LETTERS + string.digits
URL = WORD + "_-"


def make(name: str, length: int, alphabet: str = WORD) -> str:
    """Return so many characters that follow from a name, a digit among them."""
    stream = b"".join(hashlib.sha256(f"{name}{i}".encode()).digest() for i in range(length // 16 + 2))
    text = "".join(alphabet[byte % len(alphabet)] for byte in stream[:length])
    digit = alphabet.find("7")
    return text if digit < 0 else text[: length // 2] + "7" + text[length // 2 + 1 :]


def make_json(name: str) -> str:
    """Return a part of a JSON web token."""
    return base64.urlsafe_b64encode(f'{{"sub":"{make(name, 12)}"}}'.encode()).decode().rstrip("=")


@dataclass(frozen=True)
class Shape:
    """A text, and the secret in it."""

    name: str
    value: str
    text: str


def _shape(name: str, value: str, text: str) -> Shape:
    return Shape(name, value, text.replace("§", value))


PEM = "\n".join(make(f"pem{i}", 64, WORD + "+/") for i in range(6))
JWT = f"eyJhbGciOiJIUzI1NiJ9.{make_json('jwt')}.{make('sig', 43, URL)}"
SEED = "legal winner thank year wave sausage worth useful legal winner thank yellow"
# Keys of providers: in English, in Korean with a particle at its end, in code, JSON, tables and output.
PROVIDERS = (
    _shape("openai", "sk-" + make("a", 48), "My key is §, please use it."),
    _shape("openai project", "sk-proj-" + make("b", 74, URL), "OPENAI_API_KEY=§"),
    _shape("openai service", "sk-svcacct-" + make("b2", 60, URL), "client = OpenAI(api_key='§')"),
    _shape("anthropic", "sk-ant-api03-" + make("c", 93, URL) + "AA", "키는 §를 쓰세요."),
    _shape("openrouter", "sk-or-v1-" + make("d", 64, HEX), '{"headers": {"X-Key": "§"}}'),
    _shape("google", "AIza" + make("e", 35, URL), "https://maps.example.com/js?key=§&v=3"),
    _shape("google secret", "GOCSPX-" + make("f", 28, URL), 'client_secret: "§"'),
    _shape("google token", "ya29." + make("g", 60, URL), "Authorization: Bearer §"),
    _shape("hugging face", "hf_" + make("h", 34, LETTERS), "huggingface-cli login --token §"),
    _shape("groq", "gsk_" + make("i", 52), "제 그록 키 §입니다"),
    _shape("xai", "xai-" + make("j", 80), "export XAI=§"),
    _shape("perplexity", "pplx-" + make("k", 48), "(§)"),
    _shape("replicate", "r8_" + make("l", 37), "token:§"),
    _shape("nvidia", "nvapi-" + make("m", 64, URL), "| nvidia | § |"),
    _shape("aws access key", "AKIA" + make("n", 16, UPPER), "AWS_ACCESS_KEY_ID=§"),
    _shape("aws session key", "ASIA" + make("o", 16, UPPER), "액세스 키는 §이고요"),
    _shape("aws secret", make("p", 40, WORD + "/+"), "aws_secret_access_key = §"),
    _shape("aws secret, JSON", make("q", 40, WORD + "/+"), '{"SecretAccessKey": "§", "Region": "x"}'),
    _shape("alibaba", "LTAI" + make("r", 20), "accessKeyId: §"),
    _shape("digital ocean", "dop_v1_" + make("s", 64, HEX), "doctl auth init -t §"),
    _shape("databricks", "dapi" + make("t", 32, HEX), "DATABRICKS=§;"),
    _shape("vault", "hvs." + make("u", 92, URL), "vault login §"),
    _shape("doppler", "dp.pt." + make("v", 43), "doppler §\nok"),
    _shape("supabase", "sbp_" + make("w", 40, HEX), "supabase login --token §"),
    _shape("azure", make("x1", 3) + "8Q~" + make("x2", 33), "secret §."),
    _shape("azure storage", make("y", 86, WORD + "+/") + "==", "AccountName=a;AccountKey=§;EndpointSuffix=b"),
    _shape("github", "ghp_" + make("z", 36), "git clone https://§@github.com/a/b.git"),
    _shape("github fine", "github_pat_" + make("1", 82, WORD + "_"), "깃허브 토큰 → §"),
    _shape("github app", "ghs_" + make("2", 36), "remote: §\n"),
    _shape("gitlab", "glpat-" + make("3", 20, URL), "PRIVATE-TOKEN: §"),
    _shape("npm", "npm_" + make("4", 36), "//registry.example.com/:_authToken=§"),
    _shape("pypi", "pypi-AgEIcHlwaS5vcmc" + make("5", 60, URL), "password = §"),
    _shape("docker", "dckr_pat_" + make("6", 27, URL), "docker login -u me -p §"),
    _shape("atlassian", "ATATT3xFfGF0" + make("7", 60, URL), "jira: §"),
    _shape("linear", "lin_api_" + make("8", 40), "«§»"),
    _shape("notion", "ntn_" + make("9", 46), "notion §!"),
    _shape("stripe", "sk_live_" + make("10", 24), "stripe.api_key = '§'"),
    _shape("stripe restricted", "rk_test_" + make("11", 30), "결제 키(§)"),
    _shape("stripe webhook", "whsec_" + make("12", 32), "STRIPE_HOOK: §"),
    _shape("shopify", "shpat_" + make("13", 32, HEX), "X-Shopify-Access-Token: §"),
    _shape("square", "sq0atp-" + make("14", 22, URL), "square=§"),
    _shape("slack bot", "xoxb-" + make("15", 12, string.digits) + "-" + make("16", 24), "슬랙 봇 §로 보내줘"),
    _shape("slack app", "xapp-1-A" + make("17", 10, UPPER) + "-123456-" + make("18", 40, HEX), "§"),
    _shape("slack hook", make("19", 44, WORD), "https://hooks.slack.com/services/§"),
    _shape("discord hook", make("20", 68, URL), "https://discord.com/api/webhooks/123456789/§"),
    _shape("telegram", "110201543:AA" + make("21", 33, URL), "bot §/getMe"),
    _shape("sendgrid", f"SG.{make('22', 22, URL)}.{make('23', 43, URL)}", "SENDGRID: §"),
    _shape("mailgun", "key-" + make("24", 32, HEX), "curl -s --user 'api:§' https://api.example.com"),
    _shape("mailchimp", make("25", 32, HEX) + "-us14", "mailchimp §"),
    _shape("twilio", "SK" + make("26", 32, HEX), "twilio §,"),
    _shape("grafana", f"glsa_{make('27', 32)}_{make('28', 8, HEX)}", "grafana: §"),
    _shape("new relic", "NRAK-" + make("29", 27, UPPER), "newrelic §"),
    _shape("age", "AGE-SECRET-KEY-1" + make("30", 58, UPPER), "# created\n§\n"),
    _shape("figma", "figd_" + make("31", 40, URL), "figma=§"),
)
# What is told by its form or by the words before it.
OTHERS = (
    _shape("json web token", JWT, "cookie jwt=§; path=/"),
    _shape("private key", PEM, "-----BEGIN RSA PRIVATE KEY-----\n§\n-----END RSA PRIVATE KEY-----"),
    _shape(
        "private key in JSON",
        PEM.replace("\n", "\\n"),
        r'{"private_key": "-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY-----\n"}',
    ),
    _shape("password, English", "hunter2!Blue", "My password is § - do not tell."),
    _shape("password for", "Tr0ub4dor&3", "The password for the staging server is §."),
    _shape("password, Korean", "goRae#2024", "비밀번호는 §이에요."),
    _shape("password, Korean short", "zx81Spectrum", "계정 admin 비번 §"),
    _shape("password, Korean colon", "pa55w0rD!!", "아이디: kim / 패스워드: §"),
    _shape("password, environment", "x9$Lm2@qP", "DB_PASSWORD=§"),
    _shape("password, YAML", "n0rthWind_77", "db:\n  user: app\n  password: §\n"),
    _shape("password, JSON", "c0ffee&Tea", '{"username": "root", "password": "§"}'),
    _shape("password, JSON in JSON", "quiet-R1ver", r'"{\"user\": \"a\", \"passwd\": \"§\"}"'),
    _shape("password, code", "B3rlin!wall", 'connect(host="db", password="§", port=5432)'),
    _shape("password, PHP", "wp_S3cret!x", "define('DB_PASSWORD', '§');"),
    _shape("password, flag", "fl4gged!Up", "psql --password § -h db"),
    _shape("password, mysql", "Sql_r00t!x", "mysql -uroot -p§ shop"),
    _shape("password, XML", "xM1_l0ng", "<server><password>§</password></server>"),
    _shape("password, dsn", "Az!09xYq", "Server=tcp:db;Database=shop;User ID=sa;Password=§;Encrypt=true"),
    _shape("postgres url", "pgS3cr3t", "postgres://app:§@db.internal:5432/shop"),
    _shape("redis url", "r3disPass", "REDIS_URL=redis://:§@cache:6379/0"),
    _shape("mongo url", "m0ng0Pass", "몽고 주소 mongodb+srv://kim:§@cluster0.example.net/db 입니다"),
    _shape("basic auth", base64.b64encode(b"aladdin:open7sesame").decode(), "Authorization: Basic §"),
    _shape("bearer", make("32", 40), "curl -H 'Authorization: Bearer §' https://api.example.com"),
    _shape("api key header", make("33", 32), "x-api-key: §"),
    _shape("api key, query", make("34", 32), "GET /v1/items?api_key=§&page=2"),
    _shape("sas signature", make("35", 40) + "%3D", "https://a.blob.example.net/c?sv=2022&sig=§"),
    _shape("client secret", make("36", 36, URL), "'client_secret': '§'"),
    _shape("secret key, Korean", make("37", 32), "시크릿 키: §"),
    _shape("token, Korean", make("38", 40), "인증 토큰은 §입니다"),
    _shape("hash", "$2b$12$" + make("39", 53, WORD + "./"), "admin:§"),
    _shape("card", "4539 1488 0343 6467", "카드 번호는 §이고 만료는 12/27"),
    _shape("card, plain", "5500005555555559", "charge §, please"),
    _shape("seed", SEED, "my seed phrase: §"),
    _shape("password, redis", "R3d1sP4ss", "redis-cli -h cache -a § ping"),
    _shape("password, terraform", "T3rraf0rm!", 'variable "db_password" { default = "§" }'),
    _shape("telegram, address", "601234567:AA" + make("40", 33, URL), "https://api.telegram.org/bot§/getMe"),
    _shape("netrc", "n3trcP4ss", "machine a.example.com login me password §"),
)
SHAPES = (*PROVIDERS, *OTHERS)

# What conversations need later, or what only looks like a secret.
HARMLESS = (
    "commit 3f2a9c81d4e5b6a7980f1e2d3c4b5a6978812345 fixes it",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "session 550e8400-e29b-41d4-a716-446655440000 was closed",
    '{"order_id": "W2378156", "payment_method_id": "credit_card_4421486"}',
    '{"next_page_token": "CAUQAA1b2c3d4e5f6g7h8"}',
    "주문번호 20240517-0012345 은 배송 중입니다",
    "tracking number 1Z999AA10123456784, invoice 4539148803436468",
    '{"max_tokens": 4096, "total_tokens": 123456}',
    "def login(username: str, password: str) -> Token:",
    "password = os.environ['DB_PASSWORD']",
    "password=get_password(user), token=self.access_token",
    "PASSWORD_RESET_TIMEOUT = 259200",
    "password: <your-password-here>",
    "API_KEY=${API_KEY}",
    "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "api_key = 'YOUR_API_KEY'",
    "The password must be at least 8 characters.",
    "Have you got the right password and is the connection stable?",
    "비밀번호를 잊어버렸어요. 어떻게 재설정하나요?",
    "비밀번호는 8자 이상이어야 합니다",
    "the secret to good bread is time",
    "token_type: bearer, expires_in: 3600",
    "see https://example.com:8080/path@2x.png",
    "scp user@host:/var/log/app.log .",
    "task-sk-1 and disk-learn-something-like-this-long-slug2",
    "from sklearn.feature_selection import SelectKBest2",
    "secretName: db-credentials-v2, secret_file: /run/secrets/db_password",
    "tokenizer: cl100k_base, tokens: 12k",
    "CSS: .pass { color: #aabbcc } and bypass: true",
    "kubectl get secret my-app-tls -n prod",
    "1700000000123456789 and 4111.1111.1111",
    "AKIAAAAAAAAAAAAAAAAA",
    "$(cat /run/secrets/token)",
    "postgres://user:password@localhost/db and https://<user>:<password>@example.com",
)
PERSONAL = (
    _shape("resident number", "900101-1234567", "주민번호 §입니다"),
    _shape("mobile", "010-1234-5678", "제 번호는 §예요"),
    _shape("mobile, abroad", "+82 10-9876-5432", "call §"),
    _shape("landline", "02-312-4567", "대표전화 §"),
    _shape("e-mail", "kim.min@example.co.kr", "메일은 §로"),
)
