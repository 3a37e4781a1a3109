"""AdCP's vectors: requests with their outcome, canonical URLs, facts about body integrity, names of methods."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from tests.conformance.case import Case, Difference, File, Held, same, verification_key
from tests.conformance.decision import Result, decide
from tests.conformance.resigning import sign_again

from undersigned import (
    A2AResolver,
    Caps,
    ConfigurationError,
    JSONRPCResolver,
    MalformedURL,
    MemoryReplayStore,
    PathResolver,
    Policy,
    Profile,
    Request,
    RevocationList,
    SigningKey,
    Verifier,
    canonicalize,
    profiles,
)
from undersigned.explanation import CHECKS
from undersigned.message.signature_input import parse_signature_input
from undersigned.policy import UnresolvedOperation
from undersigned.signature import ComponentValues, UnresolvableComponent, signature_base

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = {"3.1": profiles.ADCP_3_1, "3.2": profiles.ADCP_3_2}
RESOLVERS = {"http": PathResolver, "mcp": JSONRPCResolver, "a2a": A2AResolver}
LISTS = ("required_for", "warn_for", "supported_for")
OPTIONS = (*LISTS, *(f"protocol_methods_{name}" for name in LISTS))
WITH_MESSAGE = {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}
PLENTY = Caps(1_000_000)
BEFORE_THE_BASE = [CHECKS[step] for step in range(1, 7)]


def request_vectors(file: File) -> Iterator[Case]:
    """One request is one file, and a folder of them is a set."""
    folder = file.path.parent.parent if file.path.parent.name in {"positive", "negative"} else file.path.parent
    vector = RequestVector(f"{file.path.parent.name}/{file.path.stem}", file.value, file)
    yield Case(folder.as_posix(), vector.name, vector.check, vector)


@dataclass(frozen=True)
class RequestVector:
    """A request, the endpoint that receives it with the state of its sources, and the expected outcome."""

    name: str
    document: dict[str, Any]
    file: File

    @property
    def request(self) -> Request:
        sent = self.document["request"]
        fields = sent["headers"].items() if isinstance(sent["headers"], dict) else sent["headers"]
        return Request(sent["method"], sent["url"], [(name, value) for name, value in fields], sent.get("body", ""))

    @property
    def now(self) -> int:
        return self.document["reference_now"]

    @property
    def state(self) -> dict[str, Any]:
        """The state of the sources. Beside the published members it has our own, which the recipes describe."""
        return self.document.get("test_harness_state") or {}

    @property
    def expected(self) -> dict[str, Any]:
        return self.document["expected_outcome"]

    @property
    def accepted(self) -> bool:
        return self.expected["success"]

    @property
    def code(self) -> str | None:
        return None if self.accepted else self.expected["error_code"]

    @property
    def base(self) -> str | None:
        return self.document.get("expected_signature_base")

    @property
    def label(self) -> str:
        return self.expected.get("verified_label", self.endpoint.selection.label)

    @property
    def endpoint(self) -> Profile:
        """The profile of the endpoint. A webhook has no `signing_profile_version`."""
        version = self.document.get("signing_profile_version")
        return profiles.ADCP_WEBHOOK if version is None else VERSIONS[version]

    @property
    def profile(self) -> Profile:
        """The endpoint's profile with the vector's digest policy and the caps of its state."""
        profile, caps = self.endpoint, self.endpoint.replay.caps
        if self.state.get("replay_cache_total_cap_hit"):
            caps = caps._replace(total=1)
        elif self._full_keys:
            caps = caps._replace(per_key=1)
        policy = (self.document.get("verifier_capability") or {}).get("covers_content_digest", profile.digest.policy)
        return profile.derive(digest=profile.digest._replace(policy=policy), replay=profile.replay._replace(caps=caps))

    @property
    def policy(self) -> Policy | None:
        """The endpoint's policy, or None if every request must be signed. A list of JSON-RPC methods means JSON-RPC."""
        capability = self.document.get("verifier_capability")
        if capability is None:
            return None
        transport = self.document.get("transport", "a2a" if "tier" in self.document else "http")
        resolver = RESOLVERS[transport]
        if resolver is PathResolver and any(capability.get(name) for name in OPTIONS[3:]):
            resolver = JSONRPCResolver
        return Policy(**{name: capability.get(name, []) for name in OPTIONS}, resolver=resolver())

    @property
    def published(self) -> list[dict]:
        """The JWKs that the verifier knows."""
        if "jwks_override" in self.document:
            override = self.document["jwks_override"]
            return override.get("keys") or [jwk for name, jwk in override.items() if not name.startswith("$")]
        ring = self.file.keys.ring(self.file.path)
        return [ring[kid] for kid in self.document["jwks_ref"]]

    def sources(self) -> dict[str, Any]:
        """Return the sources of a verifier in the state in which the vector starts."""
        now = self.now
        times = [self.state.get("now_when_read", now), now]
        return {
            "keys": _Down() if self.state.get("key_source_down") else Held(*map(verification_key, self.published)),
            "replay": self._store(),
            "revocations": self._revocations(),
            "clock": lambda: times.pop() if len(times) > 1 else times[0],
        }

    def result(self) -> Result:
        """Return the decision about the request."""
        verifier = Verifier(self.profile, **self.sources())
        fallback = self.state.get("fallback_auth_valid", False)
        return decide(verifier, self.request, policy=self.policy, fallback=fallback)

    def signing_key(self, keyid: str) -> SigningKey:
        """Return the private key of the key `keyid`."""
        [jwk] = [jwk for jwk in self.published if jwk["kid"] == keyid]
        return SigningKey.from_jwk({**jwk, "key_ops": ["sign"], "d": jwk["_private_d_for_test_only"]})

    def rebuilt_base(self) -> str | None:
        """Return the base of the message as in step 10, or None if the message has none.

        Checks that a base does not need are left out, such as the key's owner and the operation.
        """
        request = self.request
        try:
            members = parse_signature_input(request.fields.combined["signature-input"])
            read = members[self.label if self.label in members else next(iter(members))]
            target = canonicalize(request.url, received=True)
            return signature_base(ComponentValues(request, target), read.components, read.text)
        except (KeyError, ValueError, UnresolvableComponent):
            return None

    def check(self) -> None:
        """Compare outcome, operation, warning, label and base; then sign again what was accepted."""
        result, expected = self.result(), self.expected
        code, note = result.code, f"{result.step}: {result.detail}"
        same("outcome", self.code or "accepted", code or "accepted", note)
        # The published checklist of webhooks has the cap of nonces in step 9.
        if "failed_step" in expected and (expected["failed_step"], result.step) != (9, CHECKS["9a"]):
            same("failed step", CHECKS[expected["failed_step"]], result.step, note)
        if code is None:
            status = "unsigned" if result.signature is None else "verified"
            same("status", expected.get("status", "verified"), status)
        for member in {"resolved_operation", "dispatched_operation"} & expected.keys():
            same(member, expected[member], self._operation(result))
        if "authentication_source" in expected:
            same("authentication source", expected["authentication_source"], result.source)
        same("warning", expected.get("warning_code"), result.warning)
        base = self.rebuilt_base() if result.signature is None else result.signature.signature_base
        if self.base is not None and base is not None and result.step not in BEFORE_THE_BASE:
            same("signature base", self.base, base)
        if result.signature is not None:
            same("label", self.label, result.signature.label)
            sign_again(self, result.signature)

    def _operation(self, result: Result) -> str | None:
        """Return the operation that the application gets, or for a rejected request the one that the policy finds."""
        if result.code is None:
            return None if result.operation is None else result.operation.name
        try:
            return None if self.policy is None else self.policy.resolver.resolve(self.request).name
        except UnresolvedOperation:
            return "unresolved"

    @property
    def _full_keys(self) -> list[str]:
        """The keys with a live nonce other than the vector's, so that a cap of one is reached."""
        state = self.state
        if state.get("replay_cache_total_cap_hit"):
            return ["another"]
        if "per_keyid_cap_filled_for" in state:
            return [state["per_keyid_cap_filled_for"]]
        hits = ("replay_cache_per_keyid_cap_hit", "replay_cache_cap_hit_meanwhile")
        return [state[name]["keyid"] for name in hits if name in state]

    def _store(self) -> Any:
        state, now = self.state, self.now
        if state.get("replay_store_down"):
            return _Down()
        store = _FilledMeanwhile() if "replay_cache_cap_hit_meanwhile" in state else MemoryReplayStore()
        names = {key.keyid: key.replay_name for key in map(verification_key, self.published)}
        for entry in state.get("replay_cache_entries", []):
            until = now + entry.get("ttl_seconds", 360)
            store.claim(names.get(entry["keyid"], entry["keyid"]), entry["nonce"], now=now, until=until, caps=PLENTY)
        for keyid in self._full_keys:
            store.claim(names.get(keyid, keyid), "another", now=now, until=now + 360, caps=PLENTY)
        return store

    def _revocations(self) -> RevocationList | None:
        state, now = self.state, self.now
        if "revocation_list_stale_seconds" in state:
            ended = now - state["revocation_list_stale_seconds"]
            return RevocationList(revoked=frozenset(), updated=ended - 600, next_update=ended)
        if "revocation_list" in state:
            published = state["revocation_list"]
            updated, ended = (_seconds(published[name]) for name in ("updated", "next_update"))
            kids, issuer = frozenset(published["revoked_kids"]), published.get("issuer", "")
            return RevocationList(revoked=kids, updated=updated, next_update=ended, issuer=issuer)
        if "revoked_kids" in state:
            return RevocationList(revoked=frozenset(state["revoked_kids"]), updated=now, next_update=now + 600)
        return None


