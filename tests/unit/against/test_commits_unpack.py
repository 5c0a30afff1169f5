"""The files of a commit, unpacked without a change to the working tree."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from git_checkout import Checkout
from pytest_rmsperf import commits
from pytest_rmsperf.commits import find_commit, is_lfs_pointer
from pytest_rmsperf.errors import SettingError

KERNELS = PurePosixPath("kernels")
WHOLE = PurePosixPath()


def unpacked(tree: Path) -> list[str]:
    return sorted(str(one.relative_to(tree)) for one in tree.rglob("*") if not one.is_dir())


def test_files_are_unpacked_as_they_were_then_at_their_own_paths(
    history: Checkout, scratch: Path
) -> None:
    tree = find_commit("HEAD~1", history.root).unpack(KERNELS, scratch)

    assert unpacked(tree) == ["kernels/row/row.cu"]
    assert (tree / "kernels" / "row" / "row.cu").read_text(encoding="utf-8") == "old"


def test_the_whole_commit_can_be_unpacked(history: Checkout, scratch: Path) -> None:
    tree = find_commit("HEAD~1", history.root).unpack(WHOLE, scratch)

    assert unpacked(tree) == ["common.cuh", "kernels/row/row.cu"]


def test_a_folder_whose_name_looks_like_a_pattern_is_itself(
    history: Checkout, scratch: Path
) -> None:
    history.commit(**{"[k]ernels/row.cu": "", ":x/row.cu": ""})
    commit = find_commit("HEAD", history.root)

    trees = [commit.unpack(PurePosixPath(one), scratch) for one in ("[k]ernels", ":x")]

    assert [unpacked(one) for one in trees] == [["[k]ernels/row.cu"], [":x/row.cu"]]


def test_working_tree_index_and_branch_stay_as_they_are(history: Checkout) -> None:
    history.write("kernels/row/row.cu", "changed")
    history.write("kernels/row/staged.cu", "staged")
    history.git("add", "kernels/row/staged.cu")
    before = history.state()

    find_commit("HEAD~1", history.root).unpack(WHOLE, history.root / "scratch")

    assert history.state() == before
    assert (history.root / "kernels/row/row.cu").read_text(encoding="utf-8") == "changed"


def test_a_tree_is_unpacked_once(
    history: Checkout, scratch: Path, fake_git: Callable[[str], None]
) -> None:
    commit = find_commit("HEAD", history.root)
    tree = commit.unpack(KERNELS, scratch)
    fake_git("exit 1")

    assert commit.unpack(KERNELS, scratch) == tree


def test_commits_folders_and_repositories_have_trees_of_their_own(
    history: Checkout, scratch: Path, tmp_path: Path
) -> None:
    twin = shutil.copytree(history.root, tmp_path / "twin")
    asked = [
        (history.root, "HEAD", KERNELS),
        (history.root, "HEAD~1", KERNELS),
        (history.root, "HEAD", WHOLE),
        (twin, "HEAD", KERNELS),
    ]

    trees = {find_commit(ref, root).unpack(folder, scratch) for root, ref, folder in asked}

    assert len(trees) == len(asked)


def test_a_tree_that_was_interrupted_is_unpacked_anew(
    history: Checkout, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = find_commit("HEAD", history.root)
    with monkeypatch.context() as patch:
        patch.setattr(tarfile.TarFile, "extractall", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            commit.unpack(KERNELS, scratch)

    tree = commit.unpack(KERNELS, scratch)

    assert unpacked(tree) == ["kernels/row/row.cu"]
    assert [one.name for one in scratch.iterdir() if one.is_dir()] == [tree.name]


def _interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_tree_that_another_run_has_unpacked_meanwhile_is_taken(
    history: Checkout, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = find_commit("HEAD", history.root)
    extract = commits._extract

    def unpack_twice(archive: io.BytesIO, target: Path) -> None:
        monkeypatch.setattr(commits, "_extract", extract)
        commit.unpack(KERNELS, scratch)
        extract(archive, target)

    monkeypatch.setattr(commits, "_extract", unpack_twice)

    tree = commit.unpack(KERNELS, scratch)

    assert unpacked(tree) == ["kernels/row/row.cu"]
    assert [one.name for one in scratch.iterdir() if one.is_dir()] == [tree.name]


def test_the_trees_used_last_stay_and_older_ones_go(
    history: Checkout, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "MOST_TREES", 2)
    first, second, third = (history.commit() for _ in range(3))
    trees = {
        one: find_commit(one, history.root).unpack(KERNELS, scratch) for one in (first, second)
    }
    for tree, used_ns in zip(trees.values(), (1, 2), strict=True):
        os.utime(tree, ns=(used_ns, used_ns))
    find_commit(first, history.root).unpack(KERNELS, scratch)

    find_commit(third, history.root).unpack(KERNELS, scratch)

    assert [trees[one].exists() for one in (first, second)] == [True, False]


def test_the_scratch_folder_keeps_itself_out_of_git(history: Checkout) -> None:
    find_commit("HEAD", history.root).unpack(KERNELS, history.root / "kernels" / "scratch")

    assert history.git("status", "--porcelain") == ""


def test_a_link_inside_of_the_commit_is_a_link(history: Checkout, scratch: Path) -> None:
    (history.root / "kernels" / "common.cuh").symlink_to("row/row.cu")
    history.commit()

    tree = find_commit("HEAD", history.root).unpack(KERNELS, scratch)

    assert (tree / "kernels" / "common.cuh").readlink() == Path("row/row.cu")


@pytest.mark.parametrize("end", ["/etc/passwd", "../../outside", "../.."])
def test_a_link_out_of_the_commit_is_left_out(history: Checkout, scratch: Path, end: str) -> None:
    (history.root / "kernels" / "link").symlink_to(end)
    history.commit()

    tree = find_commit("HEAD", history.root).unpack(KERNELS, scratch)

    assert unpacked(tree) == ["kernels/row/row.cu"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../outside", tarfile.REGTYPE),
        ("/outside", tarfile.REGTYPE),
        ("a/../../outside", tarfile.REGTYPE),
        ("device", tarfile.CHRTYPE),
        ("hard", tarfile.LNKTYPE),
    ],
)
def test_an_archive_that_no_git_makes_unpacks_to_nothing(
    tmp_path: Path, name: str, kind: bytes
) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc/passwd"
        tar.addfile(member, io.BytesIO())
    archive.seek(0)
    (tmp_path / "target").mkdir()

    commits._extract(archive, tmp_path / "target")

    assert unpacked(tmp_path) == []


def test_a_scratch_folder_that_cannot_be_made_is_named(history: Checkout, scratch: Path) -> None:
    scratch.write_text("a file", encoding="utf-8")
    commit = find_commit("HEAD", history.root)

    with pytest.raises(SettingError, match=rf"cannot be unpacked\n  below      {scratch}\n"):
        commit.unpack(KERNELS, scratch)


def test_a_damaged_repository_is_refused_with_what_git_said(
    history: Checkout, scratch: Path
) -> None:
    commit = find_commit("HEAD", history.root)
    tree = history.git("rev-parse", "HEAD^{tree}")
    (history.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()

    with pytest.raises(SettingError, match=r"git cannot read \w{7} \(HEAD\) of .*\n  git +fatal: "):
        commit.unpack(KERNELS, scratch)
    assert not any(one.is_dir() for one in scratch.iterdir())


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", True),
        ("// version https://git-lfs.github.com/spec/v1\n", False),
        ("", False),
    ],
)
def test_a_pointer_of_git_lfs_is_known_by_its_first_line(
    tmp_path: Path, text: str, *, points: bool
) -> None:
    file = tmp_path / "row.cu"
    file.write_text(text, encoding="utf-8")

    assert is_lfs_pointer(file) is points
