"""The store of static baselines: where they lie, what is no such file, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from candidates import DEVICE, DIRECT, GRAPH, OPERATOR, stored
from costs import cost_of
from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.static_store import StaticStore

ARCH = "sm_90"
COST = cost_of(case_id=GRAPH)
OTHER = cost_of(case_id=DIRECT)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StaticStore:
    """A store without a file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return StaticStore(tmp_path / "baselines")


@pytest.fixture
def store(empty: StaticStore) -> StaticStore:
    """A store that holds GRAPH and DIRECT for sm_90."""
    empty.write(ARCH, OPERATOR, {GRAPH: COST, DIRECT: OTHER})
    return empty


@pytest.fixture
def latencies(empty: StaticStore) -> list[BaselineStore]:
    """The stores of latencies in the same folder, warm and cold."""
    return [BaselineStore(empty.folder, one) for one in Cache]


def file_of(store: StaticStore) -> Path:
    return store.path(ARCH, OPERATOR)


# ---- what is kept ----------------------------------------------------------------------------


def test_static_baselines_lie_by_arch_and_operator(store: StaticStore) -> None:
    assert file_of(store) == store.folder / "sm_90" / "softmax.static.json"


def test_file_holds_the_stored_costs(store: StaticStore) -> None:
    assert store.read(ARCH, OPERATOR) == {GRAPH: COST, DIRECT: OTHER}


def test_missing_file_reads_as_no_cases(empty: StaticStore) -> None:
    assert empty.read(ARCH, OPERATOR) == {}


def test_storing_what_was_read_leaves_every_byte(store: StaticStore) -> None:
    before = file_of(store).read_bytes()

    store.write(ARCH, OPERATOR, store.read(ARCH, OPERATOR))

    assert file_of(store).read_bytes() == before


def test_archs_are_those_that_hold_the_operator(store: StaticStore) -> None:
    store.write(
        "sm_89", "rows", {"rows/one-graph/4": cost_of(case_id="rows/one-graph/4", arch="sm_89")}
    )

    assert (store.targets(OPERATOR), store.targets("rows")) == (("sm_90",), ("sm_89",))


def test_partial_save_keeps_the_other_cases(store: StaticStore) -> None:
    changed = replace(COST, flags=("-O3",))

    store.write(ARCH, OPERATOR, {GRAPH: changed})

    assert store.read(ARCH, OPERATOR) == {GRAPH: changed, DIRECT: OTHER}


def test_removing_the_last_case_removes_the_file(store: StaticStore) -> None:
    store.remove(ARCH, OPERATOR, [GRAPH, DIRECT])

    assert not file_of(store).exists()


# ---- what is no file of this store -----------------------------------------------------------


def test_static_file_is_never_taken_for_latencies(
    store: StaticStore, latencies: list[BaselineStore]
) -> None:
    assert [one.devices(OPERATOR) for one in latencies] == [(), ()]


def test_latencies_are_never_taken_for_static_baselines(
    empty: StaticStore, latencies: list[BaselineStore]
) -> None:
    latencies[0].write(DEVICE, OPERATOR, {GRAPH: stored()})

    assert empty.targets(OPERATOR) == ()


@pytest.mark.parametrize("operator", ["static", "softmax_static", "cold"])
def test_no_operator_is_called_so_that_its_files_are_those_of_another_store(
    empty: StaticStore, latencies: list[BaselineStore], operator: str
) -> None:
    stores: list[BaselineStore | StaticStore] = [*latencies, empty]

    names = {one.file_name(operator) for one in stores}

    others = {one.file_name(name) for one in stores for name in (OPERATOR, "rows")}
    assert (len(names), others & names) == (3, set())


def test_static_file_in_place_of_latencies_is_refused(
    store: StaticStore, latencies: list[BaselineStore]
) -> None:
    file_of(store).replace(latencies[0].path(ARCH, OPERATOR))

    with pytest.raises(BaselineError, match=r"softmax\.json: arch is not a known key"):
        latencies[0].read(ARCH, OPERATOR)


def test_latencies_in_place_of_a_static_file_are_refused(
    store: StaticStore, latencies: list[BaselineStore]
) -> None:
    latencies[0].write(DEVICE, OPERATOR, {GRAPH: stored()}).replace(file_of(store))

    with pytest.raises(BaselineError, match=r"softmax\.static\.json: schema_version must be at "):
        store.read(ARCH, OPERATOR)


def test_file_moved_to_another_arch_is_refused(store: StaticStore) -> None:
    path = store.path("sm_89", OPERATOR)
    path.parent.mkdir()
    path.write_bytes(file_of(store).read_bytes())

    with pytest.raises(BaselineError, match='must be compiled for sm_89, got "sm_90"'):
        store.read("sm_89", OPERATOR)


def test_case_of_another_operator_is_refused(store: StaticStore) -> None:
    store.path(ARCH, "soft").write_bytes(file_of(store).read_bytes())

    with pytest.raises(BaselineError, match="must start with soft/"):
        store.read(ARCH, "soft")


def test_damaged_file_is_an_error_with_the_commands_that_mend_it(store: StaticStore) -> None:
    file_of(store).write_bytes(file_of(store).read_bytes()[:-40])

    with pytest.raises(BaselineError) as caught:
        store.read(ARCH, OPERATOR)

    assert str(caught.value).split("\n")[1] == (
        f"restore it: git checkout -- {file_of(store)}; or delete it and save anew: "
        "pytest --rmsperf-static --rmsperf-save"
    )


# ---- what is not written ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "fault"),
    [
        (OTHER, "must be its record's id"),
        (replace(COST, arch="sm_89"), 'must be compiled for sm_90, got "sm_89"'),
        (replace(COST, kernels=()), "launches row on NVIDIA H100 80GB HBM3, none of its kernels"),
    ],
    ids=["id", "arch", "kernels"],
)
def test_cost_that_could_not_be_read_back_is_not_written(
    store: StaticStore, cost: StaticCost, fault: str
) -> None:
    before = file_of(store).read_bytes()

    with pytest.raises(BaselineError, match=f"refused to write baseline .*{fault}"):
        store.write(ARCH, OPERATOR, {GRAPH: cost})

    assert file_of(store).read_bytes() == before
