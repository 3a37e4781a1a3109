from __future__ import annotations

import pytest

from undersigned import KeySourceError
from undersigned.discovery.adcp.brand import check_origin


@pytest.mark.parametrize("host", ["192.0.2.1", "[2001:db8::1]", "localhost", "co.uk"])
def test_agent_without_a_registrable_domain_is_rejected(host):
    url = f"https://{host}/"
    with pytest.raises(KeySourceError) as raised:
        check_origin(url, url, {"authorized_operators": [{"domain": host}]}, now=0)
    assert raised.value.reason == "signature_brand_origin_mismatch"
    assert raised.value.definite
