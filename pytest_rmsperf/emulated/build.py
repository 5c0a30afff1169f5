"""Kernels and the runtime as shared objects of this CPU, cached by content like cubins."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path

from pytest_rmsperf.cases import Variant
from pytest_rmsperf.device.build_lock import build_lock, replace_file
from pytest_rmsperf.device.compiler_cache import content_key
from pytest_rmsperf.emulated.toolchain import INSTALL, HostCompiler
from pytest_rmsperf.errors import CompileError

INCLUDE = Path(__file__).parent / "include"
RUNTIME = Path(__file__).parent / "runtime"
LOCK_TIMEOUT_S = 300.0
DIGEST_BYTES = 32

# What a shared object calls the folder of its source: it is found again by its text alone, and then
# the text may lie at another place.
SOURCE_FOLDER = "/rmsperf-source"
INCLUDE_FOLDER = "/rmsperf-include"

# The dynamic shared memory of the largest block of any profile (compute capability 9.0: 227 KiB).
DYNAMIC_SMEM_BYTES = 227 * 1024

# Behind every `__shared__` variable, so that who runs off its end does not meet the next one, which
# may be another kernel's.
SHARED_GAP_BYTES = 64

# With -flto an access is judged in half the time: its checks lie in several files.
RUNTIME_FLAGS = (
    "-std=c++17",
    "-O2",
    "-flto",
    "-fno-semantic-interposition",
    "-g1",
    "-fPIC",
    "-shared",
)

# -fsanitize=thread has the compiler call a function at every access that may leave the thread. Its
# library is not linked: the runtime defines those functions, and judges the accesses.
# Contraction is off because GCC and ptxas fuse different pairs of operations.
KERNEL_FLAGS = (
    "-std=c++17",
    "-O2",
    "-g1",
    "-gdwarf-4",  # of DWARF 5 addr2line (binutils 2.40) takes the wrong file for some places
    "-fPIC",
    "-fno-optimize-sibling-calls",  # a call that became a jump has no place to return to
    "-fno-strict-aliasing",  # as in device code, where pointers of two types may meet
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-gnu-unique",
    "-fno-extern-tls-init",
    "-ffp-contract=off",
    "-fsanitize=thread,alignment,signed-integer-overflow,bounds,integer-divide-by-zero,shift-exponent",
    "--param",
    "tsan-distinguish-volatile=1",
    "--param",
    "tsan-instrument-func-entry-exit=0",
)


@dataclass(frozen=True, slots=True)
class EmulatedRecipe:
    """What to compile: the variant's source and constants, and the kernels to make callable."""

    source: Path
    constants: tuple[tuple[str, int], ...]
    kernels: tuple[str, ...]
    arch: str

    @classmethod
    def of(cls, variant: Variant, kernels: Iterable[str], arch: str) -> EmulatedRecipe:
        return cls(variant.source, variant.constants, tuple(kernels), arch)


def build_runtime(compiler: HostCompiler) -> Path:
    """Return the shared object of the runtime; CompileError when it does not compile."""
    sources = sorted(RUNTIME.glob("*.cpp"))
    key = _key_of_texts(compiler, RUNTIME_FLAGS, [*sources, *_files(INCLUDE), *_files(RUNTIME)])

    def build(target: Path) -> None:
        command = [compiler.path, *RUNTIME_FLAGS, f"-I{INCLUDE}", "-o", str(target)]
        _run([*command, *map(str, sources), "-ldl"], "the runtime of the emulated device")

    return _cached(f"runtime-{key}", build)


def build_kernels(recipe: EmulatedRecipe, compiler: HostCompiler) -> Path:
    """Return the shared object of a source's kernels.

    Raises CompileError with the compiler's own words where the source uses what is not emulated,
    and when another process keeps the build of the same recipe locked.
    """
    headers = _key_of_texts(compiler, KERNEL_FLAGS, [*_files(INCLUDE), Path(__file__)])
    facts = (
        ("headers", headers),
        ("kernels", " ".join(recipe.kernels)),
        ("arch", recipe.arch),
        *((f"constant {name}", str(value)) for name, value in recipe.constants),
    )

    def build(target: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="rmsperf-") as folder:
            _build_kernels(recipe, compiler, Path(folder), target)

    return _cached(f"{recipe.source.stem}-{content_key(recipe.source, facts)}", build)


def _build_kernels(
    recipe: EmulatedRecipe, compiler: HostCompiler, folder: Path, target: Path
) -> None:
    unit, assembly, whole = folder / "unit.cpp", folder / "unit.s", folder / "unit.o"
    dynamic = folder / "dynamic.c"
    unit.write_text(_unit(recipe), encoding="utf-8")
    what = f"{recipe.source} for the emulated device"
    _run([*kernel_command(recipe, compiler), "-S", str(unit), "-o", str(assembly)], what)
    assembly.write_text(_with_gaps(assembly.read_text(encoding="utf-8")), encoding="utf-8")
    _run([compiler.path, "-Wa,--gdwarf-4", "-c", str(assembly), "-o", str(whole)], what)
    dynamic.write_text(_dynamic_memory(_undefined_thread_locals(whole)), encoding="utf-8")
    link = [compiler.path, "-shared", "-fPIC", "-o", str(target), str(whole)]
    _run([*link, "-x", "c", str(dynamic)], what)


