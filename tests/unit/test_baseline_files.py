"""Writing baseline files: what readers see, what a crash leaves, and who waits for whom."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest
from filelock import FileLock

from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.storing import baseline_files
from pytest_rmsperf.storing.baseline_files import exclusive, replace_all


@pytest.fixture(autouse=True)
def _locks_outside_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two files in two folders, each holding `old`."""
    pair = (tmp_path / "a" / "one.json", tmp_path / "b" / "two.json")
    for file in pair:
        file.parent.mkdir()
        file.write_bytes(b"old")
    return pair


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def crash(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def no_room(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device", "one.json")


def test_files_hold_the_new_contents(files: tuple[Path, Path]) -> None:
    replace_all(dict.fromkeys(files, b"new"))

    assert [file.read_bytes() for file in files] == [b"new", b"new"]


def test_file_without_content_is_removed(files: tuple[Path, Path]) -> None:
    replace_all({files[0]: None, files[1]: b"new"})

    assert [file.exists() for file in files] == [False, True]


def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    replace_all({tmp_path / "nowhere" / "one.json": None})

    assert not (tmp_path / "nowhere").exists()


def test_crash_between_write_and_replace_leaves_the_old_file_alone_in_its_folder(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "replace", crash)

    with pytest.raises(KeyboardInterrupt):
        replace_all(dict.fromkeys(files, b"new"))

    assert [contents(file.parent) for file in files] == [{"one.json": b"old"}, {"two.json": b"old"}]


def test_no_file_is_replaced_before_all_are_written(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    real_write = baseline_files._write

    def second_fails(file: Path, raw: bytes) -> None:
        if file.parent == files[1].parent:
            no_room()
        real_write(file, raw)

    monkeypatch.setattr(baseline_files, "_write", second_fails)

    with pytest.raises(BaselineError, match="No space left on device"):
        replace_all(dict.fromkeys(files, b"new"))

    assert [contents(file.parent) for file in files] == [{"one.json": b"old"}, {"two.json": b"old"}]


def test_file_and_folder_are_synced_around_the_replacement(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_replace = Path.replace

    def note_sync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    def note_replace(old: Path, new: Path) -> None:
        steps.append("replace")
        real_replace(old, new)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_replace)

    replace_all({files[0]: b"new"})

    assert steps == ["file", "replace", "folder"]


def test_file_is_readable_by_others_as_the_umask_allows(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()

    replace_all({tmp_path / "one.json": b"new"})

    assert (tmp_path / "one.json").stat().st_mode == plain.stat().st_mode


def test_link_stays_a_link_to_the_new_content(files: tuple[Path, Path], tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(files[0])

    replace_all({link: b"new"})

    assert (link.is_symlink(), files[0].read_bytes()) == (True, b"new")


def test_folder_that_cannot_be_written_is_named_with_the_option_that_changes_it(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "replace", no_room)

    with pytest.raises(
        BaselineError, match=r"(?s)cannot write .*No space.*--rmsperf-baselines=DIR"
    ):
        replace_all({files[0]: b"new"})


def test_writers_at_the_same_time_lose_nothing(files: tuple[Path, Path]) -> None:
    def append(letter: str) -> None:
        with exclusive(files):
            replace_all({file: file.read_bytes() + letter.encode() for file in files})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, "abcdefghijkl"))

    assert [sorted(file.read_bytes()[3:]) for file in files] == [sorted(b"abcdefghijkl")] * 2


def test_writers_that_name_their_files_in_another_order_do_not_wait_for_each_other(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline_files, "LOCK_TIMEOUT_S", 5)

    def hold(number: int) -> int:
        with exclusive(files if number % 2 else files[::-1]):
            return number

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(hold, range(40))) == list(range(40))


@pytest.fixture
def lock(files: tuple[Path, Path], tmp_path: Path) -> Path:
    """The file that locks the first of `files`."""
    with exclusive([files[0]]):
        (lock,) = (tmp_path / "cache").rglob("*.lock")
    return lock


def test_lock_that_is_never_released_is_an_error_with_its_file(
    files: tuple[Path, Path], lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline_files, "LOCK_TIMEOUT_S", 0.05)

    with (
        FileLock(lock),
        pytest.raises(BaselineError, match=f"another process has held {lock}"),
        exclusive(files),
    ):
        pass


def test_locks_are_free_again_after_an_error(files: tuple[Path, Path], lock: Path) -> None:
    with pytest.raises(KeyboardInterrupt), exclusive(files):
        crash()

    with FileLock(lock, timeout=0) as held:
        assert held.is_locked


def test_no_lock_is_left_beside_the_files(files: tuple[Path, Path]) -> None:
    with exclusive(files):
        names = [path.name for file in files for path in file.parent.iterdir()]

    assert names == ["one.json", "two.json"]
