"""Own parameters: parameters of a profile whose values a message determines, such as its audience."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from undersigned.errors import MalformedURL
from undersigned.message.signature_input import choose_signature_inputs
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.errors import Reason
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile


def written_parameters(profile: Profile, message: Request | Response, target_uri: str) -> dict[str, Parameter]:
    """Return the profile's own parameters that a signer writes for a target URI, unless it is given others."""
    rule = profile.parameters
    written: dict[str, Parameter] = {}
    if rule.audience:
        written[rule.audience] = target_uri.partition("?")[0]
    if rule.echo:
        nonce = _of_request(profile, message).get("nonce")
        if nonce is not None:
            written[rule.echo] = nonce
    return written | dict.fromkeys([name for name in rule.own if name in rule.written], True)


def fault_of_own(
    profile: Profile, parameters: Mapping[str, Parameter], message: Request | Response
) -> tuple[Reason, str] | None:
    """Return what is wrong with the own parameters of a signature, as a reason and a sentence, or None."""
    rule = profile.parameters
    if rule.audience and parameters.get(rule.audience) not in _audiences(cast("Request", message)):
        return "signature_params_unexpected", f"{rule.audience} is not the target URI without its query"
    if rule.echo:
        asked, given = _of_request(profile, message), parameters.get(rule.echo)
        if given is None and asked.get(rule.echo_if) is True:
            return "signature_params_incomplete", f"no {rule.echo} parameter, although the request has {rule.echo_if}"
        if given is not None and given != asked.get("nonce"):
            return "signature_params_unexpected", f"{rule.echo} is not the nonce of the request"
    return None


def _audiences(request: Request) -> set[object]:
    """Return the target URI without its query, as it was typed and in canonical form."""
    typed = request.url.partition("?")[0]
    try:
        return {typed, request.received_target().target_uri.partition("?")[0]}
    except MalformedURL:
        return {typed}


def _of_request(profile: Profile, message: Request | Response) -> Mapping[str, Parameter]:
    """Return the parameters of the signature of the request that a response answers, or none."""
    request = cast("Response", message).request
    given = "" if request is None else request.fields.combined.get("signature-input", "")
    try:
        chosen = choose_signature_inputs(given, profile.selection.labels)
    except MalformedField:
        return {}
    return chosen[0][1].parameters if chosen else {}