def kernel_command(recipe: EmulatedRecipe, compiler: HostCompiler) -> list[str]:
    """Return the compiler's command line up to the file that is to be compiled."""
    defines = [f"-D{name}={value}" for name, value in recipe.constants]
    arch = re.sub(r"\D", "", recipe.arch) + "0"  # sm_90a is 900, as in __CUDA_ARCH__
    return [
        compiler.path,
        *KERNEL_FLAGS,
        *defines,
        f"-DRMSPERF_ARCH={arch}",
        f"-I{INCLUDE}",
        f"-I{recipe.source.parent}",
        f"-ffile-prefix-map={recipe.source.parent}={SOURCE_FOLDER}",
        f"-ffile-prefix-map={INCLUDE}={INCLUDE_FOLDER}",
        "-include",
        "rmsperf/prelude.h",
        "-x",
        "c++",
        "-c",
    ]


def _unit(recipe: EmulatedRecipe) -> str:
    """The source, and a table by which its kernels can be called."""
    text = recipe.source.read_text(encoding="utf-8")
    entries = ",\n    ".join(_entry(name) for name in recipe.kernels)
    return (
        f'#line 1 "{recipe.source}"\n{text}\n#line 1 "table"\n#include <rmsperf/kernels.h>\n'
        f"RMSPERF_KERNELS(\n    {entries})\n"
    )


def _entry(name: str) -> str:
    """Return the table's entry for a kernel by its name in the cubin, mangled or not."""
    if not name.startswith("_Z"):
        return f'RMSPERF_KERNEL("{name}", {name})'
    function, _, parameters = _run(["c++filt", name], name).strip().partition("(")
    pointer = f"static_cast<void (*)({parameters}>(&{function.removeprefix('void ')})"
    return f'::rmsperf::kernel_named<{pointer}>("{name}")'


def _with_gaps(assembly: str) -> str:
    """Lengthen the room of every thread-local variable, but not the variable."""
    sections = re.split(r"(?=\n\t\.(?:section|text|data|bss)\b)", assembly)
    return "".join(
        re.sub(r"(\n\t\.zero\t\d+)", rf"\1+{SHARED_GAP_BYTES}", one)
        if one.startswith("\n\t.section\t.tbss")
        else one
        for one in sections
    )


def _undefined_thread_locals(whole: Path) -> list[str]:
    """Return the names of `extern __shared__` arrays: thread-local, and defined nowhere."""
    symbols = _run(["readelf", "-sW", str(whole)], str(whole))
    return re.findall(r"TLS\s+GLOBAL\s+DEFAULT\s+UND\s+(\S+)", symbols)


def _dynamic_memory(names: list[str]) -> str:
    """C text that gives all of them the same memory, as CUDA does."""
    aliases = "".join(
        f'extern __thread char alias{number}[{DYNAMIC_SMEM_BYTES}] __asm__("{name}") '
        '__attribute__((alias("rmsperf_dynamic")));\n'
        for number, name in enumerate(names)
    )
    return (
        f"__thread char rmsperf_dynamic[{DYNAMIC_SMEM_BYTES}] __attribute__((aligned(1024)));\n"
        f"{aliases}char *rmsperf_dynamic_shared(void) {{ return rmsperf_dynamic; }}\n"
    )


def _cached(name: str, build: Callable[[Path], None]) -> Path:
    """Return the file called `name` in the cache, made by one process while others wait."""
    folder = user_cache_path("pytest-rmsperf") / "emulated"
    file = folder / f"{name}.so"
    if _is_whole(file):
        return file
    with build_lock(folder, name, LOCK_TIMEOUT_S):
        if not _is_whole(file):
            with tempfile.TemporaryDirectory(prefix="rmsperf-") as temporary:
                built = Path(temporary) / file.name
                build(built)
                content = built.read_bytes()
                replace_file(file, content + sha256(content).digest())
    return file


def _is_whole(file: Path) -> bool:
    """Say whether a cached file is what was stored: its sha256 lies behind what is loaded."""
    try:
        content = file.read_bytes()
    except OSError:
        return False
    return sha256(content[:-DIGEST_BYTES]).digest() == content[-DIGEST_BYTES:]


def _key_of_texts(compiler: HostCompiler, flags: Iterable[str], files: Iterable[Path]) -> str:
    digest = sha256(repr((compiler.version, compiler.machine, tuple(flags))).encode())
    for file in files:
        digest.update(f"\0{file.name}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _run(command: list[str], what: str) -> str:
    """Run a tool and return what it prints; CompileError with its words when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompileError(
            f"does not compile: {what}\n  {error}\ninstall g++ and binutils"
        ) from error
    if done.returncode:
        raise CompileError(_refusal(done.stderr, what))
    return done.stdout


MOST_LINES = 30
TWIN = (
    "write the construct that is named in another way, or give it a plain C++ twin in a helper "
    "under #ifdef RMSPERF_EMULATED"
)


def _refusal(log: str, what: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    evidence = "\n".join(f"  {line}" for line in lines[:MOST_LINES])
    # Only what lies in a source is the author's: a compiler that crashes or a missing tool is not.
    remedy = TWIN if re.search(r":\d+:\d+: (fatal )?error:", log) else INSTALL
    return f"does not compile: {what}\n{evidence}\n{remedy}"
