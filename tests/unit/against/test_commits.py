"""Commits by their names, and their files without a change to the working tree."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from git_checkout import Checkout
from pytest_rmsperf import commits
from pytest_rmsperf.commits import SUBMODULE, find_commit
from pytest_rmsperf.errors import SettingError

KERNELS = PurePosixPath("kernels")
WHOLE = PurePosixPath()


def refusal(ref: str, folder: Path) -> str:
    with pytest.raises(SettingError) as refused:
        find_commit(ref, folder)
    return str(refused.value)


# ---- which commit ----------------------------------------------------------------------------


@pytest.mark.parametrize("ref", ["HEAD~1", "before", "v1", "heads/before", "HEAD^{/asks}~1"])
def test_whatever_git_takes_for_a_commit_names_it(history: Checkout, ref: str) -> None:
    first = history.git("rev-parse", "HEAD~1")
    history.git("branch", "before", first)
    history.git("tag", "--annotate", "--message", "first", "v1", first)

    assert find_commit(ref, history.root).full_hash == first


def test_a_commit_is_called_by_its_short_hash_and_by_how_it_was_asked_for(
    history: Checkout,
) -> None:
    first = history.git("rev-parse", "HEAD~1")

    assert find_commit("HEAD~1", history.root).name == f"{first[:7]} (HEAD~1)"


def test_a_commit_asked_for_by_its_hash_is_not_called_twice(history: Checkout) -> None:
    first = history.git("rev-parse", "HEAD~1")

    assert find_commit(first[:10], history.root).name == first[:7]


def test_a_folder_deep_in_a_checkout_belongs_to_its_repository(history: Checkout) -> None:
    assert find_commit("HEAD", history.root / "kernels" / "row").root == history.root


def test_a_link_into_a_checkout_leads_to_its_repository(history: Checkout, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(history.root / "kernels")

    assert find_commit("HEAD", link).root == history.root


def test_the_repository_of_a_hook_is_not_taken_for_the_folders(
    history: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Checkout.new(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git" / "index.of.the.hook"))

    assert find_commit("HEAD", history.root).root == history.root


@pytest.mark.parametrize("ref", ["--output=x", "-h", "--all"])
def test_an_option_is_refused_before_git_sees_it(
    history: Checkout, fake_git: Callable[[str], None], tmp_path: Path, ref: str
) -> None:
    fake_git(f"touch {tmp_path / 'was asked'}")

    message = refusal(ref, history.root)

    assert message.startswith(f"--rmsperf-against={ref}: that is an option and no commit; name a ")
    assert not (tmp_path / "was asked").exists()


@pytest.mark.parametrize(
    "ref", ["absent", "^HEAD", "HEAD~1..HEAD", "HEAD:common.cuh", "HEAD~2", "0123456789", "a b"]
)
def test_what_names_no_commit_is_refused_with_the_command_that_fetches(
    history: Checkout, ref: str
) -> None:
    first, *_, last = refusal(ref, history.root).splitlines()

    assert first == f"--rmsperf-against={ref}: no commit has that name in {history.root}"
    assert last == "correct the name, or get the commit with: git fetch --all --tags"


def test_a_repository_without_commits_has_no_head(tmp_path: Path) -> None:
    empty = Checkout.new(tmp_path / "empty")

    assert "no commit has that name" in refusal("HEAD", empty.root)


def test_in_a_shallow_clone_the_remedy_fetches_the_history(
    history: Checkout, tmp_path: Path
) -> None:
    shallow = tmp_path / "shallow"
    history.git("clone", "--quiet", "--depth=1", f"file://{history.root}", str(shallow))

    last = refusal("HEAD~1", shallow).splitlines()[-1]

    assert last == (
        "this clone has only its last commits; get the others with: git fetch --unshallow "
        "(under actions/checkout: fetch-depth: 0)"
    )


def test_a_name_of_a_branch_and_of_a_tag_is_refused(history: Checkout) -> None:
    history.git("config", "core.warnAmbiguousRefs", "false")
    history.git("branch", "v1", "HEAD")
    history.git("tag", "v1", "HEAD~1")

    first, *_, last = refusal("v1", history.root).splitlines()

    assert first.startswith("--rmsperf-against=v1: more than one commit has that name in ")
    assert last == "say which: more digits of its hash, heads/v1, or tags/v1"


def test_too_few_digits_of_a_hash_are_refused_with_the_candidates(history: Checkout) -> None:
    # Of so many, some two share their first four digits; they are the same in every run.
    text = "".join(
        f"commit refs/heads/many\ncommitter nobody <a@b> {number} +0000\ndata 0\n\n"
        for number in range(1500)
    )
    subprocess.run(
        ["git", "-C", history.root, "fast-import", "--quiet"], input=text.encode(), check=True
    )
    hashes = history.git("rev-list", "many").split()
    digits = [one[:4] for one in hashes]
    short = next(one for one in digits if digits.count(one) > 1)

    message = refusal(short, history.root)

    assert "more than one commit has that name" in message
    assert all(one[:7] in message for one in hashes if one.startswith(short))


def test_outside_of_git_there_is_no_commit_and_stored_baselines_remain(tmp_path: Path) -> None:
    first, *_, last = refusal("HEAD", tmp_path).splitlines()

    assert first == (
        f"--rmsperf-against=HEAD: {tmp_path} lies in no git repository, so it has no commits"
    )
    assert last.endswith("or compare with stored baselines: pytest --rmsperf")


def test_a_repository_that_git_distrusts_is_refused_with_all_that_git_said(
    history: Checkout, fake_git: Callable[[str], None]
) -> None:
    fake_git("echo 'fatal: detected dubious ownership' >&2; echo '  git config x' >&2; exit 128")

    assert refusal("HEAD", history.root).splitlines() == [
        f"--rmsperf-against=HEAD: git does not answer for {history.root}",
        "  git        fatal: detected dubious ownership",
        "  git        git config x",
        "mend what git names, then run again",
    ]


def test_git_answers_in_the_language_that_is_read_here(
    history: Checkout, fake_git: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    fake_git('[ $LC_ALL = C ] && echo "fatal: not a git repository" >&2; exit 128')

    assert "lies in no git repository" in refusal("HEAD", history.root)


def test_a_machine_without_git_says_how_to_install_it(
    history: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(history.root))

    message = refusal("HEAD", history.root)

    assert message.startswith("--rmsperf-against=HEAD: git cannot be run (No such file")
    assert "apt-get install git" in message


def test_a_git_that_hangs_is_given_up(
    history: Checkout, fake_git: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_git("exec sleep 60")
    monkeypatch.setattr(commits, "GIT_SECONDS", 0.05)

    message = refusal("HEAD", history.root)

    assert message.startswith("--rmsperf-against=HEAD: git was silent for 0.05 s\n")


# ---- what it has -----------------------------------------------------------------------------


def test_entries_are_all_files_below_a_folder(history: Checkout) -> None:
    history.commit(**{"kernels/row/deep/a\tb\n.cuh": "", "kernels_too/x.cu": ""})

    entries = find_commit("HEAD", history.root).entries(KERNELS)

    assert [str(one.path) for one in entries] == [
        "kernels/row/deep/a\tb\n.cuh",
        "kernels/row/row.cu",
    ]


def test_entries_of_the_whole_commit_begin_at_its_root(history: Checkout) -> None:
    entries = find_commit("HEAD", history.root).entries(WHOLE)

    assert [str(one.path) for one in entries] == ["common.cuh", "kernels/row/row.cu"]


@pytest.mark.parametrize("folder", ["absent", "common.cuh", "kernels/row/row.cu", "kern*"])
def test_a_commit_without_a_folder_has_no_entries_there(history: Checkout, folder: str) -> None:
    assert find_commit("HEAD", history.root).entries(PurePosixPath(folder)) == ()


def test_a_submodule_is_an_entry_that_says_so(history: Checkout) -> None:
    head = history.git("rev-parse", "HEAD")
    history.git("update-index", "--add", "--cacheinfo", f"160000,{head},kernels/cutlass")
    history.git("commit", "--quiet", "--message", "a submodule")

    entries = find_commit("HEAD", history.root).entries(KERNELS)

    assert [str(one.path) for one in entries if one.mode == SUBMODULE] == ["kernels/cutlass"]


@pytest.mark.parametrize(("folder", "ignored"), [("build", True), ("kernels", False)])
def test_a_folder_is_ignored_when_the_repository_was_told_so(
    history: Checkout, folder: str, *, ignored: bool
) -> None:
    history.write(".gitignore", "build/\n")
    (history.root / "build").mkdir()

    assert find_commit("HEAD", history.root).ignores(history.root / folder) is ignored
