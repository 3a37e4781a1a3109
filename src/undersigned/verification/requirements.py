"""Requirements: what a profile asks of a signature's parameters and components (AdCP steps 2 and 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.signature.own_parameters import fault_of_own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.component import Coverage
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile


def check_parameters(parameters: Mapping[str, Parameter], profile: Profile, message: Request | Response) -> None:
    """Check the signature parameters that a profile requires, forbids or defines itself (step 2).

    Raises:
        SignatureError: a parameter is missing, or not what the profile asks for.
    """
    rule = profile.parameters
    if not parameters.keys() >= rule.required:
        missing = rule.missing(parameters)
        raise profile.error("signature_params_incomplete", step=2, detail=f"no {', '.join(missing)} parameter")
    if rule.forbidden and not rule.forbidden.isdisjoint(parameters):
        unexpected = sorted(rule.forbidden.intersection(parameters))
        detail = f"the profile forbids the {', '.join(unexpected)} parameter"
        raise profile.error("signature_params_unexpected", step=2, detail=detail)
    fault = fault_of_own(profile, parameters, message)
    if fault is not None:
        reason, detail = fault
        raise profile.error(reason, step=2, detail=detail)


def check_coverage(coverage: Coverage, request: Request | Response, profile: Profile, label: str) -> None:
    """Check that required components are covered without parameters, and that forbidden ones are not covered (step 6).

    Raises:
        SignatureError: a component is missing, or must not be covered.
    """
    rule = profile.coverage
    if rule.is_conditional:
        if rule.sent and (absent := rule.absent(request)):
            raise profile.error("signature_identity_missing", step=6, detail=f"no {', '.join(absent)} field")
        missing = rule.faults(coverage, request, label)
        if profile.digest.policy == "required" and request.has_body and "content-digest" not in coverage.bare:
            missing.append("content-digest must be covered")
        if missing:
            raise profile.error("signature_components_incomplete", step=6, detail="; ".join(missing))
        if rule.never and (unexpected := rule.unexpected_components(coverage)):
            detail = f"{', '.join(unexpected)} must not be covered"
            raise profile.error("signature_components_unexpected", step=6, detail=detail)
    else:
        required = profile.required_components[request.has_body]
        if not coverage.bare.issuperset(required):
            lacking = ", ".join([name for name in required if name not in coverage.bare])
            raise profile.error("signature_components_incomplete", step=6, detail=f"{lacking} must be covered")
    if profile.digest.policy == "forbidden" and "content-digest" in coverage.names:
        raise profile.error("signature_components_unexpected", step=6, detail="content-digest must not be covered")
