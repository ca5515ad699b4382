"""The record of a run: machine, MPI, fabric, Taut and load. Names of hosts and users are not recorded."""

import os
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from mpi4py import MPI

import taut

# Variables that choose the fabric or an algorithm; their values are recorded, with those of TAUT_*.
VARIABLES = re.compile(
    r"TAUT_\w+|UCX_(TLS|NET_DEVICES)|FI_PROVIDER|(MPIR_CVAR|MPICH)_(COLL|CH4|OFI|UCX|ALLREDUCE|NOLOCAL)\w*"
    r"|(OMPI_MCA|PRTE_MCA)_(pml|btl|mtl|coll|hwloc|mpi_yield)\w*|I_MPI_(FABRICS|OFI_PROVIDER|ADJUST_\w+)"
)
FOLDERS = re.compile(r"\S*/\S*/\S*")


def record(world: MPI.Comm, command: str) -> dict[str, Any]:
    """Returns the record on every rank. Collective; to be called before the measurement."""
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    own = {"processor": processor(), "cores": os.cpu_count() or 1, "load": os.getloadavg()[0], "leads": node.rank == 0, "ranks": node.size}
    node.Free()
    every = world.allgather(own)
    nodes = [one for one in every if one["leads"]]
    system = os.uname()
    machine = {
        "processor": " / ".join(sorted({one["processor"] for one in nodes})),
        "cores": max(one["cores"] for one in nodes),
        "os": f"{system.sysname} {system.release}, {system.machine}",
    }
    return {
        "command": FOLDERS.sub("(path)", command),
        "machine": machine,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit(),
        "load": round(max(one["load"] for one in nodes), 2),
        "taut": taut.__version__,
        "mpi": " ".join(MPI.Get_library_version().split("\n")[0].strip("\0").split()),
        "ranks": world.size,
        "nodes": len(nodes),
        "ranks_per_node": sorted({one["ranks"] for one in nodes}),
        "cores_of_rank": len(os.sched_getaffinity(0)),
        "fabric": fabric(Path("/sys/class")),
        "environment": {name: FOLDERS.sub("(path)", value) for name, value in sorted(os.environ.items()) if VARIABLES.fullmatch(name)},
    }


def processor() -> str:
    """Returns the processor's name, and the numbers that tell its generation."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    words = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)", text, flags=re.M))
    if "cpu family" not in words:
        return words.get("model name", os.uname().machine)
    return f"{words['model name']}, family {words['cpu family']}, model {words['model']}"


def commit() -> str:
    """Returns the commit if the package lies in a working tree, else the tag of its version."""
    file = Path(__file__).resolve()
    git = ["git", "-C", str(file.parent)]
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", file.name], check=True, capture_output=True)
        described = subprocess.run([*git, "describe", "--always", "--dirty", "--abbrev=12"], check=True, capture_output=True, text=True)
        return described.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return f"v{taut.__version__}"


def fabric(classes: Path) -> list[str]:
    """Returns the network ports of this node with their rates, as far as the kernel tells them."""
    found = [f"{path.parts[-4]} port {path.parts[-2]}: {text(path)}" for path in sorted(classes.glob("infiniband/*/ports/*/rate"))]
    for path in sorted(classes.glob("net/*/speed")):
        speed = text(path)
        if speed.isdigit() and int(speed) > 0:
            found.append(f"{path.parts[-2]}: {speed} Mbit/s")
    return found


def text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # of an interface that is down
        return ""
