"""The common part of the ASGI and the WSGI middleware."""

from undersigned.limits import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.message.header_fields import is_preflight
from undersigned.middleware.admission import Admission, Published
from undersigned.middleware.answer import ErrorResponse, incomplete
from undersigned.middleware.configuration import configured_verifier
from undersigned.middleware.decision import Decision
from undersigned.middleware.evidence import Evidence
from undersigned.middleware.service import AsyncOptions, Mode, Options, Service, WSGIOptions
from undersigned.url.origin import ConfiguredOrigins

__all__ = [
    "DEFAULT_BODY_TIMEOUT",
    "DEFAULT_MAX_BODY",
    "DEFAULT_MAX_UNSIGNED_BODY",
    "Admission",
    "AsyncOptions",
    "ConfiguredOrigins",
    "Decision",
    "ErrorResponse",
    "Evidence",
    "Mode",
    "Options",
    "Published",
    "Service",
    "WSGIOptions",
    "configured_verifier",
    "incomplete",
    "is_preflight",
]