class _Down:
    """A source that always fails."""

    def find(self, *_asked, **_named):
        raise ConnectionError("down, because the vector says so")

    full = claim = find


class _FilledMeanwhile(MemoryReplayStore):
    """A store whose cap another request reaches between the check and the claim."""

    def full(self, *_asked, **_named) -> bool:
        return False


def _seconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time of revocation_list has no UTC offset")
    return moment.timestamp()


def canonicalization(file: File) -> Iterator[Case]:
    """A URL with its canonical form or its error. Our own `received` and `rejected_by` are described by the recipes."""
    for case in file.value["cases"]:
        yield Case(file.name, case["name"], partial(_canonicalize, case), case)


def _canonicalize(case: dict[str, Any]) -> None:
    expected = case["expected_error_code"] if case.get("reject") else case["expected_target_uri"]
    try:
        canonical = canonicalize(case["input_url"], received=case.get("received", False))
    except MalformedURL as malformed:
        same("outcome", expected, f"request_{malformed.code}", f"the rule {malformed.rule}: {malformed}")
        same("rule", case.get("rejected_by", malformed.rule), malformed.rule)
        return
    same("target URI", expected, canonical.target_uri)
    same("authority", case["expected_authority"], canonical.authority)
    same("target URI, canonicalized again", expected, canonicalize(expected).target_uri)


