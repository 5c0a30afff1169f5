"""Commit and changes of a checkout; without git or outside of it they are unknown, not errors."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timedelta, timezone
from importlib import metadata
from pathlib import Path

import pytest

from pytest_rmsperf import provenance
from pytest_rmsperf.provenance import current_provenance


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def _own_git_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the caller's git reaches a test, neither settings nor the repository around."""
    for name in [one for one in os.environ if one.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("RMSPERF_COMMIT", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit and no changes."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "nobody")
    git(folder, "config", "user.email", "nobody@example.invalid")
    (folder / "row.cu").write_text("first\n", encoding="utf-8")
    git(folder, "add", "row.cu")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def commit_and_dirty(folder: Path) -> tuple[str | None, bool | None]:
    found = current_provenance(folder, ())
    return found.commit, found.dirty


def test_a_clean_checkout_gives_its_commit(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "--short=12", "HEAD")

    assert commit_and_dirty(checkout) == (head, False)


def test_a_changed_file_makes_a_checkout_dirty(checkout: Path) -> None:
    (checkout / "row.cu").write_text("second\n", encoding="utf-8")

    assert current_provenance(checkout, ()).dirty is True


def test_a_staged_change_makes_a_checkout_dirty(checkout: Path) -> None:
    (checkout / "row.cu").write_text("second\n", encoding="utf-8")
    git(checkout, "add", "row.cu")

    assert current_provenance(checkout, ()).dirty is True


def test_an_untracked_file_leaves_a_checkout_clean(checkout: Path) -> None:
    (checkout / "notes.txt").touch()

    assert current_provenance(checkout, ()).dirty is False


def test_a_change_that_was_taken_back_leaves_a_checkout_clean(checkout: Path) -> None:
    (checkout / "row.cu").write_text("second\n", encoding="utf-8")
    git(checkout, "add", "row.cu")
    (checkout / "row.cu").write_text("first\n", encoding="utf-8")

    assert current_provenance(checkout, ()).dirty is False


@pytest.fixture
def saved(checkout: Path) -> Path:
    """The checkout's folder of baselines, which holds a committed file that a save has changed."""
    file = checkout / "baselines" / "nvidia-h200" / "softmax.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}\n", encoding="utf-8")
    git(checkout, "add", "baselines")
    git(checkout, "commit", "--quiet", "--message", "save")
    file.write_text("{ }\n", encoding="utf-8")
    return checkout / "baselines"


def test_a_saved_baseline_leaves_a_checkout_clean(checkout: Path, saved: Path) -> None:
    assert current_provenance(checkout, (), baselines=saved).dirty is False


def test_a_saved_baseline_counts_where_no_folder_is_named(checkout: Path, saved: Path) -> None:
    assert current_provenance(checkout, ()).dirty is True


def test_a_changed_source_beside_a_saved_baseline_counts(checkout: Path, saved: Path) -> None:
    (checkout / "row.cu").write_text("second\n", encoding="utf-8")

    assert current_provenance(checkout, (), baselines=saved).dirty is True


def test_baselines_at_the_root_hide_no_change_of_a_source(checkout: Path, saved: Path) -> None:
    (checkout / "row.cu").write_text("second\n", encoding="utf-8")

    assert current_provenance(checkout, (), baselines=checkout).dirty is True


def test_baselines_outside_of_the_checkout_do_no_harm(checkout: Path, tmp_path: Path) -> None:
    assert current_provenance(checkout, (), baselines=tmp_path / "elsewhere").dirty is False


@pytest.mark.parametrize(
    ("name", "dirty"),
    [
        ("kernels/new.cu", True),
        ("kernels/deep/new.cuh", True),
        ("kernels/new.py", True),
        ("kernels/notes.txt", False),
        ("new.cu", False),
    ],
)
def test_an_unknown_source_of_an_operator_counts(checkout: Path, *, name: str, dirty: bool) -> None:
    (checkout / name).parent.mkdir(parents=True, exist_ok=True)
    (checkout / "kernels").mkdir(exist_ok=True)
    (checkout / name).touch()

    found = current_provenance(checkout, (), sources=[checkout / "kernels"])

    assert found.dirty is dirty


def test_an_ignored_source_of_an_operator_does_not_count(checkout: Path) -> None:
    (checkout / "kernels").mkdir()
    (checkout / "kernels" / "made.cu").touch()
    (checkout / "kernels" / ".gitignore").write_text("*\n", encoding="utf-8")

    assert current_provenance(checkout, (), sources=[checkout / "kernels"]).dirty is False


def test_an_operator_outside_of_the_checkout_does_not_count(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "new.cu").touch()

    assert current_provenance(checkout, (), sources=[tmp_path / "elsewhere"]).dirty is False


def test_a_folder_that_git_cannot_list_counts(checkout: Path) -> None:
    assert current_provenance(checkout, (), sources=[checkout / "gone"]).dirty is True


def test_a_shallow_clone_gives_its_commit(checkout: Path, tmp_path: Path) -> None:
    (checkout / "row.cu").write_text("second\n", encoding="utf-8")
    git(checkout, "commit", "--quiet", "--all", "--message", "second")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{checkout}", str(shallow))

    assert commit_and_dirty(shallow) == (git(checkout, "rev-parse", "--short=12", "HEAD"), False)


def test_a_folder_inside_a_checkout_gives_the_commit_of_the_whole(checkout: Path) -> None:
    (checkout / "kernels").mkdir()

    assert current_provenance(checkout / "kernels", ()).commit is not None


def test_a_repository_without_commits_has_neither_commit_nor_changes(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")

    assert commit_and_dirty(tmp_path) == (None, None)


def test_a_folder_outside_of_git_has_neither_commit_nor_changes(tmp_path: Path) -> None:
    assert commit_and_dirty(tmp_path) == (None, None)


@pytest.mark.parametrize(("variable", "commit"), [("1a2b3c4", "1a2b3c4"), ("", None)])
def test_outside_of_git_the_commit_is_what_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, commit: str | None
) -> None:
    monkeypatch.setenv("RMSPERF_COMMIT", variable)

    assert commit_and_dirty(tmp_path) == (commit, None)


def test_inside_of_git_the_environment_says_nothing(
    monkeypatch: pytest.MonkeyPatch, checkout: Path
) -> None:
    monkeypatch.setenv("RMSPERF_COMMIT", "1a2b3c4")

    assert current_provenance(checkout, ()).commit == git(
        checkout, "rev-parse", "--short=12", "HEAD"
    )


def test_a_machine_without_git_has_neither_commit_nor_changes(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(checkout))

    assert commit_and_dirty(checkout) == (None, None)


def test_a_git_that_hangs_is_given_up(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(provenance, "GIT_SECONDS", 0.05)

    assert commit_and_dirty(checkout) == (None, None)


def test_a_file_name_in_another_encoding_is_only_a_change(checkout: Path) -> None:
    git(checkout, "config", "core.quotePath", "false")
    name = b"na\xefve.cu"
    (checkout / os.fsdecode(name)).touch()
    subprocess.run(["git", "-C", checkout, "add", name], check=True)

    assert current_provenance(checkout, ()).dirty is True


def test_the_date_is_now_in_utc_to_the_second(tmp_path: Path) -> None:
    date = current_provenance(tmp_path, ()).date

    age = datetime.now(timezone.utc) - datetime.strptime(date, "%Y-%m-%dT%H:%M:%S%z")

    assert timedelta(0) <= age < timedelta(minutes=1)


def test_versions_are_those_that_run(tmp_path: Path) -> None:
    found = current_provenance(tmp_path, (("numpy", "2.4.6"),))

    assert (found.python, found.rmsperf, found.packages) == (
        platform.python_version(),
        metadata.version("pytest-rmsperf"),
        (("numpy", "2.4.6"),),
    )


def test_a_plugin_that_is_not_installed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)

    assert current_provenance(tmp_path, ()).rmsperf == "not installed"
