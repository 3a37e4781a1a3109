"""The published conformance data, read in place, and the pure path a request takes through policy and verifier."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from undersigned import KeySet, MemoryReplayStore, Request, SignatureError, Verifier
from undersigned.operation import UnresolvedOperation
from undersigned.policy import Policy
from undersigned.screening import is_signed

if TYPE_CHECKING:
    from undersigned import Profile
    from undersigned.operation import Operation, OperationResolver
    from undersigned.settlement import Judgement, Settlement

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "vectors"
ROOT = Path(os.environ.get("UNDERSIGNED_VECTORS", _BESIDE)) / "adcp-3.2.4/request-signing"
LISTS = (
    "required_for",
    "warn_for",
    "supported_for",
    "protocol_methods_required_for",
    "protocol_methods_warn_for",
    "protocol_methods_supported_for",
)


def read(path: str) -> dict:
    """The data of one file."""
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def absent() -> list:
    """One parameter that skips, and says where the data was looked for."""
    reason = f"no published vectors at {ROOT}; set UNDERSIGNED_VECTORS to their directory"
    return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")]


def vectors(*patterns: str) -> list:
    """A parameter a request vector."""
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    if not paths:
        return absent()
    return [pytest.param(read(str(path.relative_to(ROOT))), id=str(path.relative_to(ROOT))[:-5]) for path in paths]


def cases(path: str, key: str, name: str) -> list:
    """A parameter a case in the list under `key` of one file."""
    if not (ROOT / path).is_file():
        return absent()
    return [pytest.param(case, id=case[name]) for case in read(path)[key]]


def request_of(vector: dict) -> Request:
    sent = vector["request"]
    return Request(sent["method"], sent["url"], sent["headers"], sent.get("body", ""))


def policy_of(vector: dict, resolver: OperationResolver) -> Policy:
    capability = vector["verifier_capability"]
    return Policy(**{name: capability[name] for name in LISTS if name in capability}, resolver=resolver)


def verifier_of(vector: dict, profile: Profile) -> Verifier:
    keys = [key for key in read("keys.json")["keys"] if key["kid"] in vector["jwks_ref"]]
    return Verifier(
        profile,
        keys=KeySet.from_jwks({"keys": keys}),
        replay=MemoryReplayStore(),
        clock=lambda: vector["reference_now"],
    )


def resolved(policy: Policy, request: Request) -> Operation | UnresolvedOperation:
    try:
        return policy.resolver.resolve(request)
    except UnresolvedOperation as unresolved:
        return unresolved


def judged(verifier: Verifier, request: Request) -> Judgement:
    if not is_signed(request):
        return "unsigned"
    try:
        verifier.verify(request)
    except SignatureError as error:
        return error
    return "verified"


def settled(policy: Policy, verifier: Verifier, request: Request, *, fallback: bool = False) -> Settlement:
    operation, signature = resolved(policy, request), judged(verifier, request)
    return policy.settle(operation, signature, fallback=fallback, prefix=verifier.profile.prefix)
