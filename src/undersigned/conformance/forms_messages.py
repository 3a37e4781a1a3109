"""The forms of whole messages, which the documents of profiles publish."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

from undersigned import profiles
from undersigned.conformance.cavage import ALGORITHM, CavageMessage, parameters
from undersigned.conformance.document import Document, MalformedVector, read_json
from undersigned.conformance.form import Aside, Form, has, has_in_list, make_vector, named_objects
from undersigned.conformance.message import RequestMessage, ResponseMessage, message_by_status
from undersigned.conformance.published_key import PublishedKey
from undersigned.conformance.signed_message import SignedMessage
from undersigned.conformance.verdict import VerdictCase
from undersigned.message.request import Request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undersigned.conformance.file import VectorFile
    from undersigned.conformance.grade import Gradable
    from undersigned.conformance.keys import Keys
    from undersigned.message.response import Response
    from undersigned.message.strict_json import JSONValue
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile

_PROFILES: Final[Mapping[str, Profile]] = {
    "wba-string": profiles.WEB_BOT_AUTH_STRING,
    "wba-typed": profiles.WEB_BOT_AUTH_TYPED,
    "wba-jwks": profiles.WEB_BOT_AUTH_JWKS,
    "ucp-request": profiles.UCP,
    "ucp-response": profiles.UCP_RESPONSE,
    "ucp-dual": profiles.UCP_DUAL,
    "activitypub-rfc9421": profiles.ACTIVITYPUB,
    "activitypub-cavage": profiles.ACTIVITYPUB,
    "gnap": profiles.GNAP,
    "fapi-request": profiles.FAPI_2_REQUEST,
    "fapi-response": profiles.FAPI_2_RESPONSE,
    "wimse-request": profiles.WIMSE,
    "aauth": profiles.AAUTH,
    "tap": profiles.TAP,
    "wba-directory": profiles.WEB_BOT_AUTH_DIRECTORY,
}
"""The profile of each whole message that was published, by its id. Others name it by `profile`."""

_RFC_9421: Final = "rfc9421"


def _examples(file: VectorFile, _keys: Keys) -> Iterator[Gradable | Aside]:
    for case, name in named_objects(file.document, "examples", "id"):
        yield make_vector(_example if "signature-input" in _lower(case) else _legacy_example, name, case)
        profile = _PROFILES.get(name) or _named_profile(case)
        if profile is not None:
            yield make_vector(_example_verdict, f"{name}: verdict", case, profile)


def _named_profile(case: Document) -> Profile | None:
    """Return the profile that the message names as the command line does, or None."""
    name = case.members.get("profile")
    return profiles.BY_NAME.get(name) if isinstance(name, str) else None


def _example(name: str, case: Document) -> SignedMessage:
    return SignedMessage(
        name=name,
        message=message_by_status(case),
        key=PublishedKey.read(case.members.get("jwk")),
        algorithm=case.text("algorithm", ""),
        label=case.text("label", ""),
        base=case.text("signature_base"),
        valid=case.flag("signature_valid", default=True),
        digested=True if "content-digest" in _lower(case) else None,
    )


def _legacy_example(name: str, case: Document) -> CavageMessage:
    return _legacy(name, case, PublishedKey.read(case.members.get("jwk")))


def _legacy(name: str, case: Document, key: PublishedKey) -> CavageMessage:
    return CavageMessage(name=name, request=_request(case), key=key, base=case.text("signature_base"))


def _request(case: Document) -> Request:
    message = message_by_status(case)
    if not isinstance(message, RequestMessage):
        raise MalformedVector("the message is not a request")
    return message.sent


def _response(case: Document) -> Response:
    """Return a response with the request that it answers."""
    message = message_by_status(case)
    if not isinstance(message, ResponseMessage):
        raise MalformedVector("the message is not a response")
    # `message_by_status` gives every response its request.
    return replace(message.sent, request=cast("RequestMessage", message.asked).sent)


def _example_verdict(name: str, case: Document, profile: Profile) -> VerdictCase:
    algorithm = case.text("algorithm", "")
    return VerdictCase(
        name=name,
        request=_response(case) if profile.message == "response" else _request(case),
        profile=profile,
        key=PublishedKey.read(case.members.get("jwk")).by_kid(algorithm),
        now=case.integer("now"),
        expected=case.text("outcome", "verified"),
    )


def _schemes(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    published = file.document.document("keys")
    for case, name in named_objects(file.document, "vectors", "id"):
        yield make_vector(_scheme if case.text("scheme") == _RFC_9421 else _legacy_scheme, name, case, published)
        yield make_vector(_scheme_verdict, f"{name}: verdict", case, published)


def _scheme(name: str, case: Document, published: Document) -> SignedMessage:
    return SignedMessage(
        name=name,
        message=message_by_status(case),
        key=PublishedKey.read(published.members.get(case.text("key"))),
        algorithm=case.text("alg"),
        base=case.text("signature_base"),
    )


def _legacy_scheme(name: str, case: Document, published: Document) -> CavageMessage:
    return _legacy(name, case, PublishedKey.read(published.members.get(case.text("key"))))


def _scheme_verdict(name: str, case: Document, published: Document) -> VerdictCase:
    request = _request(case)
    is_cavage = "signature-input" not in request.fields.combined
    keyid = parameters(request).keyid if is_cavage else str(_parameter(request, "keyid"))
    try:
        now = datetime.fromisoformat(case.text("now"))
    except ValueError:
        raise MalformedVector("now is not a date and time of ISO 8601") from None
    return VerdictCase(
        name=name,
        request=request,
        profile=profiles.ACTIVITYPUB,
        key=PublishedKey.read(published.members.get(case.text("key"))).under_keyid(keyid, ALGORITHM),
        now=int(now.timestamp()),
        expected="verified",
    )


def _parameter(request: Request, name: str) -> Parameter:
    """Return a parameter of the first signature, or "" if there is none."""
    try:
        members = parse_signature_input(request.fields.combined.get("signature-input") or "")
    except MalformedField:
        return ""
    return next(iter(members.values())).parameters.get(name, "")


def _alone(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    name, document = file.path.stem, file.document
    if "response" in document.members:
        yield make_vector(_directory, name, document)
        return
    yield make_vector(_example, name, document)
    yield make_vector(_gnap_verdict, f"{name}: verdict", document)


def _gnap_verdict(name: str, case: Document) -> VerdictCase:
    """Return the verdict about the one request that is published alone, at the time when it was made."""
    request = _request(case)
    keyid, created = (_parameter(request, one) for one in ("keyid", "created"))
    if not isinstance(created, int):
        raise MalformedVector("the signature has no created")
    key = PublishedKey.read(case.members.get("jwk")).under_keyid(str(keyid), "")
    return VerdictCase(name=name, request=request, profile=profiles.GNAP, key=key, now=created, expected="verified")


def _directory(name: str, case: Document) -> SignedMessage:
    """Return a signed response whose content is the JWK set with its key."""
    asked, answered = case.document("request"), case.document("response")
    keys = _object(answered.text("body")).documents("keys")
    if not keys:
        raise MalformedVector("the content of the response has no key")
    return SignedMessage(
        name=name,
        message=message_by_status(Document({**asked.members, **answered.members})),
        key=PublishedKey(keys[0]),
        base=case.text("signature_base"),
        digested=True,
    )


def _negatives(file: VectorFile, _keys: Keys) -> Iterator[Gradable | Aside]:
    for case, name in named_objects(file.document, "vectors", "id"):
        yield make_vector(_negative, name, case)


def _negative(name: str, case: Document) -> VerdictCase:
    request = _request(case.document("request"))
    keys = case.document("directory").documents("keys") if "directory" in case else []
    # They run for a century, which the draft advises against and does not forbid.
    typed = profiles.WEB_BOT_AUTH_TYPED
    outcome = case.document("expected").text("outcome")
    return VerdictCase(
        name=name,
        request=request,
        profile=typed.derive(validity=replace(typed.validity, longest=None)),
        key=PublishedKey(keys[0]).by_kid() if keys else None,
        now=case.integer("now"),
        expected={"unverified": "unknown"}.get(outcome, outcome),
        agent_form="typed",
    )


def _http(file: VectorFile, keys: Keys) -> Iterator[Gradable]:
    yield make_vector(_http_request, file.path.stem, file, keys)


def _http_request(name: str, file: VectorFile, keys: Keys) -> SignedMessage:
    sent = file.document.document("http")
    fields = sent.pairs("fields")
    host = next((value for name, value in fields if name.lower() == "host"), "")
    request = Request(sent.text("method"), f"https://{host}{sent.text('target')}", fields, sent.text("body"))
    return SignedMessage(name=name, message=RequestMessage(request), key=keys.alone(file.path))


def _object(text: str) -> Document:
    value: JSONValue = read_json(text.encode("utf-8", "surrogatepass"))
    return Document(value if isinstance(value, dict) else {})


def _lower(case: Document) -> set[str]:
    return {name.lower() for name, _ in case.pairs("headers")}


FORMS: Final = (
    Form(lambda file: has_in_list(file, "examples", "headers"), _examples),
    Form(lambda file: has_in_list(file, "vectors", "scheme"), _schemes),
    Form(lambda file: has_in_list(file, "vectors", "signedBase"), _negatives),
    Form(lambda file: has(file, "signature_base") and has(file, "headers", "response"), _alone),
    Form(lambda file: has(file, "http"), _http),
)
"""The forms, the most particular first."""
