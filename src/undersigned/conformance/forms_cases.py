"""The forms of lists of cases, in which vectors of RFC 9421 and of Web Bot Auth are published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned import profiles
from undersigned.conformance.agents import AgentFieldCase
from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.form import Aside, Form, has, has_in_list, make_vector, named_objects
from undersigned.conformance.message import RequestMessage, message_by_kind
from undersigned.conformance.rfc9421 import BaseCase, ComponentCase
from undersigned.conformance.signed_message import SignedMessage
from undersigned.conformance.thumbprints import ThumbprintCase
from undersigned.conformance.verdict import VerdictCase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance.file import VectorFile
    from undersigned.conformance.grade import Gradable
    from undersigned.conformance.keys import Keys
    from undersigned.message.request import Request
    from undersigned.signature.profile import Profile


def _is_cases(file: VectorFile) -> bool:
    return has_in_list(file, "vectors", "message") or has(file, "components", "bases")


def _cases(file: VectorFile, keys: Keys) -> Iterator[Gradable | Aside]:
    document = file.document
    for member, kind in (("components", ComponentCase), ("bases", BaseCase)):
        for case, name in _optional(document, member, "id"):
            yield kind(f"{member}/{name}", case)
    for case, name in _optional(document, "vectors", "id"):
        yield make_vector(_vector, f"vectors/{name}", case, file, keys)
    for case, name in _optional(document, "policy", "id"):
        yield make_vector(_policy, f"policy/{name}", case, file, keys)
    for case, name in _optional(document, "thumbprints", "reference"):
        yield ThumbprintCase(f"thumbprints/{name}", case)
    for case, name in _optional(document, "signature_agent_fields", "name"):
        yield AgentFieldCase(f"signature_agent_fields/{name}", case)


def _optional(document: Document, member: str, name: str) -> Iterator[tuple[Document, str]]:
    return named_objects(document, member, name) if member in document.members else iter(())


def _vector(name: str, case: Document, file: VectorFile, keys: Keys) -> SignedMessage:
    return SignedMessage(
        name=name,
        message=message_by_kind(case.document("message")),
        key=keys.find(case.text("key"), file.path),
        algorithm=case.text("alg"),
        label=case.text("label"),
        base=case.text("signature_base"),
        valid=case.flag("valid"),
    )


def _policy(name: str, case: Document, file: VectorFile, keys: Keys) -> VerdictCase:
    message = message_by_kind(case.document("message"))
    if not isinstance(message, RequestMessage):
        raise MalformedVector("message is not a request")
    return VerdictCase(
        name=name,
        request=message.sent,
        profile=_web_bot_auth_profile(message.sent),
        key=keys.find(case.text("key"), file.path).by_thumbprint(),
        now=case.integer("now"),
        expected="verified" if case.flag("accept") else "rejected",
    )


def _web_bot_auth_profile(request: Request) -> Profile:
    """Return the profile of Web Bot Auth for a request. Its field shows only a String or a Dictionary."""
    given = request.fields.combined.get("signature-agent", '"')
    return profiles.WEB_BOT_AUTH_STRING if given[:1] == '"' else profiles.WEB_BOT_AUTH_TYPED


FORMS: Final = (Form(_is_cases, _cases),)
