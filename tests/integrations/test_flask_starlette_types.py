"""What a type checker makes of an application that uses the Starlette and the Flask integration."""

from __future__ import annotations

import pytest

PROGRAM = """
from typing import Annotated, assert_type

from fastapi import Depends, FastAPI
from flask import Blueprint, Flask, request
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from undersigned import AsyncVerifier, VerifiedSignature, Verifier
from undersigned_fastapi import Signature, SignatureMiddleware, signature_required as verified
from undersigned_flask import Undersigned, signature_required, verified_signature
import undersigned_starlette


def serve(verifier: Verifier, asynchronous: AsyncVerifier) -> None:
    FastAPI().add_middleware(SignatureMiddleware, verifier=verifier, origins=["https://a.example"], mode="optional")
    Starlette(middleware=[Middleware(SignatureMiddleware, verifier=asynchronous, origins=["https://a.example"])])
    Undersigned(Flask("a"), verifier=verifier, origins=["https://a.example"], mode="observe")


async def depends(signature: Annotated[VerifiedSignature, Depends(verified)], alias: Signature) -> str:
    assert_type(alias, VerifiedSignature)
    return signature.keyid


@undersigned_starlette.signature_required
async def endpoint(request: Request) -> JSONResponse:
    assert_type(undersigned_starlette.verified_signature(request), VerifiedSignature)
    return JSONResponse({})


@undersigned_starlette.signature_required
def synchronous(request: Request) -> JSONResponse:
    return JSONResponse({})


async def call(request: Request) -> None:
    assert_type(await endpoint(request), JSONResponse)
    assert_type(synchronous(request), JSONResponse)
    synchronous("no request")  # type: ignore[arg-type]


@signature_required
def view(plan: int) -> str:
    signature = verified_signature(request)
    assert_type(signature, VerifiedSignature)
    return signature.keyid


@signature_required
async def asynchronous_view(plan: int) -> str:
    return verified_signature(request).keyid


assert_type(view(1), str)
assert_type(signature_required(Blueprint("b", "b")), Blueprint)
view("1")  # type: ignore[arg-type]
Flask("a").get("/<int:plan>")(view)
SignatureMiddleware(endpoint, origins=[])  # type: ignore[call-arg, arg-type]
Undersigned(mode="strict")  # type: ignore[arg-type]
"""


@pytest.mark.slow
def test_type_checker_accepts_the_application_and_reports_a_wrong_argument(tmp_path):
    from mypy import api  # noqa: PLC0415 - it comes with the lint extra

    program = tmp_path / "application.py"
    program.write_text(PROGRAM)
    said, failed, status = api.run(["--strict", "--cache-dir", str(tmp_path), "--config-file", "", str(program)])
    assert (status, failed) == (0, ""), said
