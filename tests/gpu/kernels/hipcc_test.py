#!/usr/bin/env python3
"""Compiles the kernels for AMD's GPUs with hipcc, as far as its clang knows them: gfx90a, gfx942 (wavefronts of 64 lanes), gfx1100 (32).

Fails where a kernel takes more shared memory than an AMD GPU gives to a block. Prints registers, spills and local memory of each
kernel: none of them has a limit yet, because no AMD GPU has run the kernels. What hipcc made of a source is kept in
~/.cache/taut/hipcc for as long as the sources, the script and hipcc stay the same. Without hipcc the test prints a message and is
skipped (status 77). TAUT_GENERATED: the folder of what CMake generates.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMPILE = ROOT / "tools/gpu/hipcc.sh"
SOURCES = [
    *sorted((ROOT / "src/compressor/gpu").glob("*/codec.cu")),
    *sorted((ROOT / "src/compressor/gpu").glob("*.cu")),
]
ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100")
SHARED_BYTES = 64 << 10  # of a block
SKIPPED = 77
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "taut/hipcc"


def identity():
    """Returns a hash of all that decides what hipcc makes of the sources."""
    known = hashlib.sha256(
        subprocess.run(
            ["hipcc", "--offload-arch=gfx90a", "--version"], capture_output=True
        ).stdout
    )
    for file in sorted(
        [
            COMPILE,
            *(ROOT / "src/compressor").rglob("*.[ch]*"),
            *(ROOT / "include/taut").glob("*.h"),
        ]
    ):
        known.update(file.read_bytes())
    return known.hexdigest()


def compiled(arch, source, state):
    """Returns (status, what hipcc printed)."""
    kept = KEPT / f"{source.parent.name}.{source.stem}.{arch}.txt"
    if kept.exists() and kept.read_text().startswith(state):
        return 0, kept.read_text()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            COMPILE,
            arch,
            source,
            f"{folder}/object",
            f"-I{os.environ['TAUT_GENERATED']}",
        ]
        command += ["--offload-device-only", "-Rpass-analysis=kernel-resource-usage"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        KEPT.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_text(
            state
            + "\n"
            + "\n".join(line for line in done.stderr.splitlines() if "remark:" in line)
        )
        new.replace(kept)
    return done.returncode, done.stderr


def kernels(report):
    """Yields (kernel, vector registers, spilt registers, bytes of local memory, bytes of shared memory)."""
    for part in report.split("Function Name: ")[1:]:
        number = {
            what: int(n)
            for what, n in re.findall(
                r"remark:\s+([A-Za-z ]+)(?: \[[^]]*\])?: (\d+)", part
            )
        }
        name = re.search(
            r"(planes|mpc|exponents|blocks|zfp|values)4cuda\d+([A-Z]\w+?Kernel)", part
        )
        yield (
            ".".join(name.groups()) if name else part.split()[0],
            number["VGPRs"],
            number["VGPRs Spill"],
            number["ScratchSize"],
            number["LDS Size"],
        )


def main():
    if not shutil.which("hipcc"):
        print("skipped: there is no hipcc in PATH (Debian: apt-get install hipcc)")
        return SKIPPED
    state, jobs = (
        identity(),
        [(arch, source) for source in SOURCES for arch in ARCHITECTURES],
    )
    with ThreadPoolExecutor(cpu_count()) as threads:
        results = list(threads.map(lambda job: compiled(*job, state), jobs))
    faults, unknown = 0, set()
    for (arch, source), (status, report) in zip(jobs, results):
        place = f"{arch} {source.relative_to(ROOT / 'src/compressor/gpu')}"
        if status == SKIPPED:
            unknown.add(arch)
        elif status != 0:
            faults += 1
            print(
                f"fault: {place}:\n"
                + "\n".join(line for line in report.splitlines() if "error" in line)
            )
        for name, registers, spilt, local, shared in (
            kernels(report) if status == 0 else ()
        ):
            print(
                f"{place:32} {name:34} registers {registers:4} spilt {spilt:3} local {local:5} shared {shared:6}"
            )
            if shared > SHARED_BYTES:
                faults += 1
                print(
                    f"fault: {place}: {name} takes {shared} bytes of shared memory, at most {SHARED_BYTES}"
                )
    for arch in sorted(unknown):
        print(f"not compiled: this hipcc does not know {arch}")
    if unknown == set(ARCHITECTURES):
        faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
