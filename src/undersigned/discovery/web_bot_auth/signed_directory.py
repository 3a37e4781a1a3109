"""Signed directories: which keys of a directory signed it (Web Bot Auth sections 5.5.3 and B.1).

If you fetch a directory over https, you know whose it is. If you get it from somebody else, you need its signatures.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from undersigned.discovery.failures import UnusableDocument
from undersigned.discovery.jwk_set import read_json_object
from undersigned.discovery.web_bot_auth.agent_keys import read_agent_keys
from undersigned.discovery.web_bot_auth.published_keys import PUBLISHED
from undersigned.errors import ConfigurationError, SignatureError
from undersigned.limits import MOST_SIGNATURES
from undersigned.message.signature_agent import DIRECTORY_TYPE
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.profiles import WEB_BOT_AUTH_DIRECTORY
from undersigned.replay import MemoryReplayStore
from undersigned.signature.key_source import ExaminedKeys
from undersigned.signature.rules import Selection
from undersigned.url import canonicalize
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undersigned.message.response import Response
    from undersigned.signature.profile import Profile
    from undersigned.signature.verification_key import VerificationKey


def verify_directory(
    response: Response, *, accepts_test_keys: bool = False, clock: Callable[[], float] = time.time
) -> tuple[VerificationKey, ...]:
    """Return the keys of a signed directory that signed it themselves. Their owner is the URL of the directory.

    At most eight signatures are verified. A key that did not sign, or whose signature is not valid, is left out.

    Args:
        response: the response with its content, and with the request that it answers.
        accepts_test_keys: whether keys of RFC examples are accepted: in tests only.
        clock: returns seconds since the epoch.

    Raises:
        SignatureError: it is not a directory, or no key of it signed it.
        ConfigurationError: the response lacks its request.
        MalformedURL: the URL of the request has no canonical form.
    """
    if response.request is None:
        raise ConfigurationError("response: give it the request that it answers, Response(..., request=request)")
    keys = _keys(response, frozenset() if accepts_test_keys else PUBLISHED)
    first: SignatureError | None = None
    proven: list[VerificationKey] = []
    for profile in _profiles(response):
        verifier = Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=clock)
        try:
            verified = verifier.verify_response(response)
        except SignatureError as error:
            first = first or error
        else:
            proven.append(keys.keys[verified.keyid])
    if not proven and first is not None:
        raise first
    return tuple(dict.fromkeys(proven))


def _keys(response: Response, denied: frozenset[str]) -> ExaminedKeys:
    """Return the keys that a directory lists."""
    url, detail = canonicalize(response.url), f"the status is not 200, or the type not {DIRECTORY_TYPE}"
    media_type = response.fields.combined.get("content-type", "").partition(";")[0].strip().lower()
    if response.status != 200 or media_type != DIRECTORY_TYPE:  # noqa: PLR2004 - OK
        raise WEB_BOT_AUTH_DIRECTORY.error("body_malformed", step=14, detail=detail)
    owner = f"{url.scheme}://{url.authority}{url.path}"
    try:
        listed = read_agent_keys(read_json_object(response.body), owner=owner, is_directory=True, denied=denied)
    except UnusableDocument as unusable:
        raise WEB_BOT_AUTH_DIRECTORY.error("body_malformed", step=14, detail=str(unusable)) from None
    return ExaminedKeys({keyid: keys[0] for keyid, keys in listed.items()})


def _profiles(response: Response) -> Sequence[Profile]:
    """Return a profile for each signature of a directory; the usual one if there is none."""
    base = WEB_BOT_AUTH_DIRECTORY
    given = response.fields.combined.get("signature-input")
    if given is None:
        return (base,)
    try:
        members = parse_signature_input(given)
    except MalformedField as malformed:
        raise base.error("signature_header_malformed", step=1, detail=str(malformed)) from None
    labels = [label for label, read in members.items() if base.selection.accepts(read.parameters.get("tag"))]
    picked = [
        base.derive(selection=Selection(tags=base.selection.tags, label=label, pick="preferred"))
        for label in labels[:MOST_SIGNATURES]
    ]
    return picked or (base,)
