"""What the tests of an application or of a replay store use; no test framework is imported."""

from undersigned.testing.replay import check_async_replay_store, check_replay_store

__all__ = ["check_async_replay_store", "check_replay_store"]
