"""Tampering: a request that is signed and then changed on its way, as described by facts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from undersigned.message.content_digest import content_digest
from undersigned.message.request import Request
from undersigned.message.structured_fields import base64url
from undersigned.signature.key_source import KeySet
from undersigned.signature.signer import Signer
from undersigned.signature.signing_key import SigningKey

if TYPE_CHECKING:
    from undersigned.signature.profile import Profile

NOW = 1_776_520_800
OPERATION = "create_media_buy"
METHOD = "tasks/cancel"

_PLAIN = f"https://seller.example.com/adcp/{OPERATION}"
_RPC = "https://seller.example.com/mcp"
_NONCE = "Zml4ZWQtYW5kLXB1YmxpYw"
_WEBHOOK = {"url": "https://buyer.example.com/hook", "authentication": {"schemes": ["Bearer"]}}
_TYPE = ("Content-Type", "application/json")


# Fixed and public, so that equal facts give equal bytes. Only the verifier below knows the key.
_PRIVATE = Ed25519PrivateKey.from_private_bytes(b"public and for conformance only.")
_JWK = {
    "kid": "conformance",
    "kty": "OKP",
    "crv": "Ed25519",
    "alg": "EdDSA",
    "use": "sig",
    "adcp_use": "request-signing",
    "x": base64url(_PRIVATE.public_key().public_bytes_raw()),
}
_KEY = SigningKey.from_jwk({**_JWK, "key_ops": ["sign"], "d": base64url(_PRIVATE.private_bytes_raw())})

KEYS = KeySet.from_jwks({"keys": [{**_JWK, "key_ops": ["verify"]}]})
"""The key that signs these requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts about a request.

    Attributes:
        profile: the profile that verifies it.
        rpc: whether it is a JSON-RPC request for `METHOD`; otherwise its path names `OPERATION`.
        has_body: whether it has content.
        version: the release that the content names, or "".
        registers_webhook: whether the content registers a webhook with its own credentials.
        signed: whether it has a signature.
        paired: whether it has Signature-Input as well as Signature.
        covers_digest: whether the signature covers the digest of the content.
        digest_matches: whether Content-Digest matches the content.
        signature_valid: whether the signature matches the base that the verifier builds.
    """

    profile: Profile
    rpc: bool
    has_body: bool
    version: str
    registers_webhook: bool
    signed: bool
    paired: bool
    covers_digest: bool
    digest_matches: bool
    signature_valid: bool

    def request(self) -> Request:
        """Return the request that the facts describe."""
        url, body = _RPC if self.rpc else _PLAIN, self._body()
        fields = [_TYPE] if body else []
        request = Request("POST" if body else "GET", url, fields, body)
        if not self.signed:
            return request
        request = self._sign(request)
        if not self.paired:
            return _change(request, without="signature-input")
        rewritten = body.replace(b"_001", b"_666")
        if not self.signature_valid:
            return self._invalid(request, rewritten)
        return request if self.digest_matches else _change(request, body=rewritten)

    def _body(self) -> bytes:
        if not self.has_body:
            return b""
        members: dict[str, object] = {"adcp_version": self.version} if self.version else {}
        if self.registers_webhook:
            members["push_notification_config"] = _WEBHOOK
        if not self.rpc:
            return json.dumps({"plan_id": "plan_001", **members}).encode()
        params = {"taskId": "task_001", **members}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": params}).encode()

    def _sign(self, request: Request) -> Request:
        digest = replace(self.profile.digest, policy="required" if self.covers_digest else "either")
        signing = self.profile.derive(digest=digest)
        fields = Signer(_KEY, profile=signing).sign(request, created=NOW, nonce=_NONCE)
        return Request(request.method, request.url, [*request.fields, *fields], request.body)

    def _invalid(self, request: Request, rewritten: bytes) -> Request:
        """Change the signed values: the content and its digest, or the query if no digest is covered."""
        if not (self.covers_digest and rewritten):
            return Request(request.method, f"{request.url}?rewritten", request.fields, request.body)
        digest = content_digest(rewritten, self.profile.digest.encodings[0])
        body = rewritten if self.digest_matches else rewritten + b" "
        return _change(request, without="content-digest", field=("Content-Digest", digest), body=body)


def _change(
    request: Request, *, without: str = "", field: tuple[str, str] | None = None, body: bytes | None = None
) -> Request:
    fields = [(name, value) for name, value in request.fields if name != without]
    added = [] if field is None else [field]
    return Request(request.method, request.url, [*fields, *added], request.body if body is None else body)
