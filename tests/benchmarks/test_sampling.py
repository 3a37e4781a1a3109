"""The sampler counts processor time for whoever had it."""

from __future__ import annotations

import ctypes
import signal

import pytest
from tests.benchmarks import sampling
from tests.benchmarks.sampling import Function, Sampler

raised_in_c = ctypes.PyDLL(None)["raise"]


@pytest.fixture
def sampler():
    yield Sampler()
    signal.signal(signal.SIGPROF, signal.SIG_IGN)


def test_sample_within_c_counts_for_its_caller_when_a_hook_is_called_next(sampler, tmp_path):
    def hook(_: int) -> None:
        """As what a scanner of JSON calls after it has read an object."""

    sampler.start()
    list(map(hook, map(raised_in_c, [signal.SIGPROF])))
    sampler.write(tmp_path / "samples")
    names = {function.name for function in sampling.read(tmp_path / "samples")}
    assert test_sample_within_c_counts_for_its_caller_when_a_hook_is_called_next.__name__ in names
    assert hook.__qualname__ not in names


@pytest.mark.parametrize(
    ("file", "name", "owner"),
    [
        ("/lib/json/decoder.py", "JSONDecoder.raw_decode", "json"),
        ("/lib/site-packages/nacl/bindings/crypto_sign.py", "crypto_sign_open", "signature check"),
        (str(sampling.SOURCE / "signature" / "ed25519.py"), "Ed25519.verify", "signature check"),
        (str(sampling.SOURCE / "message" / "strict_json.py"), "_unique", "undersigned"),
        ("/lib/site-packages/uvicorn/server.py", "Server.run", "server"),
    ],
)
def test_function_has_an_owner(file, name, owner):
    assert Function(file, name).owner == owner
