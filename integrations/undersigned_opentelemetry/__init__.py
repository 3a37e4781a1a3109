"""OpenTelemetry metrics and spans for verifications, fetches of keys, and replay stores.

`Telemetry().on_decision` is for the option `on_decision=` of a middleware, and `Telemetry().on_fetch` for
`Network(on_fetch=...)`. `Telemetry().replay_store(store)` measures the claims of a replay store.
"""

from undersigned.errors import needs_extra

with needs_extra("opentelemetry"):
    from .replay import AsyncCountedReplayStore, CountedReplayStore
    from .telemetry import Telemetry

__all__ = ["AsyncCountedReplayStore", "CountedReplayStore", "Telemetry"]
