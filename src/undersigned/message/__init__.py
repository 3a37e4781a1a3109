"""HTTP messages: requests and responses, their headers and their content."""

from undersigned.message.content import Content
from undersigned.message.covered_components import Component
from undersigned.message.header_fields import HeaderFields, Headers
from undersigned.message.leniency import LENIENT, STRICT, Reading
from undersigned.message.request import Request
from undersigned.message.response import Response
from undersigned.message.signature_agent import (
    DIRECTORY_PATH,
    AgentDocument,
    SignatureAgent,
    SignatureAgentForm,
    write_signature_agent,
)
from undersigned.message.signature_input import WantedSignature, parse_accept_signature
from undersigned.message.www_authenticate import read_challenge, write_challenge

__all__ = [
    "DIRECTORY_PATH",
    "LENIENT",
    "STRICT",
    "AgentDocument",
    "Component",
    "Content",
    "HeaderFields",
    "Headers",
    "Reading",
    "Request",
    "Response",
    "SignatureAgent",
    "SignatureAgentForm",
    "WantedSignature",
    "parse_accept_signature",
    "read_challenge",
    "write_challenge",
    "write_signature_agent",
]
