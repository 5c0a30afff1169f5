"""One CUDA source to one cubin, by one path with and without a GPU.

Everything here goes through NVRTC, for an arch that is named: no driver is asked for anything.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from pytest_rmsperf.device.compiler_cache import CubinCache, Entry, content_key
from pytest_rmsperf.device.cubin import kernel_codes, max_threads_per_block
from pytest_rmsperf.device.ptxas_log import parse_ptxas_log
from pytest_rmsperf.device.toolchain import INSTALL_EXTRA, Toolchain, cuda_extra, find_toolchain
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

if TYPE_CHECKING:
    from cuda.core import ProgramOptions

LOCK_TIMEOUT_S = 120.0

# Flags as nvcc and NVRTC spell them, and the cuda.core ProgramOptions field of each.
SWITCHES = {
    "--use_fast_math": "use_fast_math",
    "--extra-device-vectorization": "extra_device_vectorization",
    "--restrict": "restrict",
    "--device-debug": "debug",
    "-G": "debug",
}
BOOLEANS = {
    "--fmad": "fma",
    "--ftz": "ftz",
    "--prec-div": "prec_div",
    "--prec-sqrt": "prec_sqrt",
}
NUMBERS = {"--maxrregcount": "max_register_count"}

Options = dict[str, bool | int]
Identity = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to compile: one source for one arch such as sm_90.

    `constants` become macros of the source; `flags` are compiler flags in `SWITCHES`, `BOOLEANS`
    (`--fmad=false`) or `NUMBERS` (`--maxrregcount=32`).
    """

    source: Path
    arch: str
    constants: tuple[tuple[str, int], ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def shown_source(self) -> str:
        """The source as a message names it: from the working directory where it lies below it."""
        working = Path.cwd()
        below = self.source.is_relative_to(working)
        return str(self.source.relative_to(working) if below else self.source)


def compile_recipe(
    recipe: Recipe,
    *,
    cache_dir: Path | None = None,
    toolchain: Toolchain | None = None,
    lock_timeout_s: float = LOCK_TIMEOUT_S,
) -> CompiledModule:
    """Return the cubin of `recipe` and what each of its kernels costs; cached by content.

    `cache_dir` defaults to the user's cache folder, `toolchain` to what `find_toolchain` finds.
    Raises CompileError when the compiler, the arch, a flag or the source is at fault, or when
    another process keeps the build of the same recipe locked for `lock_timeout_s` seconds.
    """
    tools = toolchain or find_toolchain()
    options, identity, key = _checked(recipe, tools)

    def build() -> Entry:
        entry = _compile(recipe, options, tools)
        _require_unchanged(recipe, key, _key(recipe, identity))
        return entry

    entry, from_cache = CubinCache(cache_dir or _folder(), lock_timeout_s).load_or_build(key, build)
    return _module(recipe, identity, key, entry, from_cache=from_cache)


def cache_key(recipe: Recipe) -> str:
    """Return what recipes share that give the same cubin; CompileError as `compile_recipe` has."""
    return _checked(recipe, find_toolchain())[-1]


def compiled_before(recipe: Recipe, *, cache_dir: Path | None = None) -> CompiledModule | None:
    """Return what `compile_recipe` finds in the cache, None where it has to compile.

    Raises CompileError when the compiler, the arch, a flag or a missing source is at fault.
    """
    _, identity, key = _checked(recipe, find_toolchain())
    entry = CubinCache(cache_dir or _folder(), LOCK_TIMEOUT_S).load(key)
    return None if entry is None else _module(recipe, identity, key, entry, from_cache=True)


def flag_options(flags: tuple[str, ...]) -> Options:
    """Return the ProgramOptions fields of `flags`; CompileError on an unknown or a doubled one."""
    options: Options = {}
    for flag in flags:
        field, value = _flag_option(flag)
        if field in options:
            raise CompileError(
                f"compiler flag {flag} is given twice or against another\n"
                f"  the flags are {' '.join(flags)}\nkeep one of them"
            )
        options[field] = value
    return options


def _folder() -> Path:
    return user_cache_path("pytest-rmsperf") / "cubin"


def _checked(recipe: Recipe, tools: Toolchain) -> tuple[Options, Identity, str]:
    """Return the options, the identity and the cache key of a recipe that can be compiled."""
    tools.require_arch(recipe.arch)
    identity = _identity(recipe, tools)
    return flag_options(recipe.flags), identity, _key(recipe, identity)


def _module(
    recipe: Recipe, identity: Identity, key: str, entry: Entry, *, from_cache: bool
) -> CompiledModule:
    return CompiledModule(
        source=recipe.shown_source,
        identity=identity,
        key=key,
        cubin=entry.cubin,
        kernels=entry.kernels,
        from_cache=from_cache,
    )


def _identity(recipe: Recipe, tools: Toolchain) -> Identity:
    return (
        *tools.identity,
        ("arch", recipe.arch),
        ("flags", " ".join(sorted(recipe.flags))),
    )


def _key(recipe: Recipe, identity: Identity) -> str:
    constants = (("constant " + name, str(value)) for name, value in recipe.constants)
    return content_key(recipe.source, (*identity, *constants))


def _flag_option(flag: str) -> tuple[str, bool | int]:
    name, _, value = flag.partition("=")
    if flag in SWITCHES:
        return SWITCHES[flag], True
    if name in BOOLEANS and value in ("true", "false"):
        return BOOLEANS[name], value == "true"
    if name in NUMBERS and value.isdecimal():
        return NUMBERS[name], int(value)
    booleans = (f"{known}=true|false" for known in BOOLEANS)
    numbers = (f"{known}=NUMBER" for known in NUMBERS)
    raise CompileError(
        f"unknown compiler flag {flag}\n  known are {', '.join((*SWITCHES, *booleans, *numbers))}\n"
        "use one of these, or a macro through the variant's constants"
    )


def _compile(recipe: Recipe, options: Options, tools: Toolchain) -> Entry:
    with cuda_extra():
        from cuda.core import Program

        # The only home of the error that compile() raises, in 1.2.0 as in 1.2.2.
        from cuda.core._utils.cuda_utils import CUDAError
    log = io.StringIO()
    program_options = _program_options(recipe, options, tools)
    try:
        cubin = Program(_text(recipe), "c++", program_options).compile("cubin", logs=log).code
    except CUDAError as error:
        raise CompileError(_refusal(recipe, str(error))) from error
    return Entry(bytes(cubin), _completed(parse_ptxas_log(log.getvalue()), bytes(cubin)))


def _completed(kernels: tuple[CompiledKernel, ...], cubin: bytes) -> tuple[CompiledKernel, ...]:
    """Return the kernels with what the log does not say: launch bounds and machine code."""
    bounds = max_threads_per_block(cubin)
    codes = kernel_codes(cubin, [one.name for one in kernels])
    return tuple(
        replace(
            one,
            max_threads_per_block=bounds.get(one.name, one.max_threads_per_block),
            code=codes[one.name].machine_code,
        )
        for one in kernels
    )


def _program_options(recipe: Recipe, options: Options, tools: Toolchain) -> ProgramOptions:
    from cuda.core import ProgramOptions

    return ProgramOptions(
        name=str(recipe.source),
        arch=recipe.arch,
        std="c++17",
        lineinfo="debug" not in options,  # ptxas warns when asked for both
        ptxas_options=["-v"],
        define_macro=[(name, str(value)) for name, value in recipe.constants] or None,
        include_path=[str(folder) for folder in _include_folders(recipe, tools)],
        no_cache=tools.has_own_cache or None,  # a hit in it has no log to read the figures from
        **options,
    )


def _include_folders(recipe: Recipe, tools: Toolchain) -> tuple[Path, ...]:
    return (recipe.source.parent, *(headers.folder for headers in tools.headers))


def _text(recipe: Recipe) -> str:
    try:
        return recipe.source.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CompileError(
            f"does not compile: {recipe.shown_source} is not UTF-8\n  {error}\n"
            "save the file as UTF-8"
        ) from error


def _refusal(recipe: Recipe, error: str) -> str:
    log = (error.partition("compilation log:")[2] or error).replace("\0", "")
    lines = [line for line in log.splitlines() if line.strip() and not _is_chatter(line)]
    evidence = "\n".join(f"  {line.rstrip()}" for line in lines)
    remedy = "fix the lines that the compiler names"
    missing = re.search(r'cannot open source file "([^"]+)"', log)
    if missing:
        remedy = (
            f"put {missing[1]} beside the source; if it belongs to CUDA, install the headers: "
            f"{INSTALL_EXTRA}"
        )
    return f"does not compile: {recipe.shown_source} for {recipe.arch}\n{evidence}\n{remedy}"


def _is_chatter(line: str) -> bool:
    return re.match(r"\s*ptxas\s+(info\b|\.)", line) is not None


def _require_unchanged(recipe: Recipe, before: str, after: str) -> None:
    if before != after:
        raise CompileError(
            f"not compiled: {recipe.shown_source} or one of its headers changed while it was being "
            "compiled\n  the cubin may be of the old or of the new text\nrun it again"
        )
