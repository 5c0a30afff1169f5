"""Stored cases that no test asks for: found, told with the command that helps, and removed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from candidates import DEVICE, DIRECT, GRAPH, OPERATOR, case, stored
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.saving import (
    StaleCase,
    missing_cases,
    remove_stale,
    stale_cases,
    stale_message,
)

NEW = "softmax/wide-graph/16x1024"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaselineStore:
    """A store that holds GRAPH and DIRECT."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = BaselineStore(tmp_path / "baselines")
    store.write(DEVICE, OPERATOR, {one: replace(stored(), case_id=one) for one in (GRAPH, DIRECT)})
    return store


def told(store: BaselineStore, *wanted: str) -> list[str]:
    """The message of a test that asks for the cases `wanted`, line by line."""
    cases = [case(one) for one in wanted]
    stale = stale_cases(store, cases)
    return stale_message(store, stale, "test_stale", missing_cases(store, cases)).split("\n")


def test_stored_case_that_is_not_wanted_is_stale(store: BaselineStore) -> None:
    assert stale_cases(store, [case(GRAPH)]) == [StaleCase(DEVICE, OPERATOR, DIRECT)]


def test_nothing_is_stale_where_all_are_wanted(store: BaselineStore) -> None:
    assert stale_cases(store, [case(GRAPH), case(DIRECT)]) == []


def test_stale_cases_are_found_for_every_device(store: BaselineStore) -> None:
    run = stored().run
    other = replace(run, device=replace(run.device, name="NVIDIA H100"))
    store.write("nvidia-h100", OPERATOR, {DIRECT: replace(stored(), case_id=DIRECT, run=other)})

    found = stale_cases(store, [case(GRAPH)])

    assert [one.device for one in found] == ["nvidia-h100", DEVICE]


def test_case_that_is_stored_for_no_device_is_missing(store: BaselineStore) -> None:
    assert missing_cases(store, [case(GRAPH), case(NEW)]) == [NEW]


def test_message_offers_to_rename_where_as_many_cases_are_missing_as_are_stale(
    store: BaselineStore,
) -> None:
    assert told(store, NEW, NEW.replace("graph", "direct"))[-2:] == [
        (
            "if they were renamed, keep their history with: "
            "pytest --rmsperf-rename=softmax/online=softmax/wide"
        ),
        "remove them (this needs no GPU) with: pytest --rmsperf-save -k test_stale",
    ]


def test_message_renames_single_cases_where_the_old_variant_is_still_in_use(
    store: BaselineStore,
) -> None:
    lines = told(store, DIRECT, NEW)

    assert lines[-2].endswith(f"pytest --rmsperf-rename={GRAPH}={NEW}")


@pytest.mark.parametrize(
    "wanted",
    [[GRAPH], [NEW], [GRAPH, DIRECT.replace("16x", "32x")], [GRAPH, NEW]],
    ids=["none missing", "one missing of two", "another problem", "another submission"],
)
def test_message_offers_no_renaming_where_no_names_correspond(
    store: BaselineStore, wanted: list[str]
) -> None:
    assert told(store, *wanted)[-1] == (
        "give the case its old name back, or remove them (this needs no GPU) with: "
        "pytest --rmsperf-save -k test_stale"
    )


def test_removed_cases_are_shown_with_their_file(store: BaselineStore) -> None:
    lines = remove_stale(store, [StaleCase(DEVICE, OPERATOR, DIRECT)])

    assert store.read(DEVICE, OPERATOR).keys() == {GRAPH}
    assert lines == [f"removed: {DIRECT} from {store.path(DEVICE, OPERATOR)}"]


def test_nothing_is_removed_where_one_file_cannot_be_read(store: BaselineStore) -> None:
    broken = store.path("nvidia-h100", OPERATOR)
    broken.parent.mkdir()
    broken.write_text("{", encoding="utf-8")
    stale = [StaleCase(one, OPERATOR, DIRECT) for one in (DEVICE, "nvidia-h100")]

    with pytest.raises(BaselineError, match="cannot read baseline"):
        remove_stale(store, stale)

    assert DIRECT in store.read(DEVICE, OPERATOR)
