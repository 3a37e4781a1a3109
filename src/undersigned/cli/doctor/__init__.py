"""`undersigned doctor`: find changes to requests in transit to a server, and the settings that fix them.

The application does not have to report what arrives. If a request for `/a//b` is rejected when signed for `/a//b` and
accepted when signed for `/a/b`, its slashes were merged. Each accepted request is sent again with a signature over
something else. That request must be rejected, which proves that a verifier answers.
"""

from undersigned.cli.doctor.command import doctor

__all__ = ["doctor"]
