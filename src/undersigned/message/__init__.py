"""HTTP messages: requests and responses, their header fields and their content."""

from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields, Headers
from undersigned.message.reading import LENIENT, STRICT, Reading
from undersigned.message.request import Request
from undersigned.message.response import Response

__all__ = [
    "LENIENT",
    "STRICT",
    "Content",
    "HeaderFields",
    "Headers",
    "Reading",
    "Request",
    "Response",
]
