"""Signature-Agent: the URL at which the sender of a request publishes its keys (Web Bot Auth section 5.2.1).

The field has three live wire forms. A String and a Dictionary differ on sight. But one Dictionary can mean two URLs in
two forms, so the endpoint's configuration picks its form, and never the message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

import http_sf

from undersigned.errors import MalformedURL
from undersigned.message.structured_fields import KEY, MalformedField, check_size, parse_dictionary, parse_field
from undersigned.url import URL, canonicalize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.structured_fields import Parameter

SignatureAgentForm = Literal["any", "string", "typed", "jwks"]
"""A wire form of the field.

`string`: a String, the origin of a key directory (Cloudflare and OpenAI). `typed`: a Dictionary; the `type` of a member
says what its URL names (draft-meunier-webbotauth-httpsig-protocol-02). `jwks`: a Dictionary; every member is the URL of
a JWK set (draft-ietf-webbotauth-httpsig-protocol-01). `any`: for readers, `string` or `jwks`, as the value is.
"""

AgentDocument = Literal["directory", "jwks_uri", "cimd"]
"""What a URL names: the origin of a key directory, a JWK set, or a client id metadata document (a card)."""

DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
"""The path of a key directory (Web Bot Auth section 5.5)."""

DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
"""The media type of a key directory."""

_DOCUMENTS: frozenset[str] = frozenset(get_args(AgentDocument))
_WRITTEN: frozenset[str] = frozenset({"string", "typed", "jwks"})


@dataclass(frozen=True, slots=True)
class SignatureAgent:
    """The document that a value of Signature-Agent names, and the sender that it identifies.

    Attributes:
        url: the URL as the sender wrote it.
        document: what the URL names.
        location: the URL to fetch, in canonical form. It also says who the sender is. Web Bot Auth section 5.5 leaves
            the query out; but then two tenants of a host whose URLs differ in it would be one sender.
    """

    url: str
    document: AgentDocument
    location: str


def read_signature_agent(value: str, *, form: SignatureAgentForm, member: str = "") -> SignatureAgent | None:
    """Return the agent that a value of Signature-Agent names, or None if the value must be ignored.

    Args:
        value: the field value: all lines, joined with a comma.
        form: the wire form.
        member: the key of the member that the signature covers, in the forms that are Dictionaries.

    Raises:
        MalformedField: the field does not have this form, is too large, or has no such member. Or the member is not an
            absolute https URL.
    """
    check_size(value)
    form = form_of(value, form)
    if form == "string":
        return _agent(_string(value), "directory")
    members = parse_dictionary(value)
    if member not in members:
        raise MalformedField("Signature-Agent does not have the member that the signature covers")
    return _member(*members[member], form)


def form_of(value: str, form: SignatureAgentForm) -> SignatureAgentForm:
    """Return the form in which a value is read: for `any`, the one in which it is written."""
    if form != "any":
        return form
    return "string" if value.startswith('"') else "jwks"


def write_signature_agent(
    url: str, *, form: SignatureAgentForm, label: str = "sig1", document: AgentDocument = "directory"
) -> str:
    """Return a value of Signature-Agent: the field that a signer sends and covers.

    Args:
        url: for `string`, and for a key directory in `typed`, the origin. Else the URL of the document.
        form: the wire form, as the destination reads it.
        label: the label of the signature: the key of the member, in the forms that are Dictionaries.
        document: what the URL names, in the form `typed`.

    Raises:
        ValueError: no receiver that reads this form would read this URL, or `label` cannot be a label.
    """
    if form not in _WRITTEN or document not in _DOCUMENTS:
        raise ValueError('form: must be "string", "typed" or "jwks"; document: "directory", "jwks_uri" or "cimd"')
    if KEY.fullmatch(label) is None:
        raise ValueError("label: use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)")
    spelled = f'"{url}"' if form == "string" else f'{label}="{url}"'
    if form == "typed" and document != "directory":
        spelled += f";type={document}"
    try:
        read = read_signature_agent(spelled, form=form, member=label)
    except MalformedField:
        read = None
    if read is None or read.url != url:
        raise ValueError("url: give an https URL; for a key directory, its origin, such as https://bot.example")
    return spelled


def _string(value: str) -> str:
    """Return the String that a value is, without its parameters (RFC 9651 section 3.3)."""
    read, _ = cast("tuple[object, object]", parse_field(value, "item"))
    if type(read) is not str:
        raise MalformedField("Signature-Agent is not a String")
    return read


def _member(value: object, parameters: Mapping[str, Parameter], form: SignatureAgentForm) -> SignatureAgent | None:
    if form != "typed":
        return None if parameters else _agent(value, "jwks_uri")
    document = parameters.get("type", http_sf.Token("directory"))
    if not isinstance(document, http_sf.Token) or str(document) not in _DOCUMENTS:
        return None
    return _agent(value, cast("AgentDocument", str(document)))


def _agent(value: object, document: AgentDocument) -> SignatureAgent | None:
    """Return the agent that an absolute https URL names, or None if it is not a URL of this document.

    Raises:
        MalformedField: the value is not such a URL.
    """
    # A list of items, a token and a display string are other types than str.
    if type(value) is not str:
        raise MalformedField("a member of Signature-Agent is not a String")
    try:
        canonical, given = canonicalize(value, received=True), URL.parse(value)
    except MalformedURL as malformed:
        raise MalformedField(f"the URL of Signature-Agent is rejected by the rule {malformed.rule!r}") from None
    if canonical.scheme != "https" or given.userinfo is not None:
        raise MalformedField("the URL of Signature-Agent is not an https URL, or has user info")
    if document != "directory":
        return SignatureAgent(value, document, canonical.target_uri)
    if canonical.path != "/" or canonical.query is not None or "#" in value:
        return None
    return SignatureAgent(value, document, f"https://{canonical.authority}{DIRECTORY_PATH}")
