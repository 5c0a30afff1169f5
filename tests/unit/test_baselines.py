"""The baseline store: what it keeps, what it refuses, and that a refused file stays as it was."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from filelock import FileLock

from pytest_rmsperf import baselines
from pytest_rmsperf.baseline_format import Place, decode
from pytest_rmsperf.baselines import BaselineStore
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.measurement import Measurement

GOLDEN = Path(__file__).parent / "data" / "baseline_v1.json"
PUBLISHED = Path(__file__).parents[2] / "baselines"
DEVICE, OPERATOR = "nvidia-h200", "softmax"
GRAPH, DIRECT = "softmax/online-graph/16x1024", "softmax/online-direct/16x1024"
ABSENT = "softmax/online-graph/16x131072"
CASES = decode(GOLDEN.read_bytes(), Place(GOLDEN, "cannot read", "restore it"))
MEASURED, OTHER = CASES[GRAPH], CASES[DIRECT]
OTHER_DEVICE = replace(MEASURED.run, device=replace(MEASURED.run.device, name="NVIDIA H100"))


@pytest.fixture(autouse=True)
def _locks_outside_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def store(tmp_path: Path) -> BaselineStore:
    """A store that holds a copy of the golden file: the cases GRAPH and DIRECT."""
    store = BaselineStore(tmp_path / "baselines")
    path = store.path(DEVICE, OPERATOR)
    path.parent.mkdir(parents=True)
    path.write_bytes(GOLDEN.read_bytes())
    return store


def save(store: BaselineStore, measurement: Measurement) -> None:
    store.write(DEVICE, OPERATOR, {measurement.case_id: measurement})


def file_of(store: BaselineStore) -> Path:
    return store.path(DEVICE, OPERATOR)


def test_saving_what_was_read_leaves_every_byte(store: BaselineStore) -> None:
    store.write(DEVICE, OPERATOR, store.read(DEVICE, OPERATOR))

    assert file_of(store).read_bytes() == GOLDEN.read_bytes()


def test_file_holds_the_stored_cases(store: BaselineStore) -> None:
    assert store.read(DEVICE, OPERATOR) == CASES


def test_missing_file_reads_as_no_cases(tmp_path: Path) -> None:
    assert BaselineStore(tmp_path / "nowhere").read(DEVICE, OPERATOR) == {}


def test_devices_are_those_that_hold_the_operator(store: BaselineStore) -> None:
    (store.folder / "nvidia-h100").mkdir()

    assert store.devices(OPERATOR) == (DEVICE,)


def test_missing_folder_holds_no_devices(tmp_path: Path) -> None:
    assert BaselineStore(tmp_path / "nowhere").devices(OPERATOR) == ()


def test_partial_save_keeps_the_other_cases(store: BaselineStore) -> None:
    save(store, replace(OTHER, inputs="ones"))

    assert store.read(DEVICE, OPERATOR)[GRAPH] == MEASURED


def test_saved_case_replaces_its_old_figures(store: BaselineStore) -> None:
    new = replace(OTHER, inputs="ones")

    save(store, new)

    assert store.read(DEVICE, OPERATOR)[DIRECT] == new


def test_note_survives_a_measurement_without_one(store: BaselineStore) -> None:
    save(store, replace(MEASURED, note=None))

    assert store.read(DEVICE, OPERATOR)[GRAPH].note == MEASURED.note


def test_new_note_replaces_the_old_one(store: BaselineStore) -> None:
    save(store, replace(MEASURED, note="new"))

    assert store.read(DEVICE, OPERATOR)[GRAPH].note == "new"


def test_removed_case_is_gone_and_the_others_stay(store: BaselineStore) -> None:
    store.remove(DEVICE, OPERATOR, [DIRECT])

    assert store.read(DEVICE, OPERATOR) == {GRAPH: MEASURED}


def test_removing_the_last_case_removes_the_file(store: BaselineStore) -> None:
    store.remove(DEVICE, OPERATOR, [DIRECT, GRAPH])

    assert store.devices(OPERATOR) == ()


def test_removing_an_unknown_case_names_it_and_the_known_ones(store: BaselineStore) -> None:
    with pytest.raises(BaselineError, match=f"(?s)no case {ABSENT}.*{DIRECT}, {GRAPH}"):
        store.remove(DEVICE, OPERATOR, [ABSENT])


def test_published_figures_read(store: BaselineStore) -> None:
    stored = BaselineStore(PUBLISHED).read("nvidia-h100-80gb", "rms_scaled_softmax")

    assert {case_id.split("/")[1]: one.completion_ns for case_id, one in stored.items()} == {
        "unfused-direct": 44_700,
        "unfused-graph": 38_800,
        "local_fusion-graph": 19_900,
        "megakernel_row-graph": 19_200,
        "megakernel_row-direct": 18_600,
    }


def test_damaged_file_is_an_error_with_the_commands_that_mend_it(store: BaselineStore) -> None:
    path = file_of(store)
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(BaselineError) as caught:
        store.read(DEVICE, OPERATOR)

    assert str(caught.value).split("\n")[1] == (
        f"restore it: git checkout -- {path}; or delete it and measure anew: pytest --rmsperf-save"
    )


def test_folder_in_place_of_the_file_is_an_error(store: BaselineStore) -> None:
    file_of(store).unlink()
    file_of(store).mkdir()

    with pytest.raises(BaselineError, match=r"cannot read .*softmax\.json: Is a directory"):
        store.read(DEVICE, OPERATOR)


def test_case_of_another_operator_is_refused(store: BaselineStore) -> None:
    path = store.path(DEVICE, "soft")
    path.write_bytes(file_of(store).read_bytes())

    with pytest.raises(BaselineError, match="must start with soft/"):
        store.read(DEVICE, "soft")


def test_file_moved_to_another_device_is_refused(store: BaselineStore) -> None:
    path = store.path("nvidia-h100", OPERATOR)
    path.parent.mkdir()
    path.write_bytes(file_of(store).read_bytes())

    with pytest.raises(BaselineError, match='measured on nvidia-h100, got "NVIDIA H200"'):
        store.read("nvidia-h100", OPERATOR)


def test_published_figures_may_stand_under_another_device(store: BaselineStore) -> None:
    published = replace(MEASURED, run=replace(MEASURED.run, source="published"))

    store.write("nvidia-h100", OPERATOR, {GRAPH: published})

    assert store.read("nvidia-h100", OPERATOR) == {GRAPH: published}


@pytest.mark.parametrize(
    "act",
    [lambda store: save(store, MEASURED), lambda store: store.remove(DEVICE, OPERATOR, [GRAPH])],
    ids=["write", "remove"],
)
def test_unreadable_file_stays_as_it_was(
    store: BaselineStore, act: Callable[[BaselineStore], object]
) -> None:
    broken = file_of(store).read_bytes()[:-40]
    file_of(store).write_bytes(broken)

    with pytest.raises(BaselineError, match="cannot read"):
        act(store)

    assert file_of(store).read_bytes() == broken


@pytest.mark.parametrize(
    ("measurement", "fault"),
    [
        (replace(MEASURED, case_id=DIRECT), "must be its measurement's id"),
        (replace(MEASURED, run=OTHER_DEVICE), "must be measured on nvidia-h200"),
    ],
)
def test_measurement_that_could_not_be_read_back_is_not_written(
    store: BaselineStore, measurement: Measurement, fault: str
) -> None:
    with pytest.raises(BaselineError, match=f"refused to write baseline .*{fault}"):
        store.write(DEVICE, OPERATOR, {GRAPH: measurement})

    assert file_of(store).read_bytes() == GOLDEN.read_bytes()


def test_saving_nothing_is_an_error(store: BaselineStore) -> None:
    with pytest.raises(BaselineError, match=r"nothing to save to .*: no case was measured"):
        store.write(DEVICE, OPERATOR, {})


def crash(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_crash_between_write_and_replace_leaves_the_old_file_alone_in_its_folder(
    store: BaselineStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "replace", crash)

    with pytest.raises(KeyboardInterrupt):
        save(store, replace(OTHER, inputs="ones"))

    files = {path.name: path.read_bytes() for path in file_of(store).parent.iterdir()}
    assert files == {"softmax.json": GOLDEN.read_bytes()}


def test_file_and_folder_are_synced_around_the_replacement(
    store: BaselineStore, monkeypatch: pytest.MonkeyPatch
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

    save(store, MEASURED)

    assert steps == ["file", "replace", "folder"]


def test_file_is_readable_by_others_as_the_umask_allows(store: BaselineStore) -> None:
    file_of(store).unlink()
    plain = file_of(store).with_name("plain")
    plain.touch()

    save(store, MEASURED)

    assert file_of(store).stat().st_mode == plain.stat().st_mode


def test_folder_that_cannot_be_written_is_named_with_the_option_that_changes_it(
    store: BaselineStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(old: Path, new: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied", str(new))

    monkeypatch.setattr(Path, "replace", refuse)

    with pytest.raises(BaselineError, match=r"(?s)cannot write .*denied.*--rmsperf-baselines=DIR"):
        save(store, MEASURED)


def test_writers_at_the_same_time_lose_no_case(store: BaselineStore) -> None:
    ids = [f"softmax/online-graph/{rows}x1024" for rows in range(1, 13)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: save(store, replace(MEASURED, case_id=one)), ids))

    assert store.read(DEVICE, OPERATOR).keys() == {*ids, GRAPH, DIRECT}


def test_lock_that_is_never_released_is_an_error_with_its_file(
    store: BaselineStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save(store, MEASURED)
    (lock,) = (tmp_path / "cache").rglob("*.lock")
    monkeypatch.setattr(baselines, "LOCK_TIMEOUT_S", 0.05)

    with FileLock(lock), pytest.raises(BaselineError, match=f"another process has held {lock}"):
        save(store, MEASURED)


def test_no_lock_is_left_beside_the_baseline(store: BaselineStore) -> None:
    save(store, MEASURED)

    assert [path.name for path in file_of(store).parent.iterdir()] == ["softmax.json"]
