"""The baseline store: what it keeps, what it refuses, and that a refused file stays as it was."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR as BUNDLED
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Cache, Protocol
from pytest_rmsperf.storing.baseline_format import decode
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.case_store import CASE_ID

GOLDEN = Path(__file__).parent / "data" / "baseline_v3.json"
PUBLISHED = Path(__file__).parents[2] / "baselines"
DEVICE, OPERATOR = "nvidia-h200", "softmax"
GRAPH, DIRECT = "softmax/online-graph/16x1024", "softmax/online-direct/16x1024"
ABSENT = "softmax/online-graph/16x131072"
CASES = decode(GOLDEN.read_bytes(), Place(GOLDEN, "cannot read", "restore it"))
MEASURED, OTHER = CASES[GRAPH], CASES[DIRECT]
OTHER_DEVICE = replace(MEASURED.run, device=replace(MEASURED.run.device, name="NVIDIA H100"))
COLD = replace(MEASURED, run=replace(MEASURED.run, protocol=Protocol(cache=Cache.COLD)))


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


@pytest.mark.parametrize("device", BaselineStore(PUBLISHED).devices("rms_scaled_softmax"))
def test_every_committed_file_reads(device: str) -> None:
    stored = BaselineStore(PUBLISHED).read(device, "rms_scaled_softmax")

    assert all(one.completion_ns for one in stored.values())


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
        (replace(MEASURED, case_id=DIRECT), "must be its record's id"),
        (replace(MEASURED, run=OTHER_DEVICE), "must be measured on nvidia-h200"),
        (COLD, 'must be measured with a warm cache, got "cold"'),
    ],
)
def test_measurement_that_could_not_be_read_back_is_not_written(
    store: BaselineStore, measurement: Measurement, fault: str
) -> None:
    with pytest.raises(BaselineError, match=f"refused to write baseline .*{fault}"):
        store.write(DEVICE, OPERATOR, {GRAPH: measurement})

    assert file_of(store).read_bytes() == GOLDEN.read_bytes()


def test_id_that_no_case_can_have_is_not_written(store: BaselineStore) -> None:
    for odd in ("softmax/online-graph/<lambda>", "softmax/online/16", "softmax/a-graph/0x0@1a2b"):
        with pytest.raises(BaselineError, match="must be operator/variant-submission/problem"):
            store.write(DEVICE, OPERATOR, {odd: replace(MEASURED, case_id=odd)})

    assert file_of(store).read_bytes() == GOLDEN.read_bytes()


@pytest.mark.parametrize("case", BUNDLED.cases(), ids=lambda one: str(one.id))
def test_id_of_every_bundled_case_is_one_that_can_be_stored(case: Case) -> None:
    assert CASE_ID.fullmatch(case.id)


def test_keys_do_not_depend_on_where_the_operator_lies(tmp_path: Path, repository: Path) -> None:
    copied = tmp_path / "elsewhere" / "faulty"
    shutil.copytree(repository / "tests" / "unit" / "data" / "faulty", copied)

    here = load_operator(repository / "tests" / "unit" / "data" / "faulty").cases()
    there = load_operator(copied).cases()

    assert [one.id for one in there] == [one.id for one in here]


def test_saving_nothing_is_an_error(store: BaselineStore) -> None:
    with pytest.raises(BaselineError, match=r"nothing to save to .*: no case was looked at"):
        store.write(DEVICE, OPERATOR, {})


def test_writers_at_the_same_time_lose_no_case(store: BaselineStore) -> None:
    ids = [f"softmax/online-graph/{rows}x1024" for rows in range(1, 13)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: save(store, replace(MEASURED, case_id=one)), ids))

    assert store.read(DEVICE, OPERATOR).keys() == {*ids, GRAPH, DIRECT}
