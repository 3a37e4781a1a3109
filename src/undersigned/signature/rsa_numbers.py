"""Numbers of RSA keys: which of them are a key that may verify or sign (RFC 8017 section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric import rsa

from undersigned.limits import LEAST_RSA_BITS, MOST_RSA_BITS

if TYPE_CHECKING:
    from collections.abc import Mapping

_FACTORS: Final = ("p", "q", "dp", "dq", "qi")
_SMALLEST_EXPONENT: Final = 3
_LARGEST_EXPONENT: Final = 2**32


def rsa_fault(modulus: int, exponent: int) -> str:
    """Return why two numbers may not be a public RSA key, or "" (RFC 7518 section 3.3 and 3.5 on the length).

    A long modulus and a large exponent make each verification expensive, and the publisher of a key chooses them.
    """
    bits = modulus.bit_length()
    if not LEAST_RSA_BITS <= bits <= MOST_RSA_BITS:
        return f"an RSA key must have {LEAST_RSA_BITS} to {MOST_RSA_BITS} bits"
    if modulus % 2 == 0 or exponent % 2 == 0 or not _SMALLEST_EXPONENT <= exponent < _LARGEST_EXPONENT:
        return "n must be odd, and e odd and from 3 to 2^32"
    return ""


def private_rsa_numbers(public: rsa.RSAPublicNumbers, secret: int, factors: Mapping[str, int]) -> rsa.RSAPrivateNumbers:
    """Return all numbers of a private key. The prime factors are computed if none of them is given.

    Args:
        public: the modulus and the public exponent.
        secret: the private exponent.
        factors: `p`, `q`, `dp`, `dq` and `qi`, or nothing (RFC 7518 section 6.3.2).

    Raises:
        ValueError: the numbers do not belong together, or only some factors are given.
    """
    if factors and len(factors) != len(_FACTORS):
        raise ValueError
    if factors:
        p, q, dp, dq, qi = (factors[name] for name in _FACTORS)
    else:
        p, q = rsa.rsa_recover_prime_factors(public.n, public.e, secret)
        dp, dq, qi = rsa.rsa_crt_dmp1(secret, p), rsa.rsa_crt_dmq1(secret, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p=p, q=q, d=secret, dmp1=dp, dmq1=dq, iqmp=qi, public_numbers=public)
