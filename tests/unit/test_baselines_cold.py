"""Baselines of the protocol with a cold cache, beside the warm ones, and edits of both at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.measurement import Noise
from pytest_rmsperf.protocol import Cache, Protocol
from pytest_rmsperf.storing.baseline_format import decode
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.baselines import BaselineStore, Cases
from pytest_rmsperf.storing.case_store import Edit, apply

GOLDEN = Path(__file__).parent / "data" / "baseline_v3.json"
DEVICE, OPERATOR = "nvidia-h200", "softmax"
GRAPH = "softmax/online-graph/16x1024"
CASES = decode(GOLDEN.read_bytes(), Place(GOLDEN, "cannot read", "restore it"))
WARM_RUN = CASES[GRAPH].run
COLD = replace(CASES[GRAPH], run=replace(WARM_RUN, protocol=Protocol(cache=Cache.COLD)))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaselineStore:
    """A store of warm baselines that holds a copy of the golden file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = BaselineStore(tmp_path / "baselines")
    path = file_of(store)
    path.parent.mkdir(parents=True)
    path.write_bytes(GOLDEN.read_bytes())
    return store


def file_of(store: BaselineStore) -> Path:
    return store.path(DEVICE, OPERATOR)


@pytest.fixture
def cold(store: BaselineStore) -> BaselineStore:
    """The store of the cold protocol in the folder of `store`, with the case GRAPH alone."""
    cold = BaselineStore(store.folder, Cache.COLD)
    cold.write(DEVICE, OPERATOR, {GRAPH: COLD})
    return cold


def test_cold_baselines_lie_in_a_file_beside_the_warm_ones(cold: BaselineStore) -> None:
    files = sorted(path.name for path in (cold.folder / DEVICE).iterdir())

    assert files == ["softmax.cold.json", "softmax.json"]


def test_saving_cold_figures_leaves_the_warm_ones(
    store: BaselineStore, cold: BaselineStore
) -> None:
    assert (store.read(DEVICE, OPERATOR), cold.read(DEVICE, OPERATOR)) == (CASES, {GRAPH: COLD})


def test_devices_are_those_with_a_file_for_this_kind_of_cache(cold: BaselineStore) -> None:
    file_of(BaselineStore(cold.folder)).unlink()

    stores = [BaselineStore(cold.folder, cache) for cache in Cache]

    assert [one.devices(OPERATOR) for one in stores] == [(), (DEVICE,)]


def test_removing_a_cold_case_leaves_the_warm_one(
    store: BaselineStore, cold: BaselineStore
) -> None:
    cold.remove(DEVICE, OPERATOR, [GRAPH])

    assert (GRAPH in store.read(DEVICE, OPERATOR), cold.devices(OPERATOR)) == (True, ())


def test_warm_figures_in_a_cold_file_are_refused(store: BaselineStore, cold: BaselineStore) -> None:
    file_of(store).replace(cold.path(DEVICE, OPERATOR))

    with pytest.raises(BaselineError, match='must be measured with a cold cache, got "warm"'):
        cold.read(DEVICE, OPERATOR)


# ---- several files at once -------------------------------------------------------------------


def noisy(stored: Cases) -> Cases:
    """A change: every case gets the same noise."""
    return {key: replace(one, noise=Noise(12, 1, 2, 3, 4)) for key, one in stored.items()}


def test_several_files_change_together(store: BaselineStore, cold: BaselineStore) -> None:
    apply([Edit(one, DEVICE, OPERATOR, noisy) for one in (store, cold)])

    stored = [*store.read(DEVICE, OPERATOR).values(), *cold.read(DEVICE, OPERATOR).values()]
    assert {one.noise for one in stored} == {Noise(12, 1, 2, 3, 4)}


def test_no_file_changes_where_one_of_them_cannot_be_read(
    store: BaselineStore, cold: BaselineStore
) -> None:
    cold.path(DEVICE, OPERATOR).write_bytes(b"{")

    with pytest.raises(BaselineError, match="cannot read baseline"):
        apply([Edit(one, DEVICE, OPERATOR, noisy) for one in (store, cold)])

    assert file_of(store).read_bytes() == GOLDEN.read_bytes()
