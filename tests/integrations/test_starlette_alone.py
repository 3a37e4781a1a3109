"""Starlette without FastAPI: the package needs no more than Starlette."""

from __future__ import annotations

import subprocess
import sys

ALONE = """
import asyncio, json, sys

sys.modules["fastapi"] = None  # any import of it fails

import undersigned_starlette
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from undersigned import MemoryReplayStore, Verifier, profiles
from undersigned.signature.key_source import ExaminedKeys
from undersigned_starlette import *

verifier = Verifier(profiles.ADCP_3_2, keys=ExaminedKeys({}), replay=MemoryReplayStore())


@signature_required
async def endpoint(request: Request) -> PlainTextResponse:
    raise AssertionError


app = Starlette(routes=[Route("/", endpoint)])
app.add_middleware(SignatureMiddleware, verifier=verifier, origins=["https://seller.example.com"], mode="optional")
sent = []


async def receive():
    return {"type": "http.request"}


async def send(message):
    sent.append(message)


scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": []}
asyncio.run(app(scope, receive, send))
print(sent[0]["status"], sent[1]["body"].decode())
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - our own text


def test_decorator_and_middleware_work_without_fastapi():
    assert run(ALONE).stdout == "401 request_signature_required\n", run(ALONE).stderr
