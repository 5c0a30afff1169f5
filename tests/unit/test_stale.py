"""Stored cases that no test asks for: found, told with the command that helps, and removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from candidates import DEVICE, DIRECT, GRAPH, OPERATOR, case, stored
from costs import cost_of
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.stale import StaleCase, remove_stale, stale_cases, stale_message
from pytest_rmsperf.storing.static_store import StaticStore

ARCH = "sm_90"
NEW = "softmax/wide-graph/16x1024"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaselineStore:
    """A store that holds GRAPH and DIRECT."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = BaselineStore(tmp_path / "baselines")
    store.write(DEVICE, OPERATOR, {one: replace(stored(), case_id=one) for one in (GRAPH, DIRECT)})
    return store


@pytest.fixture
def static(store: BaselineStore) -> StaticStore:
    """A store of costs in the same folder, with GRAPH and DIRECT too."""
    static = StaticStore(store.folder)
    static.write(ARCH, OPERATOR, {one: cost_of(case_id=one) for one in (GRAPH, DIRECT)})
    return static


def told(stores: Sequence[BaselineStore | StaticStore], *wanted: str) -> list[str]:
    """The message of a test that asks for the cases `wanted`, line by line."""
    cases = [case(one) for one in wanted]
    return stale_message(stale_cases(stores, cases), cases, "test_stale").split("\n")


def test_stored_case_that_is_not_wanted_is_stale(store: BaselineStore) -> None:
    assert stale_cases([store], [case(GRAPH)]) == [StaleCase(store, DEVICE, OPERATOR, DIRECT)]


def test_nothing_is_stale_where_all_are_wanted(store: BaselineStore) -> None:
    assert stale_cases([store], [case(GRAPH), case(DIRECT)]) == []


def test_stale_cases_are_found_for_every_device(store: BaselineStore) -> None:
    run = stored().run
    other = replace(run, device=replace(run.device, name="NVIDIA H100"))
    store.write("nvidia-h100", OPERATOR, {DIRECT: replace(stored(), case_id=DIRECT, run=other)})

    found = stale_cases([store], [case(GRAPH)])

    assert [one.target for one in found] == ["nvidia-h100", DEVICE]


def test_message_offers_to_rename_where_as_many_cases_are_missing_as_are_stale(
    store: BaselineStore,
) -> None:
    assert told([store], NEW, NEW.replace("graph", "direct"))[-2:] == [
        (
            "if they were renamed, keep their history with: "
            "pytest --rmsperf-rename=softmax/online=softmax/wide"
        ),
        "remove them (this needs no GPU) with: pytest --rmsperf-save -k test_stale",
    ]


def test_message_renames_single_cases_where_the_old_variant_is_still_in_use(
    store: BaselineStore,
) -> None:
    lines = told([store], DIRECT, NEW)

    assert lines[-2].endswith(f"pytest --rmsperf-rename={GRAPH}={NEW}")


@pytest.mark.parametrize(
    "wanted",
    [[GRAPH], [NEW], [GRAPH, DIRECT.replace("16x", "32x")], [GRAPH, NEW]],
    ids=["none missing", "one missing of two", "another problem", "another submission"],
)
def test_message_offers_no_renaming_where_no_names_correspond(
    store: BaselineStore, wanted: list[str]
) -> None:
    assert told([store], *wanted)[-1] == (
        "give the case its old name back, or remove them (this needs no GPU) with: "
        "pytest --rmsperf-save -k test_stale"
    )


def test_removed_cases_are_shown_with_their_file(store: BaselineStore) -> None:
    lines = remove_stale([StaleCase(store, DEVICE, OPERATOR, DIRECT)])

    assert store.read(DEVICE, OPERATOR).keys() == {GRAPH}
    assert lines == [f"removed: {DIRECT} from {store.path(DEVICE, OPERATOR)}"]


def test_nothing_is_removed_where_one_file_cannot_be_read(store: BaselineStore) -> None:
    broken = store.path("nvidia-h100", OPERATOR)
    broken.parent.mkdir()
    broken.write_text("{", encoding="utf-8")
    stale = [StaleCase(store, one, OPERATOR, DIRECT) for one in (DEVICE, "nvidia-h100")]

    with pytest.raises(BaselineError, match="cannot read baseline"):
        remove_stale(stale)

    assert DIRECT in store.read(DEVICE, OPERATOR)


# ---- latencies and costs ---------------------------------------------------------------------


def test_stale_cases_are_found_in_all_stores(store: BaselineStore, static: StaticStore) -> None:
    assert stale_cases([store, static], [case(GRAPH)]) == [
        StaleCase(store, DEVICE, OPERATOR, DIRECT),
        StaleCase(static, ARCH, OPERATOR, DIRECT),
    ]


def test_message_names_the_files_of_all_stores(store: BaselineStore, static: StaticStore) -> None:
    assert told([store, static], GRAPH)[:3] == [
        "stale: 2 stored cases that no test asks for",
        f"  {store.path(DEVICE, OPERATOR)}: {DIRECT}",
        f"  {static.path(ARCH, OPERATOR)}: {DIRECT}",
    ]


def test_renaming_is_offered_once_for_all_stores(store: BaselineStore, static: StaticStore) -> None:
    lines = told([store, static], NEW, NEW.replace("graph", "direct"))

    assert lines[-2].endswith("with: pytest --rmsperf-rename=softmax/online=softmax/wide")


def test_renaming_is_offered_for_latencies_whose_cost_is_stored_under_the_new_name(
    store: BaselineStore, static: StaticStore
) -> None:
    renamed = (NEW, NEW.replace("graph", "direct"))
    static.write(ARCH, OPERATOR, {one: cost_of(case_id=one) for one in renamed})
    static.remove(ARCH, OPERATOR, [GRAPH, DIRECT])

    lines = told([store, static], *renamed)

    assert lines[-2].endswith("with: pytest --rmsperf-rename=softmax/online=softmax/wide")


def test_stale_cases_are_removed_from_all_stores(store: BaselineStore, static: StaticStore) -> None:
    lines = remove_stale(stale_cases([store, static], [case(GRAPH)]))

    assert [one.keys() for one in (store.read(DEVICE, OPERATOR), static.read(ARCH, OPERATOR))] == [
        {GRAPH},
        {GRAPH},
    ]
    assert lines == [
        f"removed: {DIRECT} from {store.path(DEVICE, OPERATOR)}",
        f"removed: {DIRECT} from {static.path(ARCH, OPERATOR)}",
    ]


def test_nothing_is_removed_where_the_file_of_another_store_cannot_be_read(
    store: BaselineStore, static: StaticStore
) -> None:
    stale = stale_cases([store, static], [case(GRAPH)])
    static.path(ARCH, OPERATOR).write_text("{", encoding="utf-8")

    with pytest.raises(BaselineError, match="cannot read baseline"):
        remove_stale(stale)

    assert DIRECT in store.read(DEVICE, OPERATOR)
