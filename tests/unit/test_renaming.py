"""Stored cases under another name: the history stays, and nothing is lost or half done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from candidates import DEVICE, DIRECT, GRAPH, OPERATOR, RUN, stored
from pytest_rmsperf.errors import BaselineError, SettingError
from pytest_rmsperf.measurement import Anchor, Measurement, Noise
from pytest_rmsperf.protocol import Cache, Protocol
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.renaming import likely_renames, parse_pair, rename_cases

OTHER_DEVICE = "nvidia-h100"
WIDE = "softmax/wide-graph/16x1024"
WHOLE = Measurement(
    GRAPH,
    RUN,
    "ones",
    ("-O3",),
    stored().sessions,
    None,
    note="accepted with the wider tile",
    anchor=Anchor(7900, 12_900, "2026-10-01T12:00:00Z", "0000000"),
    noise=Noise(12, 4100, 9000, 81_000, 260_000),
)


def named(case_id: str, *, device: str = "NVIDIA H200", cache: Cache = Cache.WARM) -> Measurement:
    """The measurement WHOLE under another name, from another device, or with another cache."""
    identity = replace(RUN.device, name=device)
    run = replace(RUN, device=identity, protocol=Protocol(cache=cache))
    return replace(WHOLE, case_id=case_id, run=run)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaselineStore:
    """GRAPH and DIRECT of two devices, and GRAPH with a cold cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = BaselineStore(tmp_path / "baselines")
    store.write(DEVICE, OPERATOR, {one: named(one) for one in (GRAPH, DIRECT)})
    others = {one: named(one, device="NVIDIA H100") for one in (GRAPH, DIRECT)}
    store.write(OTHER_DEVICE, OPERATOR, others)
    cold = {GRAPH: named(GRAPH, cache=Cache.COLD)}
    BaselineStore(store.folder, Cache.COLD).write(DEVICE, OPERATOR, cold)
    return store


def contents(store: BaselineStore) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in store.folder.rglob("*.json")}


# ---- what is renamed -------------------------------------------------------------------------


def test_entry_keeps_everything_but_its_name(store: BaselineStore) -> None:
    rename_cases(store.folder, [(GRAPH, WIDE)])

    assert store.read(DEVICE, OPERATOR)[WIDE] == named(WIDE)


def test_case_is_renamed_on_all_devices_and_with_both_caches(store: BaselineStore) -> None:
    cold = BaselineStore(store.folder, Cache.COLD)

    rename_cases(store.folder, [(GRAPH, WIDE)])

    assert [
        set(store.read(DEVICE, OPERATOR)),
        set(store.read(OTHER_DEVICE, OPERATOR)),
        set(cold.read(DEVICE, OPERATOR)),
    ] == [{WIDE, DIRECT}, {WIDE, DIRECT}, {WIDE}]


def test_variant_is_renamed_with_all_submissions_and_problems(store: BaselineStore) -> None:
    rename_cases(store.folder, [("softmax/online", "softmax/wide")])

    assert set(store.read(DEVICE, OPERATOR)) == {WIDE, WIDE.replace("graph", "direct")}


def test_variant_whose_name_begins_alike_is_left_alone(store: BaselineStore) -> None:
    longer = "softmax/online_fast-graph/16x1024"
    store.write(DEVICE, OPERATOR, {longer: named(longer)})

    rename_cases(store.folder, [("softmax/online", "softmax/wide")])

    assert longer in store.read(DEVICE, OPERATOR)


def test_each_renamed_case_is_told_with_its_file(store: BaselineStore) -> None:
    store.remove(OTHER_DEVICE, OPERATOR, [GRAPH, DIRECT])

    assert rename_cases(store.folder, [(DIRECT, WIDE)]) == [
        f"renamed: {DIRECT} -> {WIDE} in {store.path(DEVICE, OPERATOR)}"
    ]


def test_file_without_the_case_is_not_touched(store: BaselineStore) -> None:
    store.remove(OTHER_DEVICE, OPERATOR, [GRAPH])
    before = store.path(OTHER_DEVICE, OPERATOR).stat().st_mtime_ns

    rename_cases(store.folder, [(GRAPH, WIDE)])

    assert store.path(OTHER_DEVICE, OPERATOR).stat().st_mtime_ns == before


def test_two_cases_may_change_names_with_each_other(store: BaselineStore) -> None:
    store.write(DEVICE, OPERATOR, {DIRECT: replace(named(DIRECT), note="was direct")})

    rename_cases(store.folder, [(GRAPH, DIRECT), (DIRECT, GRAPH)])

    assert store.read(DEVICE, OPERATOR)[GRAPH].note == "was direct"


def test_new_name_that_another_device_has_already_is_free_on_this_one(
    store: BaselineStore,
) -> None:
    store.remove(OTHER_DEVICE, OPERATOR, [GRAPH])
    store.write(OTHER_DEVICE, OPERATOR, {WIDE: named(WIDE, device="NVIDIA H100")})

    rename_cases(store.folder, [(GRAPH, WIDE)])

    assert WIDE in store.read(DEVICE, OPERATOR)


