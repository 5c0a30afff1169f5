"""A copy of the bundled operator changed in one place: the static gate says what, and only there.

Everything is compiled for an H100 and an L4, neither of which is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from planted_static import StaticProject, Told, cases_of

MEGAKERNELS_OF_GRID = (
    "megakernel_grid",
    "megakernel_grid_reload_input",
    "megakernel_grid_reload_exponentials",
    "megakernel_grid_reload_both",
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticProject]:
    """The operator as it is, with baselines just saved; one cache of cubins for the whole file."""
    project = StaticProject(tmp_path_factory.mktemp("sound"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        told = project.check("--rmsperf-save")
        assert told.code == 0, told.output
        yield project


@pytest.fixture
def project(sound: StaticProject, tmp_path: Path) -> StaticProject:
    """A fresh copy with the sound operator's baselines."""
    project = StaticProject(tmp_path)
    project.take_baselines(sound.folder)
    return project


def require_only(told: Told, variants: tuple[str, ...], headline: str, *reasons: str) -> None:
    """Require that all cases of these variants fail and no other, each for all of these reasons."""
    assert told.messages.keys() == cases_of(*variants), told.output
    for case_id, message in told.messages.items():
        assert message.startswith(headline), message
        for reason in reasons:
            assert re.search(reason, message), f"{case_id} is not told of {reason!r}:\n{message}"
        assert f'-k "{case_id}"' in message, message


def test_the_sound_operator_is_green_and_saves_the_same_bytes_again(
    project: StaticProject, sound: StaticProject
) -> None:
    told = project.check("--rmsperf-save")

    assert (told.code, told.messages) == (0, {}), told.output
    for saved in sound.folder.glob("baselines/*/*.static.json"):
        again = project.folder / saved.relative_to(sound.folder)
        assert again.read_bytes() == saved.read_bytes()


def test_launch_bounds_removed_from_one_kernel_have_changed(project: StaticProject) -> None:
    project.plant(
        "local_fusion.cu", "__launch_bounds__(THREADS_PER_BLOCK)\n    normalize", "normalize"
    )

    told = project.check()

    require_only(told, ("local_fusion",), "changed", r"launch bounds 256 -> none of normalize")


def test_values_that_no_longer_fit_the_registers_are_told_as_a_spill(
    project: StaticProject,
) -> None:
    project.plant(
        "megakernel_row.cu",
        "    const Statistics mine =",
        "    float held[24];\n"
        "    for (int i = 0; i < 24; ++i) held[i] = x[i * THREADS_PER_BLOCK + threadIdx.x];\n"
        "    const Statistics mine =",
    )
    project.plant(
        "megakernel_row.cu",
        "    write_quotients(",
        "    for (int i = 0; i < 24; ++i) inverse_sum += held[i] == eps ? held[i] : 0.0f;\n"
        "    write_quotients(",
    )

    told = project.check()

    spill = r"sm_90: spill stores 0 -> \d+ bytes per thread of megakernel_row"
    require_only(told, ("megakernel_row",), "costlier", spill)


def test_16_kib_more_shared_memory_lose_blocks_on_both_devices(project: StaticProject) -> None:
    project.plant(
        "megakernel_row.cu",
        "    __shared__ float inverse_sum;\n",
        "    __shared__ float inverse_sum;\n"
        "    __shared__ float4 more[1024];\n"
        "    more[threadIdx.x] = float4{eps, eps, eps, eps};\n"
        "    __syncthreads();\n"
        "    if (more[(threadIdx.x + columns) % 1024].x < 0.0f) return;\n",
    )

    told = project.check()

    on_h100 = r"H100.*: 8 -> 6 blocks per SM of megakernel_row, limited by shared memory"
    on_l4 = r"L4.*: 5 -> 3 blocks per SM of megakernel_row, limited by shared memory"
    static = r"static shared bytes 112 -> 16496 per block"
    require_only(told, ("megakernel_row",), "costlier", on_h100, on_l4, static)


def test_16_kib_more_that_cost_blocks_on_one_device_alone_name_that_one(
    project: StaticProject,
) -> None:
    project.plant(
        "local_fusion.cu",
        "    __shared__ Statistics partials[WARPS_PER_BLOCK];",
        "    __shared__ Statistics partials[WARPS_PER_BLOCK + 2048];",
    )

    told = project.check()

    on_l4 = r"L4: 6 -> 5 blocks per SM of tile_statistics, limited by shared memory"
    static = r"static shared bytes 64 -> 16448 per block"
    require_only(told, ("local_fusion",), "costlier", on_l4, static)
    assert not any(re.search("H100.* blocks per SM", one) for one in told.messages.values())


def test_a_larger_grid_has_changed(project: StaticProject) -> None:
    project.plant(
        "local_fusion.py", "KernelLaunch(kernel, rows *", "KernelLaunch(kernel, 2 * rows *"
    )

    told = project.check()

    grid = r"blocks (32 -> 64|512 -> 1024|1024 -> 2048|2048 -> 4096) of tile_statistics"
    require_only(told, ("local_fusion",), "changed", grid)


def test_a_changed_tile_has_changed(project: StaticProject) -> None:
    project.plant("local_fusion.py", "common.tiles_per_row(problem)", "-(-columns // 2048)")
    project.plant("local_fusion.py", '("tile", common.TILE)', '("tile", 2048)')
    project.plant(
        "local_fusion.py",
        "constants=common.TILE_CONSTANTS",
        'constants=(("TILE", 2048), ("THREADS_PER_BLOCK", common.THREADS_PER_BLOCK))',
    )

    told = project.check()

    require_only(told, ("local_fusion",), "changed", r"tile 4096 -> 2048")


def test_a_tile_too_large_for_one_device_is_violated_there_with_its_name(
    project: StaticProject,
) -> None:
    project.plant(
        "retained_tile.py",
        "TILE_BYTES = common.TILE * 4",
        "TILE_BYTES = common.TILE * 4 + 96 * 1024",  # more than the 99 KiB of a block on an L4
    )

    told = project.check()

    variants = ("megakernel_row", *MEGAKERNELS_OF_GRID)
    assert told.messages.keys() == cases_of(*variants), told.output
    for message in told.messages.values():
        assert message.startswith("violated"), message
        assert "a row of 131072 columns is 32 blocks and 0 fit" in message, message
        assert "NVIDIA L4" in message, message


def test_a_comment_and_blank_lines_change_nothing(project: StaticProject) -> None:
    source = project.folder / "operator" / "megakernel_row.cu"
    source.write_text(f"// A comment.\n\n\n{source.read_text()}\n// And one more.\n")

    told = project.check("--rmsperf-details")

    assert (told.code, told.messages) == (0, {}), told.output
    assert "56 unchanged" in told.output
    assert "noted" not in told.output


def test_an_operator_compiled_anew_in_another_folder_has_not_changed(
    project: StaticProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another_cache"))
    project.move_operator("elsewhere/softmax")

    told = project.check("--rmsperf-details", "-k", "local_fusion")

    assert (told.code, told.messages) == (0, {}), told.output
    assert "8 unchanged" in told.output
    assert "noted" not in told.output


def test_other_instructions_alone_are_noted_and_pass(project: StaticProject) -> None:
    project.plant(
        "unfused.cu", "inverse_rms(total, columns, eps)", "inverse_rms(total, columns, eps + eps)"
    )

    told = project.check("--rmsperf-details")

    assert (told.code, told.messages) == (0, {}), told.output
    assert re.search("^noted: .*machine code of row_inverse_rms", told.output, re.MULTILINE)
