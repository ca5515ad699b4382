#!/usr/bin/env python3
"""Compares the binary interface of the public headers with the recorded one, packaging/abi/*.abi.

abi.py             fails if a function, argument, structure or number differs, and says whether programs would notice
abi.py --record    records the interface of the headers

The interface is read from a library that has the functions of a header and no code, by abidw and abidiff of the Debian
package abigail-tools. MPI's types are stand-ins, so that the record does not depend on the MPI. The symbols of a built
libtaut are compared by the test install.exports_only_the_api.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "packaging/abi"
HEADERS = ("taut", "taut_cuda", "taut_nccl")

STAND_IN = """
#define MPI_VERSION 4
typedef struct mpi_comm* MPI_Comm;
typedef struct mpi_datatype* MPI_Datatype;
typedef struct mpi_op* MPI_Op;
typedef struct mpi_info* MPI_Info;
typedef struct mpi_status { int of_mpi; } MPI_Status;
typedef long long MPI_Count;
typedef long MPI_Aint;
"""


def with_bodies(header):
    """Returns a header whose functions have bodies, and whose enumerations have variables: others are not described."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"(\bTAUT_(?:CUDA_|NCCL_)?API\b[^;{}]*\));", r"\1 { __builtin_trap(); }", text)
    return re.sub(r"^(enum (\w+) \{[^}]*\});", r"\1 numbers_of_\2;", text, flags=re.M)


def described(name, header, folder):
    """Returns the file that describes the interface of a header, given its text."""
    source, library, found = folder / f"{name}.c", folder / f"lib{name}.so", folder / f"{name}.abi"
    (folder / "mpi.h").write_text(STAND_IN)
    source.write_text(with_bodies(header))
    flags = ["-g", "-shared", "-fPIC", "-w", f"-ffile-prefix-map={folder}=.", f"-I{folder}", "-o", library, source.name]
    subprocess.run(["cc", *flags], check=True, cwd=folder)
    options = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--no-architecture"]
    subprocess.run(["abidw", *options, "--out-file", found, library], check=True)
    return found


def compared(name, found):
    """Compares a description with the record. Returns "same", "compatible" or "incompatible", and what differs."""
    command = ["abidiff", "--no-architecture", RECORDS / f"{name}.abi", found]
    every, without_added = (
        subprocess.run(command + more, capture_output=True, text=True, check=False) for more in ([], ["--no-added-syms"])
    )
    if without_added.returncode:
        return "incompatible", every.stdout + every.stderr
    return ("compatible" if every.returncode else "same"), every.stdout


REMEDIES = {
    "incompatible": "programs would notice this, unless a structure that begins with its size has grown at its end (docs/abi.md)",
    "compatible": "record it: make abi RECORD=1",
}


def main(record):
    verdicts = set()
    with tempfile.TemporaryDirectory() as folder:
        for name in HEADERS:
            found = described(name, (ROOT / f"include/taut/{name}.h").read_text(), Path(folder))
            if record:
                (RECORDS / f"{name}.abi").write_bytes(found.read_bytes())
            verdict, differences = compared(name, found)
            print(f"{name}.h: {verdict}\n{differences}{REMEDIES.get(verdict, '')}".rstrip())
            verdicts.add(verdict)
    return verdicts != {"same"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--record"]))
