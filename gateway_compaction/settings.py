"""The environment variables of the package."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from gateway_compaction.core.planning.context import INDEX_TOKENS

PREFIX = "GATEWAY_COMPACTION_"


class Settings(BaseSettings):
    """The values of the environment; every variable begins with ``GATEWAY_COMPACTION_``."""

    # Values are not repeated in errors: they end in logs, and one of them holds a password.
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    enabled: bool = Field(True, description="false: compaction is off for everybody, whatever policies say.")
    redis_url: str | None = Field(None, description="redis:// or rediss:// URL; unset: inside the process.")
    encryption_keys: SecretStr | None = Field(
        None, description="Keys in base64; the first one seals what is stored, all of them open it."
    )
    encryption_key_file: Path | None = Field(None, description="A file that holds them, in their place.")
    redis_timeout_seconds: float = Field(0.04, gt=0, description="Longest wait for Redis on a request.")
    policies: Path | None = Field(None, description="The policy file; unset: observe, no model calls.")
    lease_seconds: float = Field(15.0, gt=0, description="How long a claim holds before it must be renewed.")
    concurrency: int = Field(4, ge=1, description="Summaries made at once, in one process.")
    queue: int = Field(200, ge=1, description="Summaries waiting or being made, in one process.")
    recall_cold_tokens: int = Field(
        INDEX_TOKENS, ge=0, description="Largest history indexed while a request waits."
    )
    drain_seconds: float = Field(10.0, ge=0, description="How long shutdown waits for background work.")
    calibration_seconds: float = Field(60.0, gt=0, description="How often lessons of replicas are read.")
    metrics_public: bool = Field(False, description="Whether /compaction/metrics asks for no key.")