def body_integrity(file: File) -> Iterator[Case]:
    """Facts about a request, from which the request is made, signed, changed and verified."""
    # The package makes a key pair when it is imported, which only these vectors need.
    from tests.conformance.body_integrity import BodyIntegrityFact  # noqa: PLC0415

    for case in file.value["cases"]:
        fact = BodyIntegrityFact(case["id"], case)
        yield Case(file.name, fact.name, fact.check, fact)


def method_names(file: File) -> Iterator[Case]:
    """The JSON-RPC methods that a policy may list, and the methods in requests that they match."""
    document, name = file.value, file.name
    for family in document["valid_declarations"]:
        for method in family["methods"]:
            check = partial(_match, family["methods"], method, matches=True)
            yield Case(name, f"{family['family']}: {method}", check, family["methods"])
    for method in document["invalid_declarations"]:
        yield Case(name, f"not to be declared: {method}", partial(_reject_declaration, method))
    for case in document["exact_match_cases"]:
        declared = case["declared_methods"]
        check = partial(_match, declared, case["wire_method"], matches=case["matches"])
        yield Case(name, case["id"], check, declared)


def _match(declared: list[str], wire: str, *, matches: bool) -> None:
    message = {"message": {"parts": [{"data": {"skill": "get_products"}}]}}
    call = {"jsonrpc": "2.0", "id": 1, "method": wire, "params": message if wire in WITH_MESSAGE else {}}
    body, fields = json.dumps(call), [("Content-Type", "application/json")]
    for option, resolver in product(OPTIONS[3:], (JSONRPCResolver(), A2AResolver())):
        policy = Policy(**{option: declared}, resolver=resolver)
        demand = policy.demand(resolver.resolve(Request("POST", "https://seller.example.com/rpc", fields, body)))
        demanded = option.removeprefix("protocol_methods_").removesuffix("_for")
        same(f"demand of {option}", demanded if matches else "none", demand)


def _reject_declaration(method: str) -> None:
    for option, names in product(OPTIONS[3:], ([method], ["tasks/cancel", method])):
        with suppress(ConfigurationError):
            Policy(**{option: names}, resolver=JSONRPCResolver())
            raise Difference(f"declaration in {option}", "rejected", "accepted")


def action(result: Result, *, unauthenticated: bool) -> str:
    """Return the name of a decision. `unauthenticated` selects the name for a rejection that the caller caused."""
    if result.code is None:
        return "accept" if result.warning is None else "accept_with_warning"
    ours = result.unavailable
    return "reject_unauthenticated" if unauthenticated and not ours else "reject"
