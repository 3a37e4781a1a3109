"""HTTP messages: requests, their header fields and their content."""

from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields, Headers
from undersigned.message.request import Request

__all__ = [
    "Content",
    "HeaderFields",
    "Headers",
    "Request",
]
