"""The common part of the ASGI and the WSGI middleware."""

from undersigned.limits import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.middleware.answer import ErrorResponse, shaped
from undersigned.middleware.configuration import configured_verifier
from undersigned.middleware.decision import Decision, Recorder
from undersigned.middleware.evidence import Evidence
from undersigned.middleware.options import AsyncOptions, Mode, Options, WSGIOptions
from undersigned.middleware.requirement import Verification, is_preflight
from undersigned.url.origin import ConfiguredOrigins

__all__ = [
    "DEFAULT_BODY_TIMEOUT",
    "DEFAULT_MAX_BODY",
    "DEFAULT_MAX_UNSIGNED_BODY",
    "AsyncOptions",
    "ConfiguredOrigins",
    "Decision",
    "ErrorResponse",
    "Evidence",
    "Mode",
    "Options",
    "Recorder",
    "Verification",
    "WSGIOptions",
    "configured_verifier",
    "is_preflight",
    "shaped",
]
