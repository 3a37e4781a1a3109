"""Web Bot Auth in clients: each request says where its sender's keys are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError
from undersigned.message.signature_agent import SignatureAgentForm, write_signature_agent

if TYPE_CHECKING:
    from undersigned.signature.signer import Signer


class BotAuth:
    """A signer for bots: each request says with Signature-Agent where the bot's keys are, and the signature covers it.

    Any client takes it as its signer. With `origins=lambda origin: True`, a crawler signs for every site.

    Args:
        signer: signs with a profile of Web Bot Auth.
        agent: the URL that names the keys: the origin of the key directory, or in the form `jwks` the JWK set.
        form: the wire form of Signature-Agent, as the sites read it.

    Attributes:
        signer: as given.
        field: the field, as a name and a value.

    Raises:
        ConfigurationError: no receiver would read the URL in this form, or the profile is for another form.
    """

    __slots__ = ("field", "signer")

    def __init__(self, signer: Signer, *, agent: str, form: SignatureAgentForm = "string") -> None:
        rule = signer.profile.coverage
        if rule.member_of not in rule.if_sent and (form == "string") == bool(rule.member_of):
            raise ConfigurationError(f"form: {signer.profile.name} does not cover Signature-Agent in the form {form}")
        try:
            value = write_signature_agent(agent, form=form, label=signer.profile.selection.label)
        except ValueError as wrong:
            raise ConfigurationError(f"agent: {wrong}") from None
        self.signer = signer
        self.field = ("Signature-Agent", value)
