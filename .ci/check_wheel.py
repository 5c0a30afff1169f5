"""Check the wheel in a folder: nothing left out, one ABI for all Pythons, imports from elsewhere.

Usage: python .ci/check_wheel.py DIST    (installs the wheel into the Python that runs this)
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = {".py", ".pyi", ".cu", ".cuh", ".typed"}
# Folder in the repository -> folder in the wheel
HOMES = {"pytest_rmsperf": "pytest_rmsperf", "kernels": "pytest_rmsperf/kernels"}
# Folders below `pytest_rmsperf` of which every file ships, whatever its suffix
WHOLE = ("emulated/include", "emulated/runtime")
CLOCK = "pytest_rmsperf/device/_clock.abi3.so"
IMPORTS = (
    "import pytest_rmsperf.plugin, pytest_rmsperf.device._clock, "
    "pytest_rmsperf.kernels.rms_scaled_softmax as operator; print(operator.__file__)"
)


def main() -> None:
    wheel = only_wheel(Path(sys.argv[1]))
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    complain("in the repository but not in the wheel", wanted() - names)
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    complain("unexpected at the wheel's top level", tops - {"pytest_rmsperf"})
    import_elsewhere(wheel)
    print(f"{wheel.name}: {len(names)} files, complete, imports from another folder")


def only_wheel(folder: Path) -> Path:
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"{folder} must hold one wheel, found {[wheel.name for wheel in wheels]}")
    if "-cp310-abi3-" not in wheels[0].name:
        sys.exit(f"{wheels[0].name} is not tagged cp310-abi3")
    return wheels[0]


def wanted() -> set[str]:
    """The names in the wheel of every file that ships, from what lies in the repository."""
    found = {CLOCK}
    for home, place in HOMES.items():
        for file in (ROOT / home).rglob("*"):
            name = file.relative_to(ROOT / home).as_posix()
            if file.suffix in SHIPPED or (name.startswith(WHOLE) and file.is_file()):
                found.add(f"{place}/{name}")
    return found


def complain(what: str, names: set[str]) -> None:
    if names:
        sys.exit(f"{what}: {', '.join(sorted(names))}")


def import_elsewhere(wheel: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--force-reinstall", str(wheel)], check=True
    )
    with tempfile.TemporaryDirectory() as elsewhere:
        subprocess.run([sys.executable, "-I", "-c", IMPORTS], check=True, cwd=elsewhere)


if __name__ == "__main__":
    main()
