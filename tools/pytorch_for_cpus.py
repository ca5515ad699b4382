#!/usr/bin/env python3
"""Installs PyTorch without NVIDIA's packages into the Python that runs it: pytorch_for_cpus.py 'torch==2.11.*'

PyPI's wheel of PyTorch for x86-64 Linux is built for CUDA and requires packages of 4 GB. Work on CPUs uses none of them, but the
loader requires libraries with their names. This program installs the wheel alone, and puts stand-ins beside the wheel's
libraries: libraries with the required names whose functions do nothing and return 1, which each of NVIDIA's libraries defines as
an error. CUDA's runtime is the real one, so that torch.cuda.is_available() returns False where there is no GPU. Work on a GPU
fails. On other platforms PyPI's wheel is built for CPUs, and this program makes no stand-ins.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

NVIDIAS = re.compile(r"lib(cu|nv|nccl)[\w.-]*\.so[.\d]*")
REAL = ("libcudart.", "libcuda.")  # the runtime, which is installed, and the driver, which is not needed
UNDEFINED = re.compile(r"undefined symbol: (\w+)(?:, version ([\w.]+))?\s")


def install(*arguments):
    options = ("--quiet", "--disable-pip-version-check", "--no-warn-conflicts")
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *arguments], check=True)


def requirements():
    """Returns what PyTorch requires, NVIDIA's packages left out, and the release of CUDA that it requires, if any."""
    others, cuda = [], None
    for line in metadata.requires("torch") or []:
        requirement, _, condition = line.partition(";")
        name = re.match(r"[\w-]+", requirement)[0].lower()
        if name == "cuda-toolkit":
            cuda = re.search(r"==(\d+\.\d+)", requirement)[1]
        elif "extra" not in condition and not name.startswith(("nvidia", "cuda", "triton")):
            others.append(requirement.strip())
    return others, cuda


def said_by(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


def demanded(folder):
    """Returns the names of NVIDIA's libraries that those in the folder need, except the real ones."""
    said = "".join(said_by("ldd", library) for library in folder.glob("*.so"))
    names = {match[0] for match in re.finditer(NVIDIAS, "\n".join(re.findall(r"^\s+(\S+) =>", said, re.M)))}
    return sorted(name for name in names if not name.startswith(REAL))


def undefined(folder):
    """Returns the functions that no library defines, by the version that is asked for, and the library that should have each
    version. None: no version."""
    versions, owners = defaultdict(set), {}
    defined = set(re.findall(r" [A-Z] (\w+)", said_by("nm", "-D", "--defined-only", *folder.glob("*.so"))))
    for library in folder.glob("*.so"):
        said = said_by("ldd", "-r", "-v", library)
        owners.update((version, owner) for owner, version in re.findall(r"(\S+) \(([\w.]+)\) => not found", said))
        for name, version in re.findall(UNDEFINED, said):
            if name not in defined and not name.startswith(("Py", "_Py")):  # the interpreter defines these
                versions[version or None].add(name)
    return versions, owners


def build(library, versions):
    """Writes a library that defines functions of the given versions, all of which return 1."""
    script, options = [], []
    for version, names in versions.items():
        script.append(f"{version or ''} {{ global: {' '.join(f'{name};' for name in sorted(names))} }};")
        options += [f"-Wl,--defsym={name}=taut_does_nothing" for name in sorted(names)]
    with tempfile.TemporaryDirectory() as scratch:
        source, map_file, arguments = (Path(scratch) / name for name in ("nothing.c", "versions.map", "arguments"))
        source.write_text("int taut_does_nothing(void) { return 1; }\n")
        map_file.write_text("\n".join(script) + "\n")
        arguments.write_text("\n".join([*options, *([f"-Wl,--version-script={map_file}"] if script else [])]) + "\n")
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library, f"-Wl,-soname,{library.name}", f"@{arguments}"], check=True)


def stand_in(folder):
    """Makes the libraries that PyTorch demands and that do nothing."""
    libraries = [folder / name for name in demanded(folder)]
    for library in libraries:
        build(library, {})
    if not libraries:
        return
    versions, owners = undefined(folder)
    own = {library: {v: names for v, names in versions.items() if owners.get(v) == library.name} for library in libraries}
    unversioned = next((library for library in libraries if not own[library]), None)
    if unversioned and versions[None]:
        own[unversioned] = {None: versions[None]}
    for library in libraries:
        build(library, own[library])


def main():
    install("--no-deps", sys.argv[1])
    others, cuda = requirements()
    install(*others)
    if cuda:
        install(f"nvidia-cuda-runtime=={cuda}.*")
        stand_in(Path(find_spec("torch").origin).parent / "lib")
    check = "import torch, torch.distributed; assert torch.distributed.is_gloo_available()"
    subprocess.run([sys.executable, "-c", check], check=True)


if __name__ == "__main__":
    main()
