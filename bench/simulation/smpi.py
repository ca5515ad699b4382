"""Compares simulated calls with those of an independent simulator: SimGrid's SMPI, with several ranks on each host.

SMPI runs the engine's plan over the MPI transport of the library, and lets the modelled times of the codec pass. Its
network has the links of taut_simulate: one of each host in each direction, and one for the copies that a rank receives from
others of its host. The calibration of SMPI for TCP of 2009 is off; a poll takes 0.1 us. SimGrid shares a link among the
messages on it, where taut_simulate moves one message after the other. Exit status: 0; 1 if fewer than four of five
calls are within the tolerance.
"""

import itertools
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from report import ROOT
from suite import RELEASE, Suite

CODEC = "bits=4 encode=15 decode=20 overhead_us=0"  # speeds in GB/s
LATENCY_US, COPY, COPY_LATENCY_US = 1.5, 7.5, 0.3
CALLS = ("allreduce", "reduce_scatter", "allgather", "bcast", "alltoall")
SETTINGS = {
    "smpi/host-speed": "1Gf", "smpi/simulate-computation": 0, "smpi/privatization": "dlopen", "network/crosstraffic": 0,
    "smpi/bw-factor": "0:1", "smpi/lat-factor": "0:1", "smpi/send-is-detached-thresh": 65536,
    "smpi/grow-injected-times": 0, "smpi/test": 1e-7, "smpi/iprobe": 1e-7,
}  # fmt: skip


def compiled(build, folder):
    """Returns the program of a rank, made from the objects of a build by SimGrid's compiler."""
    if not shutil.which("smpicxx"):
        raise SystemExit("smpicxx is missing: install the Debian package libsimgrid-dev")
    here = ROOT / "bench/simulation"
    names = re.search(r"OBJECT ([^)]*)\)", (here / "CMakeLists.txt").read_text())[1].split()
    sources = [here / "smpi_rank.cpp", *(here / name for name in names), ROOT / "src/communication/transports/mpi.cpp"]
    objects = [one for half in ("compressor", "communication") for one in (build / f"CMakeFiles/taut_{half}.dir").rglob("*.o")]
    zfp = ["-lzfp"] if Path("/usr/include/zfp.h").exists() else []
    paths = [f"-I{path}" for path in (ROOT / "src", ROOT / "include", build / "generated", here)]
    program = Path(folder) / "smpi_rank"
    subprocess.run(["smpicxx", "-std=c++20", "-O2", *paths, *sources, *objects, "-o", program, "-fopenmp", "-ldl", *zfp], check=True)
    return program


def platform(node_of, gbit):
    """Returns SimGrid's description: a host for each rank, of which those of a node share the links of the node."""
    ranks = range(len(node_of))
    lines = ['<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">', '<platform version="4.1">']
    lines += ['<zone id="all" routing="Full">', *(f'<host id="rank{rank}" speed="1Gf"/>' for rank in ranks)]
    for node, way in itertools.product(sorted(set(node_of)), ("out", "in")):
        lines.append(f'<link id="{way}{node}" bandwidth="{gbit / 8 * 1e9:.0f}Bps" latency="{LATENCY_US / 2}us"/>')
    lines += [f'<link id="copy{rank}" bandwidth="{COPY * 1e9:.0f}Bps" latency="{COPY_LATENCY_US}us"/>' for rank in ranks]
    for one, other in itertools.product(ranks, ranks):
        shared = node_of[one] == node_of[other]
        links = [f"copy{other}"] if shared else [f"out{node_of[one]}", f"in{node_of[other]}"]
        route = "".join(f'<link_ctn id="{link}"/>' for link in links)
        lines.append(f'<route src="rank{one}" dst="rank{other}" symmetrical="NO">{route}</route>')
    return "\n".join([*lines, "</zone>", "</platform>"])


def seconds_by_smpi(program, folder, node_of, gbit, words):
    ranks = len(node_of)
    (folder / "platform.xml").write_text(platform(node_of, gbit))
    (folder / "hosts").write_text("".join(f"rank{rank}\n" for rank in range(ranks)))
    settings = [f"--cfg={name}:{value}" for name, value in SETTINGS.items()]
    files = ["-platform", folder / "platform.xml", "-hostfile", folder / "hosts"]
    command = ["smpirun", "-np", str(ranks), *files, *settings, "--log=root.thres:critical", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])["seconds"]


def seconds_by_taut(program, words):
    done = subprocess.run([program], input=" ".join(words) + "\n", capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["seconds"]


def compared(options):
    build = options.builds[0]
    hosts = [tuple(map(int, one.split("x"))) for one in options.hosts.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        program = compiled(build, folder)
        for (count, each), placement, gbit, call, nodes in itertools.product(hosts, ("block", "cyclic"), (10, 100), CALLS, ("off", "on")):
            ranks = count * each
            node_of = [rank // each if placement == "block" else rank % count for rank in range(ranks)]
            words = f"collective={call} bytes={options.bytes} policy=abs:1,when=always,nodes={nodes} {CODEC} ranks={ranks}"
            words += f" ranks_a_host={each} placement={placement} gbit={gbit} latency_us={LATENCY_US} host_copy={COPY}"
            smpi = seconds_by_smpi(program, folder, node_of, gbit, words.split())
            taut = seconds_by_taut(build / "bench/simulation/taut_simulate", words.split())
            yield {"call": call, "hosts": f"{count}x{each}", "placement": placement, "gbit": gbit, "by_nodes": nodes,
                   "smpi_ms": 1e3 * smpi, "simulated_ms": 1e3 * taut, "off": taut / smpi - 1}  # fmt: skip


def judge(run, options):
    within = sum(abs(row["off"]) <= options.tolerance for row in run["rows"])
    print(f"{within} of {len(run['rows'])} calls within {100 * options.tolerance:.0f} %")
    return 0 if 5 * within >= 4 * len(run["rows"]) else 1


SUITE = Suite(
    about=__doc__, rows=compared, finish=judge, needs="bench_smpi", builds={"release": f"taut_simulate {RELEASE}"},
    options={"hosts": ("4x4,8x4,4x8", "numbers of hosts and of ranks on each"), "bytes": ("16MB", "of a message"),
             "tolerance": (0.15, "of the time by SMPI")},
    quick={"hosts": "2x2", "bytes": "1MB"},
    columns={"call": "{call}", "hosts": "{hosts}", "placement": "{placement}", "Gbit/s": "{gbit}", "by nodes": "{by_nodes}",
             "SMPI, ms": "{smpi_ms:.3f}", "simulated, ms": "{simulated_ms:.3f}", "off": "{off:+.1%}"},
)  # fmt: skip
