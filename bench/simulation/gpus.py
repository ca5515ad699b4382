"""Simulates collectives of GPUs that stand in nodes: a fast bus within, 1 to 8 NICs between (`make bench-gpus`).

Simulated from kernel times measured on one H100 (kernel_times.inc); no GPU call was timed. A GPU codes with one stream; its kernels
take `fixed + bytes * a_byte`, and a launch and poll of 4 us, which is assumed. So are: 18 us for an exchange on a node, 20 us for one
between nodes, buses of 250 GB/s (4 GPUs, as of an A100) and 380 GB/s (8 GPUs), NICs of DGX-like nodes at 0.92 of their rate, and that
any rank of a node may use each of its NICs. A ratio is that of all frames that travel, sums included.

The baseline is NCCL at line rate, as closed forms without time for sums: its ring, its tree, and a call by nodes along rails. Variants:
GPU-LCC's recursive doubling and ring by values; `flat`, what Taut chooses for GPUs today; `by_nodes`, sums on the node by the bus,
frames along rails, in 2 to 16 segments, of which the fastest counts; on 2 nodes also with frames, not values, back on the node.
"""

import sys

from report import ROOT  # isort: skip

sys.path.append(str(ROOT / "tools/gpu"))
from kernel_times import CARDS, fit, rows_of, times
from outcomes import Incomplete, Outcomes
from suite import RELEASE, Suite

CARD = "H100"
MB, MIB = 1_000_000, 1 << 20
LATENCY, LATENCY_ON_NODE, LAUNCH = 20e-6, 18e-6, 4e-6  # seconds
OF_DEVICE = "add_values=1e6 copy=1460 memory=1e9 overhead_us=0.4"  # NCCL adds as it moves; a copy within the GPU
FLAT = {
    "lcc_doubling": ",algorithm=recursive_doubling,reduction=values",
    "lcc_ring": ",algorithm=ring,reduction=values",
    "flat": "",
}
WAYS = {"on": ("two_shot", "halving_doubling"), "frames": ("halving_doubling",)}
BY_NODES = [
    f",nodes={way},algorithm={name},segments={n}"
    for way, names in WAYS.items()
    for name in names
    for n in (2, 4, 8, 16)
]


class Nodes:
    """Nodes of GPUs. `bus`: GB/s of a GPU to others of its node; `gbit`: of each NIC."""

    def __init__(self, nodes, gpus, nics, gbit, bus):
        self.nodes, self.gpus, self.nics, self.gbit, self.bus = (
            nodes,
            gpus,
            nics,
            gbit,
            bus,
        )

    def ranks(self):
        return self.nodes * self.gpus

    def ways(self):
        """Returns the calls by nodes. Frames go to all GPUs of a node at once: their exchange has its whole latency."""
        further = f" host_frames_latency_us={1e6 * LATENCY_ON_NODE * (1 - 1 / (self.gpus - 1)):.6g}"
        return {
            words: words + further if "frames" in words else words
            for words in BY_NODES
            if self.nodes <= 3 or "frames" not in words
        }

    def words(self, collective, size):
        ranks = self.ranks()
        on_node = (
            f"ranks_a_host={self.gpus} host_copy={self.bus} host_latency_us={1e6 * LATENCY_ON_NODE / (self.gpus - 1):.6g} "
            if self.gpus > 1
            else ""
        )
        return (
            f"collective={collective} ranks={ranks} bytes={size // (4 * ranks) * 4 * ranks} links={self.nics} gbit={self.gbit:g} "
            f"latency_us={1e6 * LATENCY:g} {on_node}{OF_DEVICE}"
        )

    def nccl(self, size):
        """Returns the seconds of NCCL's allreduce at line rate. A ring crosses each node once; a double tree and rails move each
        part of the values between nodes alone."""
        nic, bus, start = (
            self.nics * self.gbit / 8e-9,
            self.bus * 1e9,
            LATENCY + 2 * LATENCY_ON_NODE,
        )
        around, across = 2 * (1 - 1 / self.ranks()), 2 * (1 - 1 / self.nodes)
        return {
            "ring": start + around * size / min(nic, bus), "tree": start + max(across * size / nic, 2 * size / bus),
            "rails": start + max(across * size / nic, 2 * (1 - 1 / self.gpus) * size / bus),
        }  # fmt: skip


