"""Static baselines under another name: together with the latencies, or neither."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from candidates import DEVICE, DIRECT, GRAPH, OPERATOR, stored
from costs import cost_of
from pytest_rmsperf.errors import BaselineError, SettingError
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.renaming import rename_cases
from pytest_rmsperf.storing.static_store import StaticStore

ARCHS = ("sm_89", "sm_90")
WIDE = "softmax/wide-graph/16x1024"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaselineStore:
    """The latencies of GRAPH and DIRECT."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = BaselineStore(tmp_path / "baselines")
    store.write(DEVICE, OPERATOR, {one: replace(stored(), case_id=one) for one in (GRAPH, DIRECT)})
    return store


@pytest.fixture
def static(store: BaselineStore) -> StaticStore:
    """What GRAPH and DIRECT cost on two archs, in the same folder."""
    static = StaticStore(store.folder)
    for arch in ARCHS:
        costs = {one: cost_of(case_id=one, arch=arch) for one in (GRAPH, DIRECT)}
        static.write(arch, OPERATOR, costs)
    return static


def contents(store: BaselineStore) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in store.folder.rglob("*.json")}


def test_case_is_renamed_in_the_static_baselines_of_all_archs(
    store: BaselineStore, static: StaticStore
) -> None:
    lines = rename_cases(store.folder, [(GRAPH, WIDE)])

    assert [static.read(one, OPERATOR)[WIDE] for one in ARCHS] == [
        cost_of(case_id=WIDE, arch=one) for one in ARCHS
    ]
    assert lines[-1] == f"renamed: {GRAPH} -> {WIDE} in {static.path(ARCHS[1], OPERATOR)}"


def test_case_that_has_a_cost_and_no_latency_is_renamed(
    store: BaselineStore, static: StaticStore
) -> None:
    store.remove(DEVICE, OPERATOR, [GRAPH, DIRECT])

    rename_cases(store.folder, [(GRAPH, WIDE)])

    assert static.read(ARCHS[0], OPERATOR).keys() == {WIDE, DIRECT}


def test_no_latency_is_renamed_where_the_name_is_taken_among_the_costs(
    store: BaselineStore, static: StaticStore
) -> None:
    static.write(ARCHS[1], OPERATOR, {WIDE: cost_of(case_id=WIDE, arch=ARCHS[1])})
    before = contents(store)

    with pytest.raises(SettingError) as caught:
        rename_cases(store.folder, [(GRAPH, WIDE)])

    assert str(caught.value).endswith(
        f"{WIDE} is taken in {static.path(ARCHS[1], OPERATOR)}, and its figures would be lost; "
        "give the two different names, or let stale costs go first: "
        "pytest --rmsperf-static --rmsperf-save"
    )
    assert contents(store) == before


def test_nothing_is_renamed_where_a_static_file_cannot_be_read(
    store: BaselineStore, static: StaticStore
) -> None:
    static.path(ARCHS[1], OPERATOR).write_text("{", encoding="utf-8")
    before = contents(store)

    with pytest.raises(BaselineError, match="cannot read baseline"):
        rename_cases(store.folder, [(GRAPH, WIDE)])

    assert contents(store) == before