# ---- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([("softmax/onlne", "softmax/wide")], "is called softmax/onlne; there is softmax/online"),
        (
            [("softmax/online-graph/16x1025", WIDE)],
            f"is called softmax/online-graph/16x1025; there is {GRAPH}, {DIRECT}",
        ),
        ([("rows/online", "rows/wide")], "its operator has no baselines"),
        ([(GRAPH, DIRECT)], f"{DIRECT} is taken in "),
        ([(GRAPH, WIDE), (DIRECT, WIDE)], f"{WIDE} is taken in "),
        ([(GRAPH, WIDE), ("softmax/online", "softmax/fast")], f"{GRAPH} is renamed twice"),
    ],
)
def test_renaming_that_would_lose_or_miss_a_case_is_refused_and_nothing_is_renamed(
    store: BaselineStore, pairs: list[tuple[str, str]], words: str
) -> None:
    before = contents(store)

    with pytest.raises(SettingError) as caught:
        rename_cases(store.folder, pairs)

    assert words in str(caught.value)
    assert contents(store) == before


def test_no_file_is_renamed_where_the_name_is_taken_in_another(store: BaselineStore) -> None:
    store.write(OTHER_DEVICE, OPERATOR, {WIDE: named(WIDE, device="NVIDIA H100")})
    before = contents(store)

    with pytest.raises(SettingError, match=f"{WIDE} is taken in .*{OTHER_DEVICE}"):
        rename_cases(store.folder, [(GRAPH, WIDE)])

    assert contents(store) == before


def test_no_file_is_renamed_where_another_cannot_be_read(store: BaselineStore) -> None:
    store.path(OTHER_DEVICE, OPERATOR).write_text("{", encoding="utf-8")
    before = contents(store)

    with pytest.raises(BaselineError, match="cannot read baseline"):
        rename_cases(store.folder, [(GRAPH, WIDE)])

    assert contents(store) == before


# ---- the text of the option ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("softmax/online=softmax/wide", ("softmax/online", "softmax/wide")),
        (f" {GRAPH} = {WIDE} ", (GRAPH, WIDE)),
    ],
)
def test_pair_of_variants_or_of_whole_ids_is_read(text: str, pair: tuple[str, str]) -> None:
    assert parse_pair(text) == pair


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("softmax/online", "is not OLD=NEW"),
        ("", "is not OLD=NEW"),
        ("a/b=a/c=a/d", "is not OLD=NEW"),
        ("=softmax/wide", "'' is neither operator/variant or a whole case id"),
        ("softmax/online=", "'' is neither"),
        ("softmax=rows", "'softmax' is neither"),
        ("softmax/on line=softmax/wide", "'softmax/on line' is neither"),
        (f"{GRAPH}=softmax/wide-graph/016x1024", "'softmax/wide-graph/016x1024' is neither"),
        (f"{GRAPH}=softmax/wide-later/16x1024", "'softmax/wide-later/16x1024' is neither"),
        (f"{GRAPH}=softmax/wide", "one side is a whole case id and the other is not"),
        ("softmax/online=rows/online", "the operators differ"),
        ("softmax/online=softmax/online", "both names are the same"),
    ],
)
def test_text_that_is_no_pair_is_refused_with_the_text_and_the_rule(text: str, why: str) -> None:
    with pytest.raises(SettingError) as caught:
        parse_pair(text)

    message = str(caught.value)
    assert message.startswith(f"--rmsperf-rename={text}: {why}")
    assert "write --rmsperf-rename=OLD=NEW" in message


# ---- which names may belong together ---------------------------------------------------------


def ids(*variants: str) -> list[str]:
    """Both submissions of each variant."""
    return [f"op/{one}-{how}/16x32" for one in variants for how in ("direct", "graph")]


def test_cases_whose_variant_alone_differs_are_likely_renames() -> None:
    pairs = likely_renames(ids("row"), ids("rows"))

    assert pairs == list(zip(ids("row"), ids("rows"), strict=True))


def test_variants_with_the_most_alike_names_belong_together() -> None:
    pairs = likely_renames(ids("megakernel_row", "unfused"), ids("naive_unfused", "mega_row"))

    assert {(old.split("-")[0], new.split("-")[0]) for old, new in pairs} == {
        ("op/megakernel_row", "op/mega_row"),
        ("op/unfused", "op/naive_unfused"),
    }


@pytest.mark.parametrize(
    ("stale", "missing"),
    [
        (ids("row"), []),
        (ids("row"), ids("a", "b")),
        (ids("row"), ["op/rows-direct/16x32", "op/rows-graph/32x32"]),
        (["op/row-graph/16x32"], ["op/row-graph/32x32"]),
    ],
    ids=["none", "more", "other problem of one", "other problem"],
)
def test_cases_that_differ_in_more_than_the_variant_are_no_renames(
    stale: list[str], missing: list[str]
) -> None:
    assert likely_renames(stale, missing) == []
