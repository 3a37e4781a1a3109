from __future__ import annotations

import multiprocessing
import os
from typing import TYPE_CHECKING

import pytest

from undersigned import MemoryReplayStore
from undersigned.replay.workers import worker_count
from undersigned.signature.rules import Caps

if TYPE_CHECKING:
    from pathlib import Path

FORK = multiprocessing.get_context("fork")
GUNICORN = "python3\0gunicorn\0-w\x002\0app:app\0"
UVICORN = "python3\0uvicorn\0--workers\x002\0app:app\0"
SPAWNED = "python3\0-c\0from multiprocessing.spawn import spawn_main; spawn_main({})\0--multiprocessing-fork\0"
TRACKER = "python3\0-c\0from multiprocessing.resource_tracker import main;main(6)\0"


def proc(folder: Path, processes: dict[str, tuple[int, str]]) -> Path:
    """A `/proc` that shows the parent and the command line of each process."""
    (folder / "version").write_text("Linux")
    for name, (parent, command) in processes.items():
        (folder / name).mkdir()
        (folder / name / "stat").write_text(f"{name} (a (name) 7) S {parent} 1 1 0")
        (folder / name / "cmdline").write_text(command)
    return folder


@pytest.mark.parametrize(
    ("command", "parent", "siblings", "count"),
    [
        pytest.param(GUNICORN, GUNICORN, [GUNICORN], 1, id="gunicorn -w 1"),
        pytest.param(GUNICORN, GUNICORN, [GUNICORN, GUNICORN], 2, id="gunicorn -w 2"),
        pytest.param(
            "gunicorn: worker [app:app]",
            "gunicorn: master [app:app]",
            ["gunicorn: worker [app:app]"] * 3,
            3,
            id="titled",
        ),
        pytest.param("python3\0-m\0app\0", "bash\0", ["python3\0-m\0app\0"] * 2, 1, id="two programs of one shell"),
        pytest.param(
            "python3\0-c\0xdist\0", "pytest\0", ["python3\0-c\0xdist\0"] * 2, 1, id="workers that do not serve"
        ),
    ],
)
def test_forked_workers_are_counted_by_their_command(tmp_path, command, parent, siblings, count):
    processes = {str(100 + number): (50, sibling) for number, sibling in enumerate(siblings)}
    shown = proc(tmp_path, {"self": (50, command), "50": (1, parent), "7": (1, command), **processes})
    assert worker_count(shown) == count


@pytest.mark.parametrize("count", [1, 2, 4])
def test_spawned_workers_are_counted_by_their_command_without_numbers(tmp_path, monkeypatch, count):
    monkeypatch.setattr(multiprocessing.process, "_parent_process", object())
    commands = [SPAWNED.format(f"tracker_fd=5, pipe_handle={7 + number}") for number in range(count)]
    processes = {str(100 + number): (50, command) for number, command in enumerate(commands)}
    shown = proc(tmp_path, {"self": (50, commands[0]), "50": (1, UVICORN), "99": (50, TRACKER), **processes})
    assert worker_count(shown) == count


def test_process_that_ends_during_the_count_is_not_counted(tmp_path):
    shown = proc(tmp_path, {"self": (50, GUNICORN), "50": (1, GUNICORN), "100": (50, GUNICORN)})
    (shown / "101").mkdir()
    assert worker_count(shown) == 1


def test_count_is_unknown_without_a_proc_file_system(tmp_path):
    assert worker_count(tmp_path / "absent") is None


def test_test_process_is_not_a_worker():
    assert worker_count() == 1


def claims(store: MemoryReplayStore, count: int = 2) -> None:
    for number in range(count):
        store.claim("k", str(number), now=0, until=360, caps=Caps(10))


@pytest.mark.parametrize(("count", "said"), [(None, 0), (1, 0), (2, 1), (4, 1)])
def test_memory_store_warns_once_about_several_workers(monkeypatch, caplog, count, said):
    monkeypatch.setattr("undersigned.replay.memory.worker_count", lambda: count)
    claims(MemoryReplayStore())
    assert [record.levelname for record in caplog.records] == ["ERROR"] * said
    if said:
        assert f"({count} workers of one server)" in caplog.text
        assert "use SqliteReplayStore" in caplog.text


def claims_in_child(monkeypatch, store: MemoryReplayStore) -> None:
    """Claim of a store as a process does that was forked from this one."""
    monkeypatch.setattr("undersigned.replay.memory.getpid", lambda: 0)
    claims(store)


def test_memory_store_warns_when_it_was_used_before_a_fork(monkeypatch, caplog):
    store = MemoryReplayStore()
    claims(store)
    claims_in_child(monkeypatch, store)
    assert [f"(process {os.getpid()} used it before process 0 was forked)" in said for said in caplog.messages] == [
        True
    ]


@pytest.mark.parametrize(("count", "said"), [(1, 0), (None, 1), (2, 1)])
def test_memory_store_made_before_a_fork_warns_unless_one_worker_exists(monkeypatch, caplog, count, said):
    monkeypatch.setattr("undersigned.replay.memory.worker_count", lambda: count)
    claims_in_child(monkeypatch, MemoryReplayStore())
    assert len(caplog.messages) == said


def test_forked_process_is_a_worker_of_its_own():
    receiver, sender = FORK.Pipe(duplex=False)
    barrier = FORK.Barrier(2)

    def child() -> None:
        barrier.wait()
        sender.send(worker_count())
        barrier.wait()

    children = [FORK.Process(target=child) for _ in range(2)]
    for process in children:
        process.start()
    counts = [receiver.recv() for _ in children]
    for process in children:
        process.join(10)
    assert counts == [2, 2]


def test_second_of_two_threads_with_a_first_claim_does_not_warn(monkeypatch, caplog):
    monkeypatch.setattr("undersigned.replay.memory.worker_count", lambda: 2)
    store = MemoryReplayStore()
    claims(store, 1)
    caplog.clear()
    store._begin(os.getpid())
    assert not caplog.records
