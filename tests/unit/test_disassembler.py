"""Instructions are counted once, by one call for many kernels; what fails is told, not hidden."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from pytest_rmsperf.device import disassembler
from pytest_rmsperf.device.build_lock import build_lock
from pytest_rmsperf.device.disassembler import Disassembler, InstructionCounter
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledModule
from tiny_cubin import calls_in, fake_disassembler, module_of, script, text_of

ROW = text_of(1, 1, 2, 0, 3, 0, 0)
ROW_COUNTED = (5, (("global load 128", 2), ("global store 32", 1)))


@pytest.fixture
def counter(tmp_path: Path) -> InstructionCounter:
    """Counts with a script that knows four instructions and writes down how it was called."""
    return InstructionCounter(fake_disassembler(tmp_path), tmp_path / "instructions")


def counted(module: CompiledModule) -> list[tuple[int | None, tuple[tuple[str, int], ...]]]:
    """Return what is known of the instructions of each kernel."""
    codes = [one.code for one in module.kernels]
    return [(one.instructions, one.counts) for one in codes if one is not None]


# ---- counting --------------------------------------------------------------------------------


def test_instructions_are_counted_by_kind_and_without_padding(counter: InstructionCounter) -> None:
    (module,) = counter.counted([module_of(row=ROW)])

    assert counted(module) == [ROW_COUNTED]


def test_size_and_hash_of_the_code_stay(counter: InstructionCounter) -> None:
    before = module_of(row=ROW)

    (after,) = counter.counted([before])

    code = after.kernels[0].code
    assert code is not None
    assert replace(code, instructions=None, counts=()) == before.kernels[0].code


def test_kernels_of_several_modules_are_disassembled_by_one_call_and_kept_apart(
    counter: InstructionCounter, tmp_path: Path
) -> None:
    modules = [module_of(row=ROW, tile=text_of(2, 3)), module_of(grid=text_of(1, 3, 0))]

    found = counter.counted(modules)

    assert calls_in(tmp_path) == ["--emit-json --binary SM90 12"]
    assert [counted(one) for one in found] == [
        [ROW_COUNTED, (2, (("global store 32", 1),))],
        [(2, (("global load 128", 1),))],
    ]


def test_kernels_of_equal_code_are_both_counted(counter: InstructionCounter) -> None:
    (module,) = counter.counted([module_of(row=ROW, again=ROW)])

    assert counted(module) == [ROW_COUNTED, ROW_COUNTED]


def test_the_padding_of_each_function_of_a_debug_build_is_left_out(
    counter: InstructionCounter,
) -> None:
    module = module_of(row=text_of(1, 3, 0), helper=text_of(2, 3, 0, 0))
    alone = replace(module, kernels=module.kernels[:1])  # then `helper` is a function

    (module,) = counter.counted([alone])

    assert counted(module) == [(4, (("global load 128", 1), ("global store 32", 1)))]


def test_a_module_without_kernels_is_not_disassembled(
    counter: InstructionCounter, tmp_path: Path
) -> None:
    module = module_of()

    assert (counter.counted([module]), calls_in(tmp_path)) == ((module,), [])


# ---- what is kept ----------------------------------------------------------------------------


def test_what_was_counted_is_not_disassembled_again(
    counter: InstructionCounter, tmp_path: Path
) -> None:
    first = counter.counted([module_of(row=ROW)])

    assert counter.counted([module_of(row=ROW)]) == first
    assert len(calls_in(tmp_path)) == 1


def test_only_new_kernels_are_disassembled(counter: InstructionCounter, tmp_path: Path) -> None:
    counter.counted([module_of(row=ROW)])

    (module,) = counter.counted([module_of(row=ROW, tile=text_of(3))])

    assert counted(module) == [ROW_COUNTED, (1, ())]
    assert calls_in(tmp_path) == [f"--emit-json --binary SM90 {count}" for count in (7, 1)]


def test_a_module_lacks_counts_until_they_are_made(counter: InstructionCounter) -> None:
    module = module_of(row=ROW)
    before = counter.lacks(module)

    counter.counted([module])

    assert (before, counter.lacks(module)) == (True, False)


@pytest.mark.parametrize("what", ["arch", "version"])
def test_another_arch_and_another_disassembler_count_anew(
    counter: InstructionCounter, what: str
) -> None:
    counter.counted([module_of(row=ROW)])
    newer = replace(counter.disassembler, version="13.6.1")
    others = {
        "arch": (counter, module_of("sm_120", row=ROW)),
        "version": (replace(counter, disassembler=newer), module_of(row=ROW)),
    }

    other, module = others[what]

    assert other.lacks(module)


@pytest.mark.parametrize("text", ["", "[5]", "[5, [[1]]]", '{"a": 1, "b": 2}', "[null, []]"])
def test_a_kept_file_of_another_shape_is_made_again(counter: InstructionCounter, text: str) -> None:
    first = counter.counted([module_of(row=ROW)])
    (file,) = counter.folder.glob("*.json")
    file.write_text(text)

    assert counter.counted([module_of(row=ROW)]) == first


def test_what_is_kept_is_used_without_the_lock(
    counter: InstructionCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = counter.counted([module_of(row=ROW)])
    monkeypatch.setattr(disassembler, "LOCK_TIMEOUT_S", 0.0)

    with FileLock(counter.folder / "sm_90.lock"):
        assert counter.counted([module_of(row=ROW)]) == first


def test_what_another_process_counts_meanwhile_is_not_counted_again(
    counter: InstructionCounter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def late_lock(folder: Path, key: str, timeout_s: float) -> Iterator[None]:
        monkeypatch.setattr(disassembler, "build_lock", build_lock)
        counter.counted([module_of(row=ROW)])
        yield

    monkeypatch.setattr(disassembler, "build_lock", late_lock)

    (module,) = counter.counted([module_of(row=ROW)])

    assert counted(module) == [ROW_COUNTED]
    assert len(calls_in(tmp_path)) == 1


# ---- what goes wrong -------------------------------------------------------------------------


def failing(folder: Path, text: str) -> Disassembler:
    """A disassembler that is a shell script."""
    return Disassembler(script(folder, f"#!/bin/sh\n{text}\n"), "13.5.37", "PATH")


def refusal(one: Disassembler) -> list[str]:
    with pytest.raises(CompileError) as caught:
        one.opcodes("sm_90", ROW)
    return str(caught.value).splitlines()


def test_a_disassembler_that_fails_is_told_with_its_words_and_its_place(tmp_path: Path) -> None:
    one = failing(tmp_path, 'echo "nvdisasm fatal : unknown option" >&2; exit 1')

    assert refusal(one) == [
        "instructions cannot be counted: nvdisasm 13.5.37 ended with exit code 1 for sm_90",
        "  nvdisasm fatal : unknown option",
        f"  it is {one.path}, found via PATH",
        'pip install "pytest-rmsperf[disassemble]"',
    ]


@pytest.mark.parametrize(
    ("listing", "instructions"),
    [
        ("all well", 0),
        ("[]", 0),
        ('[{}, [{"sass-instructions": [{}]}]]', 0),
        ('[{}, [{"sass-instructions": [{"opcode": "EXIT"}]}]]', 1),
    ],
)
def test_a_listing_of_another_shape_is_told_and_not_read_as_few_instructions(
    tmp_path: Path, listing: str, instructions: int
) -> None:
    one = failing(tmp_path, f"echo '{listing}'")

    assert f" lists {instructions} instructions in 112 bytes for sm_90" in refusal(one)[0]


def test_a_disassembler_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    one = Disassembler(script(tmp_path, "#!/no/such/shell\n"), "13.5.37", "PATH")

    assert refusal(one)[0] == f"instructions cannot be counted: {one.path} cannot be run"
