"""The common part of the ASGI and the WSGI middleware."""

from undersigned.message.preflight import is_preflight
from undersigned.middleware.admission import ADMISSION, Admission, shown_outside
from undersigned.middleware.decision import Decision, Evidence
from undersigned.middleware.error_response import ErrorResponse, incomplete
from undersigned.middleware.openapi import SCHEME, document_signature, must_be_signed
from undersigned.middleware.options import ASGISetup, AsyncOptions, AsyncSetup, WSGIOptions, WSGISetup
from undersigned.middleware.published import Published
from undersigned.middleware.settings import configured_options
from undersigned.url.origin import ConfiguredOrigins

__all__ = [
    "ADMISSION",
    "SCHEME",
    "ASGISetup",
    "Admission",
    "AsyncOptions",
    "AsyncSetup",
    "ConfiguredOrigins",
    "Decision",
    "ErrorResponse",
    "Evidence",
    "Published",
    "WSGIOptions",
    "WSGISetup",
    "configured_options",
    "document_signature",
    "incomplete",
    "is_preflight",
    "must_be_signed",
    "shown_outside",
]
