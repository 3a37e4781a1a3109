"""Whole messages as the documents of profiles publish them, and RFC 9421 as data: components, bases, signatures.

A signed message is compared at the level of RFC 9421: no profile says whether it is accepted. A verdict is a profile's.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.conformance.case import Case, Difference, File, Held, same, verification_key

from undersigned import MemoryReplayStore, Profile, Request, Response, SignatureError, SigningKey, Verifier, profiles
from undersigned.activitypub import ActivityPubVerifier
from undersigned.cavage.signing_string import CavageParameters, signing_string
from undersigned.message import LENIENT, HeaderFields, Reading
from undersigned.message.request_target import typed_target
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences
from undersigned.signature import ComponentValues, UnresolvableComponent, signature_base
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned import VerificationKey

LEGACY = "rsa-v1_5-sha256"
OTHERWISE = {"2.2.8-invalid-utf8": '"@query-param";name="a": %FF'}
"""What we read otherwise: HTML decoding gives all octets that are not UTF-8 one value, and another would verify."""
DETERMINISTIC = {"ed25519", LEGACY, "hmac-sha256"}
PROFILES = {"ucp-dual": "ucp-dual", "activitypub-rfc9421": "activitypub", "activitypub-cavage": "activitypub"} | {
    "wba-string": "web-bot-auth-string",
    "wba-typed": "web-bot-auth-typed",
    "wba-jwks": "web-bot-auth-jwks",
    "wba-directory": "web-bot-auth-directory",
    "ucp-request": "ucp",
    "ucp-response": "ucp-response",
    "gnap": "gnap",
    "fapi-request": "fapi-2-request",
    "fapi-response": "fapi-2-response",
    "wimse-request": "wimse",
}
"""The profile of each whole message that was published, by its id. Others name it by `profile`."""


class Message:
    """A request or a response, with what its vector publishes beside the message itself."""

    def __init__(
        self,
        sent: Request | Response,
        *,
        asked: Message | None = None,
        target: str | None = None,
        trailers: HeaderFields | None = None,
    ) -> None:
        self.sent, self._asked, self._target, self._trailers = sent, asked, target, trailers

    @classmethod
    def read(cls, given: dict[str, Any]) -> Message:
        """Read a message: a response if it has a `status`. Its lines are `fields` or `headers`."""
        url, trailers = given.get("target_uri") or given.get("url"), given.get("trailers")
        lines = HeaderFields(_pairs(trailers)) if trailers is not None else None
        fields = _pairs(given["fields"] if "fields" in given else given["headers"])
        if "status" not in given:
            sent = Request(given["method"], url, fields, given.get("body", ""))
            return cls(sent, target=given.get("request_target"), trailers=lines)
        asked = cls.read(given["request"]) if "request" in given else None
        if url is not None:
            asked = cls(Request(given["method"], url, _pairs(given.get("request_headers", ()))))
        answered = asked.sent if asked is not None and isinstance(asked.sent, Request) else None
        response = Response(given["status"], fields, given.get("body", ""), trailers=lines, request=answered)
        return cls(response, asked=asked)

    @property
    def fields(self) -> Any:
        return self.sent.fields.combined

    def values(self, reading: Reading = LENIENT) -> Any:
        """Return the component values."""
        if isinstance(self.sent, Response):
            values = ComponentValues(self.sent, canonicalize("https://unknown.example/"), reading=reading)
            values.requested = self._asked and self._asked.values(reading)
            return values
        target = canonicalize(self.sent.url)
        return ComponentValues(self.sent, target, reading=reading, request_target=self._target, trailers=self._trailers)

    def base(self, label: str) -> str:
        """Return the signature base of a label; "" means the only one."""
        members = parse_signature_input(self.fields["signature-input"], repeated_keys=True)
        if not label:
            [label] = members
        return signature_base(self.values(), members[label].components, members[label].text)


def signed_message(
    message: Message,
    key: Any,
    *,
    algorithm: str = "",
    label: str = "",
    base: str = "",
    valid: bool = True,
    digested: bool = False,
) -> None:
    """Compare the base, whether signature and digest are valid, and the signature that is made again."""
    try:
        found, note = message.base(label), ""
    except (UnresolvableComponent, MalformedField) as error:
        found, note = "an error", str(error)
    if base or note:
        same("signature base", base, found, note)
    verifier, octets = verification_key(key, algorithm), found.encode("ascii")
    members = parse_byte_sequences(message.fields["signature"], "base64")
    signature = members[label or next(iter(members))]
    same("signature valid", valid, verifier.verifies(signature, octets))
    if digested:
        given = re.findall(r"(sha-256|sha-512)=:(.*?):", message.fields["content-digest"])
        hashed = {name: hashlib.new(name.replace("-", ""), message.sent.body).digest() for name, _ in given}
        same("content digest", {name: base64.b64decode(value) for name, value in given}, hashed)
    if valid and not isinstance(key, str) and {"d", "k"} & (jwk := key.get("jwk", key)).keys():
        made = SigningKey.from_jwk({**jwk, "kid": "k", **({"alg": algorithm} if algorithm else {})}).sign(octets)
        if verifier.algorithms <= DETERMINISTIC:
            same("signature, signed again", signature, made)
        same("new signature valid", expected=True, found=verifier.verifies(made, octets))


def legacy_message(request: Request, key: Any, base: str) -> None:
    """Compare the signing string of draft-cavage-http-signatures-12, and whether the signature is valid."""
    read = CavageParameters.parse(request.fields.combined["signature"])
    target = typed_target(request.url, canonicalize(request.url))
    found = signing_string(request, target, read.names, created=read.created, expires=read.expires)
    same("signing string", base, found)
    valid = verification_key(key, LEGACY).verifies(read.signature, found.encode("ascii"))
    same("signature valid", expected=True, found=valid)


def verdict(
    message: Request | Response,
    profile: Profile,
    key: VerificationKey | None,
    *,
    now: int,
    expected: str,
    agent: Any = None,
) -> None:
    """Compare the outcome by a profile: `verified`, `invalid`, `unknown`, or `rejected` for one of the latter."""
    # Its verifier also takes signatures by the scheme before RFC 9421.
    make = ActivityPubVerifier if profile.name == profiles.ACTIVITYPUB.name else Verifier
    keys = Held(*([] if key is None else [key]), agent_form=agent)
    verifier = make(keys=keys, replay=MemoryReplayStore(), profile=profile, clock=lambda: now)
    found, note = "verified", ""
    try:
        verifier.verify_response(message) if isinstance(message, Response) else verifier.verify(message)
    except SignatureError as error:
        found, note = "unknown" if error.reason in profile.answers.unknown else "invalid", error.detail
    if expected == "rejected" and found != "verified":
        found = "rejected"
    same("outcome", expected, found, note)


def cases(file: File) -> Iterator[Case]:
    """RFC 9421 and Web Bot Auth as data: components and bases, signed messages, verdicts."""
    value, name = file.value, file.name
    for case in value.get("components", []):
        yield Case(name, f"components/{case['id']}", partial(_compare_read, case, "expected_line", component), case)
    for case in value.get("bases", []):
        yield Case(name, f"bases/{case['id']}", partial(_compare_read, case, "expected_base", _base), case)
    for case in value.get("vectors", []):
        yield Case(name, f"vectors/{case['id']}", partial(_signed_case, file, case), case)
    for case in value.get("policy", []):
        yield Case(name, f"policy/{case['id']}", partial(_policy_case, file, case), case)


def component(case: dict[str, Any], reading: Reading = LENIENT) -> str:
    """Return the line of a component of a message."""
    [read] = parse_signature_input(f"s=({case['component']})")["s"].components
    types = {read.name: case["sf_type"]} if case.get("sf_type") and reading is LENIENT else {}
    values = Message.read(case["message"]).values(reading._replace(field_types=types) if types else reading)
    return f"{read.text}: {values.value(read)}"


def _base(case: dict[str, Any]) -> str:
    return Message.read(case["message"]).base(case["label"])


def _compare_read(case: dict[str, Any], member: str, read: Any) -> None:
    expected = "an error" if case.get("error") else OTHERWISE.get(case["id"], case[member])
    try:
        found, note = read(case), ""
    except (UnresolvableComponent, MalformedField) as error:
        found, note = "an error", str(error)
    same(member, expected, found, note)


def _signed_case(file: File, case: dict[str, Any]) -> None:
    message, key = Message.read(case["message"]), file.keys.find(case["key"], file.path)
    signed = {"label": case["label"], "base": case["signature_base"], "valid": case["valid"]}
    signed_message(message, key, algorithm=case["alg"], **signed)


def _policy_case(file: File, case: dict[str, Any]) -> None:
    request, published = Message.read(case["message"]).sent, file.keys.find(case["key"], file.path)
    # The field shows only a String or a Dictionary.
    is_string = request.fields.combined.get("signature-agent", '"').startswith('"')
    profile = profiles.WEB_BOT_AUTH_STRING if is_string else profiles.WEB_BOT_AUTH_TYPED
    jwk = {name: value for name, value in published.get("jwk", published).items() if name != "kid"}
    verdict(
        request, profile, verification_key(jwk), now=case["now"], expected="verified" if case["accept"] else "rejected"
    )


def examples(file: File) -> Iterator[Case]:
    """Whole messages in one file, each with its key; and the verdict of the profile that it is for, if it is known."""
    for case in file.value["examples"]:
        yield from _example(file.name, case["id"], case)
        profile = profiles.BY_NAME.get(PROFILES.get(case["id"]) or case.get("profile", ""))
        if profile is not None:
            check = partial(_example_verdict, case, profile)
            yield Case(file.name, f"{case['id']}: verdict", check, (profile.name, case.get("outcome")))


def _example(name: str, of: str, case: dict[str, Any]) -> Iterator[Case]:
    names = {field.lower() for field, _ in _pairs(case["headers"])}
    yield Case(name, of, partial(_signed_example, case, names), case)


def _signed_example(case: dict[str, Any], names: set[str]) -> None:
    message, base = Message.read(case), case["signature_base"]
    if "signature-input" not in names:
        legacy_message(message.sent, case["jwk"], base)
        return
    digested, valid = "content-digest" in names, case.get("signature_valid", True)
    given = {"label": case.get("label", ""), "base": base, "valid": valid, "digested": digested}
    signed_message(message, case["jwk"], algorithm=case.get("algorithm", ""), **given)


def _example_verdict(case: dict[str, Any], profile: Profile) -> None:
    key, expected = verification_key(case["jwk"], case.get("algorithm", "")), case.get("outcome", "verified")
    verdict(Message.read(case).sent, profile, key, now=case["now"], expected=expected)


def schemes(file: File) -> Iterator[Case]:
    """Requests of the fediverse, by RFC 9421 or by the scheme before it, with keys that the file names."""
    for case in file.value["vectors"]:
        key = file.value["keys"][case["key"]]
        published = key if isinstance(key, str) else key.get("public_key_pem", key)
        yield Case(file.name, case["id"], partial(_scheme, case, published), case)
        yield Case(file.name, f"{case['id']}: verdict", partial(_scheme_verdict, case, published), case)


def _scheme(case: dict[str, Any], key: Any) -> None:
    message = Message.read(case)
    if case["scheme"] == "rfc9421":
        signed_message(message, key, algorithm=case["alg"], base=case["signature_base"])
    else:
        legacy_message(message.sent, key, case["signature_base"])


def _scheme_verdict(case: dict[str, Any], key: Any) -> None:
    now = int(datetime.fromisoformat(case["now"]).timestamp())
    named = verification_key(key, LEGACY, kid=_keyid(Message.read(case)))
    verdict(Message.read(case).sent, profiles.ACTIVITYPUB, named, now=now, expected="verified")


def _keyid(message: Message) -> str:
    if "signature-input" in message.fields:
        return str(_parameters(message)["keyid"])
    return CavageParameters.parse(message.fields["signature"]).keyid


def _parameters(message: Message) -> Any:
    return next(iter(parse_signature_input(message.fields["signature-input"]).values())).parameters


def alone(file: File) -> Iterator[Case]:
    """One message in a file: a request with its key, or a response whose content is the JWK set with its key."""
    case, name = file.value, file.path.stem
    if "response" in case:
        yield Case(file.name, name, partial(_directory, case), case)
        return
    yield from _example(file.name, name, case)
    yield Case(file.name, f"{name}: verdict", partial(_gnap_verdict, case), case)


def _directory(case: dict[str, Any]) -> None:
    message = Message.read({**case["request"], **case["response"]})
    [key, *_] = json.loads(case["response"]["body"])["keys"]
    signed_message(message, key, base=case["signature_base"], digested=True)


def _gnap_verdict(case: dict[str, Any]) -> None:
    """Decide about the one request that is published alone, at the time when it was made."""
    message = Message.read(case)
    parameters = _parameters(message)
    key = verification_key(case["jwk"], kid=parameters["keyid"])
    verdict(message.sent, profiles.GNAP, key, now=parameters["created"], expected="verified")


def negatives(file: File) -> Iterator[Case]:
    """Requests of Web Bot Auth with the key directory that a verifier finds."""
    for case in file.value["vectors"]:
        yield Case(file.name, case["id"], partial(_negative, case), case)


def _negative(case: dict[str, Any]) -> None:
    keys = (case.get("directory") or {}).get("keys", [])
    # They run for a century, which the draft advises against and does not forbid.
    typed = profiles.WEB_BOT_AUTH_TYPED
    profile = typed.derive(validity=typed.validity._replace(longest=None))
    outcome = {"unverified": "unknown"}.get(case["expected"]["outcome"], case["expected"]["outcome"])
    key = verification_key(keys[0]) if keys else None
    verdict(Message.read(case["request"]).sent, profile, key, now=case["now"], expected=outcome, agent="typed")


def targets(file: File) -> Iterator[Case]:
    """Requests to one URL, of which only the signature fields are published."""
    for index, case in enumerate(file.value):
        yield Case(file.name, f"[{index}] {case['label']}", partial(_target, case), case)


def _target(case: dict[str, Any]) -> None:
    names = ("signature_input", "signature", "signature_agent")
    fields = [(name.replace("_", "-"), case[name]) for name in names if case.get(name)]
    signed_message(Message(Request("GET", case["target_url"], fields)), case["key"], label=case["label"])


def http(file: File) -> Iterator[Case]:
    """One request as text, whose key has a file of its own."""
    yield Case(file.name, file.path.stem, partial(_http, file), file.value)


def _http(file: File) -> None:
    head, _, body = file.value["http"].partition("\n\n")
    start, *lines = head.splitlines()
    method, target, _ = start.split()
    fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    host = next(value for name, value in fields if name.lower() == "host")
    message = Message(Request(method, f"https://{host}{target}", fields, body))
    signed_message(message, file.keys.alone(file.path))


def _pairs(given: Any) -> list[tuple[str, str]]:
    pairs = given.items() if isinstance(given, dict) else given
    if not all(isinstance(value, str) for pair in pairs for value in pair):
        raise Difference("not a vector", "pairs of texts", "something else")
    return [(name, value) for name, value in pairs]
