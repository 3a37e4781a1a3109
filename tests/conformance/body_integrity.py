"""Facts about body integrity: a request is made of them, signed with a fixed key, changed on its way and verified."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.conformance.adcp import LISTS, VERSIONS, action
from tests.conformance.case import same
from tests.conformance.decision import Result, decide

from undersigned import JSONRPCResolver, KeyPair, MemoryReplayStore, PathResolver, Policy, Request, Signer, Verifier
from undersigned.errors import CHECKS

NOW = 1_776_520_800
OPERATION, METHOD = "create_media_buy", "tasks/cancel"
PAIR = KeyPair.generate()
KEYS = PAIR.key_set()
WEBHOOK = {"url": "https://buyer.example.com/hook", "authentication": {"schemes": ["Bearer"]}}


@dataclass(frozen=True)
class BodyIntegrityFact:
    """A case. Our own values are `mode` `none` (no list has the operation) and `registers_webhook`."""

    name: str
    case: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        defaults = {"covers_content_digest": True, "digest_matches_body": True, "cryptographic_signature_valid": True}
        if name.startswith("_"):
            raise AttributeError(name)
        return self.case.get(name, defaults.get(name, False))

    def check(self) -> None:
        """Compare the action, the code, the source of the caller's identity, and whether the signer is verified."""
        expected, result = self.case["expected"], self.result()
        note = f"{result.step}: {result.detail}"
        found = action(result, unauthenticated=expected["action"] == "reject_unauthenticated")
        same("action", expected["action"], found, note)
        code = result.code or "none"
        same("code", expected.get("error_code") or code, code, note)
        source = expected.get("authentication_source", result.source)
        same("authentication source", source, result.source)
        if result.code is not None:
            same("step", CHECKS[self._step], result.step, note)
        same("verified signer identity", expected["verified_signer_identity"], result.signature is not None)

    def result(self) -> Result:
        """Return the decision about the request that the facts describe."""
        verifier = Verifier(self.profile, keys=KEYS, replay=MemoryReplayStore(), clock=lambda: NOW)
        return decide(verifier, self.request(), policy=self.policy, fallback=self.fallback_auth_valid)

    @property
    def _step(self) -> int:
        """The step that rejects the request, if one does."""
        policy = self.profile.digest.policy
        if self.signature_header_state == "malformed_pair":
            return 1
        if not self.signature_present:
            return 0
        if policy != "either" and self.covers_content_digest == (policy == "forbidden"):
            return 6
        return 11 if self.cryptographic_signature_valid else 10

    @property
    def profile(self):
        profile = VERSIONS[self.case["endpoint_profile"]]
        policy = self.legacy_digest_policy or profile.digest.policy
        return profile.derive(digest=profile.digest._replace(policy=policy))

    @property
    def is_rpc(self) -> bool:
        return self.mode.startswith("protocol_methods_")

    @property
    def policy(self) -> Policy:
        """The endpoint's policy: a single list that contains the operation or the method."""
        if self.mode.removeprefix("protocol_methods_") not in {*LISTS, "none"}:
            raise ValueError("mode is not one of the policy's lists")
        listed = {} if self.mode == "none" else {self.mode: [METHOD if self.is_rpc else OPERATION]}
        return Policy(**listed, resolver=JSONRPCResolver() if self.is_rpc else PathResolver())

    def request(self) -> Request:
        """Return the request that the facts describe."""
        path, body = "mcp" if self.is_rpc else f"adcp/{OPERATION}", self._body()
        fields = [("Content-Type", "application/json")] if body else []
        request = Request("POST" if body else "GET", f"https://seller.example.com/{path}", fields, body)
        if not self.signature_present:
            return request
        request = self._sign(request)
        if self.signature_header_state == "malformed_pair":
            kept = [(name, value) for name, value in request.fields if name != "signature-input"]
            return Request(request.method, request.url, kept, request.body)
        changed = body.replace(b"_001", b"_666")
        if self.cryptographic_signature_valid:
            body = body if self.digest_matches_body else changed
            return Request(request.method, request.url, request.fields, body)
        if not (self.covers_content_digest and changed):
            return Request(request.method, f"{request.url}?rewritten", request.fields, request.body)
        digest = dict(self._sign(Request(request.method, request.url, fields, changed)).fields)["content-digest"]
        kept = [(name, digest if name == "content-digest" else value) for name, value in request.fields]
        return Request(request.method, request.url, kept, changed if self.digest_matches_body else changed + b" ")

    def _body(self) -> bytes:
        if not self.has_body:
            return b""
        version = self.request_body_adcp_version
        members: dict[str, object] = {"adcp_version": version} if version else {}
        if self.registers_webhook:
            members["push_notification_config"] = WEBHOOK
        if not self.is_rpc:
            return json.dumps({"plan_id": "plan_001", **members}).encode()
        params = {"taskId": "task_001", **members}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": params}).encode()

    def _sign(self, request: Request) -> Request:
        policy = "required" if self.covers_content_digest else "either"
        profile = self.profile.derive(digest=self.profile.digest._replace(policy=policy))
        fields = Signer(PAIR.signing_key(), profile=profile).sign(request, created=NOW)
        return Request(request.method, request.url, [*request.fields, *fields], request.body)
