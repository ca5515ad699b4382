#!/usr/bin/env python3
"""peers.py CHECK OUT: times PyTorch's sum and nvCOMP on the values that `CHECK kernels` has timed.

Prints JSON lines of the same form. OUT holds the lines of `CHECK kernels`; each size with a line of `copy`
is timed, on the same patterns. Uses the modules that are installed (torch; nvidia.nvcomp, timed by torch).
A missing module is reported in one line, whose times are null.
"""

import json
import statistics
import subprocess
import sys
import time

PATTERNS = ("walk", "wave")
# Options as in nvCOMP's documentation for arrays of 32-bit words.
NVCOMP = {"Bitcomp": {"data_type": "<u4"}, "Cascaded": {"data_type": "<u4"}, "ANS": {}}
TIMES, WARM_UP = 20, 2
SPIN = 0.32  # seconds of work before each timed region, so that the GPU runs at its full clock
REPLAY_BYTES, REPLAYED = 4 << 20, 10  # calls on less are timed as replays of a graph, as in timing.hpp


def tell(bench, size=None, ratio=None, seconds=None, why=None):
    row = {"bench": bench, "bytes": size, "ratio": ratio and round(ratio, 2)}
    if seconds:
        row |= {"median_us": round(statistics.median(seconds) * 1e6, 2), "best_us": round(min(seconds) * 1e6, 2)}
    row["GB/s"] = round(size / statistics.median(seconds) / 1e9, 1) if seconds else None
    print(json.dumps(row | ({"why": why} if why else {})), flush=True)


def sizes(lines):
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    return [row["bytes"] for row in rows if row.get("bench") == "copy"]


def absent(error):
    """Returns the message for a module that cannot be imported."""
    return f"{error.name} is not installed" if isinstance(error, ModuleNotFoundError) else str(error).split("\n")[0]


def spin(torch, action):
    end = time.perf_counter() + SPIN
    while time.perf_counter() < end:
        action()
        torch.cuda.synchronize()


def replayed(torch, action):
    """Returns an action that replays a graph of some calls."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(REPLAYED):
            action()
    return graph.replay


def timed(torch, action):
    """Returns the seconds of each run, measured by the device's events."""
    seconds = []
    spin(torch, action)
    for _ in range(TIMES + WARM_UP):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        action()
        end.record()
        end.synchronize()
        seconds.append(start.elapsed_time(end) * 1e-3)
    return seconds[WARM_UP:]


def values(torch, check, pattern, size):
    raw = subprocess.run([check, "values", pattern, str(size // 4)], stdout=subprocess.PIPE, check=True).stdout
    return torch.frombuffer(bytearray(raw), dtype=torch.float32).cuda()


def time_sum(torch, x, size):
    y = x.clone()

    def add():
        torch.add(y, x, out=y)

    if size > REPLAY_BYTES:
        return tell("torch.add", size, 1, timed(torch, add))
    add()
    tell("torch.add", size, 1, [t / REPLAYED for t in timed(torch, replayed(torch, add))])


def time_nvcomp(torch, nvcomp, x, pattern, size):
    stream = torch.cuda.current_stream().cuda_stream
    array = nvcomp.as_array(x.view(torch.int32), cuda_stream=stream)
    for algorithm, options in NVCOMP.items():
        name = f"nvCOMP {algorithm} {pattern}"
        try:
            codec = nvcomp.Codec(algorithm=algorithm, cuda_stream=stream, **options)
            packed = codec.encode(array)
            ratio = size / (packed.size * packed.item_size)
            tell(f"encode {name}", size, ratio, timed(torch, lambda c=codec: c.encode(array)))
            tell(f"decode {name}", size, ratio, timed(torch, lambda c=codec, p=packed: c.decode(p)))
        except Exception as error:  # errors of nvCOMP's own types; the other algorithms are still tried
            tell(name, size, why=absent(error))


def main(check, out):
    try:
        import torch
    except ImportError as error:
        return tell("torch.add, nvCOMP", why=absent(error))
    if not torch.cuda.is_available():
        return tell("torch.add, nvCOMP", why="torch finds no CUDA device")
    try:
        from nvidia import nvcomp
    except ImportError as error:
        nvcomp = None
        tell("nvCOMP", why=absent(error))
    with open(out) as lines:
        timed_sizes = sizes(lines)
    for size in timed_sizes:
        for pattern in PATTERNS:
            x = values(torch, check, pattern, size)
            if pattern == PATTERNS[0]:
                time_sum(torch, x, size)
            if nvcomp:
                time_nvcomp(torch, nvcomp, x, pattern, size)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