GPU_LCC = {"F 2": Nodes(16, 4, 1, 100, 250), "F 3": Nodes(128, 4, 1, 100, 250)}
DGX = {
    nodes: [
        Nodes(nodes, 8, nics, 0.92 * gbit, 380)
        for nics, gbit in ((8, 400), (8, 100), (4, 100), (1, 100))
    ]
    for nodes in (2, 8)
}


def cases():
    """Yields (what, [(nodes, bytes, ratio), ..]) of the allreduces; each becomes a row."""
    for figure, nodes in GPU_LCC.items():
        yield f"GPU-LCC {figure}", [(nodes, 646 * MB, ratio) for ratio in (64, 8)]
    for nodes, machines in DGX.items():
        yield (
            f"{nodes} nodes of 8 GPUs",
            [
                (one, size, ratio)
                for one in machines
                for size in (64 * MIB, 1024 * MIB)
                for ratio in (4, 8)
            ],
        )


def lines_of(nodes, size, ratio):
    call = f"{nodes.words('allreduce', size)} card={CARD} bits={32 / ratio:g} policy=abs:1,when=always"
    return {
        name: call + words
        for name, words in (FLAT | nodes.ways()).items()
    }


def described(nodes, size, ratio, outcomes):
    """Returns a case with milliseconds, and the gains of Taut over NCCL's ring and over the fastest of NCCL."""
    nccl = nodes.nccl(size)
    fastest = min(nodes.ways(), key=lambda words: outcomes[words]["seconds"])
    chosen = {name: outcomes[name] for name in FLAT} | {"by_nodes": outcomes[fastest]}
    gains = {f"{name}_over_{of}": seconds / chosen[name]["seconds"] for name in ("lcc_doubling", "flat", "by_nodes")
             for of, seconds in (("ring", nccl["ring"]), ("nccl", min(nccl.values())))}  # fmt: skip
    return {
        "nics": nodes.nics, "gbit": round(nodes.gbit), "bytes": size, "ratio": ratio, **{name: round(gain, 3) for name, gain in gains.items()},
        "ms": {name: round(1e3 * seconds, 3) for name, seconds in [*nccl.items(), *((name, one["seconds"]) for name, one in chosen.items())]},
        "algorithms": {name: f"{chosen[name]['algorithm']} in {chosen[name]['segments']}" for name in ("flat", "by_nodes")},
        "frames_on_node": "frames" in fastest,
    }  # fmt: skip


def speeds(kernel):
    """Returns the words of a codec whose kernels were measured as encode_KERNEL and decode_KERNEL, in one operation a frame."""
    measured = rows_of(ROOT / CARDS[CARD])
    fits = [fit(times(measured, name)) for name in kernel]
    return f"encode={1e-9 / fits[0][1]:.6g} decode={1e-9 / fits[1][1]:.6g} call_us={1e6 * (LAUNCH + max(fits)[0]):.6g} adds=0"


LOSSLESS = (
    "mpc",
    1.88,
    ("encode walk lossless", "decode walk lossless"),
)  # 256 MiB of a walk
RATE_4, RATE_8 = (
    (f"zfp rate {bits}", 32 / bits, ("encode_rate_1d", "decode_rate_1d"))
    for bits in (4, 8)
)  # speeds: the fit of all rates


def others():
    """Yields (figure, [(call, scenario, bytes of values in a frame, codec), ..]) of data movements: MVAPICH2's messages, collectives, halos."""
    two = {
        "EDR": Nodes(2, 1, 1, 100, 0),
        "FDR": Nodes(2, 1, 1, 56, 0),
        "NVLink": Nodes(1, 2, 1, 100, 60),
    }
    yield "MVAPICH2 F 9", [
        (f"{name}, {size} MiB", one.words("bcast", size * MIB), size * MIB, codec)
        for name, one in two.items() for size in (1, 32) for codec in (LOSSLESS, RATE_4)
    ]  # fmt: skip
    sixteen, frames = Nodes(4, 4, 1, 56, 60), {"bcast": 16 * MIB, "allgather": MIB}
    yield (
        "MVAPICH2 F 11",
        [
            (f"{call}, 16 MiB", sixteen.words(call, 16 * MIB), frame, codec)
            for call, frame in frames.items()
            for codec in (LOSSLESS, RATE_4)
        ],
    )
    yield "MVAPICH2 F 12, F 13", [
        (f"halos of {4 * nodes} GPUs, 6 faces of 8 MB", Nodes(nodes, 4, 1, 100, 60).words("neighbor_alltoall", 48 * MB), 8 * MB, codec)
        for nodes in (16, 128) for codec in (LOSSLESS, RATE_8)
    ]  # fmt: skip


