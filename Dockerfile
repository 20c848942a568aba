# Stage 1: a virtual environment with the pinned dependencies and the package.
FROM python:3.12-slim AS build

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

WORKDIR /src

# The dependencies first: this layer is rebuilt only when a pin changes.
COPY requirements/run.txt requirements/run.txt
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --require-hashes -r requirements/run.txt

# The build backend has an environment of its own, so that it does not reach the final image.
COPY requirements/build.txt requirements/build.txt
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --require-hashes -r requirements/build.txt

COPY pyproject.toml README.md LICENSE ./
COPY gateway_compaction gateway_compaction
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && /opt/venv/bin/pip install --no-deps --no-index /wheels/*.whl

# Stage 2: what runs.
FROM python:3.12-slim

RUN useradd --system --uid 10001 --create-home --shell /usr/sbin/nologin gateway
COPY --from=build /opt/venv /opt/venv

WORKDIR /app
COPY config config

# Set PORT, not --port, to listen elsewhere: the health check reads it too.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PORT=4000

USER gateway
EXPOSE 4000

# LiteLLM takes 10 to 40 seconds to import, hence the start period.
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/health/liveliness', timeout=4)"]

# Options given to `docker run IMAGE …` come last and win.
ENTRYPOINT ["gateway-compaction", "serve", "--config", "/app/config/litellm.yaml", "--host", "0.0.0.0"]
