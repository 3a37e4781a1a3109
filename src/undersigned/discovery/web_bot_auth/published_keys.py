"""Keys whose private half is published: anybody can sign with them (Web Bot Auth section 6.8)."""

from __future__ import annotations

from typing import Final

PUBLISHED: Final = frozenset(
    {
        "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",  # RFC 9421 B.1.4, test-key-ed25519
        "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",  # RFC 9421 B.1.2, test-key-rsa-pss
        "BHj8s0GPnMEQtkaULIM-PLgEhLBbuGUQ1vMxmBWZzEo",  # RFC 9421 B.1.1, test-key-rsa
        "ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",  # RFC 9421 B.1.3, test-key-ecc-p256
        "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",  # RFC 8037 A.1
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",  # RFC 7517 A.2, RSA
        "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s",  # RFC 7517 A.2, P-256
        "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",  # RFC 7515 A.3
    }
)
"""The JWK thumbprints of such keys."""

FAULT: Final = "the key is a published test key: anybody can sign with it"