def coded(call, frame, codec):
    """Returns the scenario of a call whose frames hold so many bytes of values, in segments as the engine has them on GPUs."""
    _, ratio, kernels = codec
    segments = min(16, max(1, frame // (4 * MIB)))
    return f"{call} bits={32 / ratio:g} policy=abs:1,when=always,segments={segments} {speeds(kernels)}"


def compared(name, codec, plain, taut):
    """Returns a case of a data movement: plain MPI beside Taut."""
    seconds = plain["seconds"], taut["seconds"]
    ms = dict(
        zip(("plain", "taut"), (round(1e3 * one, 4) for one in seconds), strict=True)
    )
    return {
        "call": name,
        "codec": codec[0],
        "ratio": codec[1],
        "gain": round(seconds[0] / seconds[1], 3),
        "ms": ms,
    }


def allreduces(outcomes):
    for what, all_cases in cases():
        lines = [lines_of(*one) for one in all_cases]
        found = outcomes.of([line for one in lines for line in one.values()])
        nodes = all_cases[0][0]
        yield {
            "what": what, "collective": "allreduce", "nodes": nodes.nodes, "gpus": nodes.gpus,
            "cases": [described(*one, {name: found[line] for name, line in of.items()}) for one, of in zip(all_cases, lines, strict=True)],
        }  # fmt: skip


def movements(outcomes):
    for what, calls in others():
        pairs = [
            (f"{call} plain=1", coded(call, frame, codec))
            for _, call, frame, codec in calls
        ]
        found = outcomes.of([line for pair in pairs for line in pair])
        cases_of = [
            compared(name, codec, *(found[line] for line in pair))
            for (name, _, _, codec), pair in zip(calls, pairs, strict=True)
        ]
        yield {"what": what, "cases": cases_of}


def simulated(options):
    program = options.builds[0] / "bench/simulation/taut_simulate"
    outcomes = Outcomes(
        program,
        options.out / "gpu_outcomes.jsonl",
        options.jobs,
        options.minutes or None,
    )
    options.settings |= {"simulated": True, "card": CARD, "sources": outcomes.sources}
    try:
        yield from allreduces(outcomes)
        yield from movements(outcomes)
    except Incomplete as left:
        print(f"\n{left}")
        sys.exit(3)


def cell(one):
    """Returns the gains of a case over the fastest of NCCL, flat and by nodes; losses are bold."""
    return "/".join(f"{gain:.1f}" if gain >= 1 else f"**{gain:.2f}**" for gain in (one["flat_over_nccl"], one["by_nodes_over_nccl"]))


def table(rows):
    """Returns the table of docs/gpu.md: a line for each machine with nodes of 8 GPUs."""
    lines = ["| nodes: NICs | 64 MiB, ratio 4 | ratio 8 | 1 GiB, ratio 4 | ratio 8 |", "|---|---|---|---|---|"]
    for row in rows:
        machines = {}
        for one in row["cases"] if row.get("gpus") == 8 else ():
            machines.setdefault((one["nics"], round(one["gbit"] / 0.92)), []).append(cell(one))
        lines += [f"| {row['nodes']}: {nics}x{gbit} | {' | '.join(cells)} |" for (nics, gbit), cells in machines.items()]
    return "\n".join(lines) + "\n"


SUITE = Suite(
    about=__doc__, rows=simulated, finish=lambda run, options: print("\n" + table(run["rows"])), needs="bench_sim", builds={"release": f"taut_simulate {RELEASE}"},
    options={"minutes": (0.0, "begin no simulation after that time; 0: no limit"), "jobs": (2, "simulations at a time")},
    columns={"what": "{what}", "nodes": "{nodes}", "GPUs a node": "{gpus}"},
)  # fmt: skip
