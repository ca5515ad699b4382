#!/usr/bin/env python3
"""Measures x + x.T of a Dask array on a running cluster: plain, lossless and within a bound, in turn.

  transpose_sum.py SCHEDULER --workers N [--link NAME] [--size 8192] [--chunk 1024] [--data smooth,noise]
                   [--bounds lossless,abs:1e-3] [--repeats 5]

Prints a row of JSON for each bound. The chunks of x lie on the workers in turn. The sum needs each chunk beside its mirror image, so that most chunks move.
Gain is the median of the ratios of a plain run to the next run with compression. Throughput is the size of x over the
median of the times.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import dask.array as da
import numpy as np
import taut.dask
from distributed import Client, wait


def block(data, first_row, first_column, chunk):
    """Returns a chunk: a wave with noise of 1e-4, which a bound of 1e-3 drops, or noise of full precision."""
    random = np.random.default_rng(first_row * 100_003 + first_column)
    if data == "noise":
        return random.standard_normal((chunk, chunk), np.float32)
    i, j = np.arange(chunk)[:, None] + first_row, np.arange(chunk)[None, :] + first_column
    wave = np.sin(i / 97) * np.cos(j / 61)
    return (wave + 1e-4 * random.standard_normal((chunk, chunk))).astype(np.float32)


def sent_bytes():
    """Returns the bytes that this host has sent over its link."""
    path = Path("/sys/class/net/eth0/statistics/tx_bytes")
    return int(path.read_text()) if path.exists() else 0


def idle_seconds():
    """Returns the time for which the processors of this machine have been idle, added up."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[4]) / os.sysconf("SC_CLK_TCK")


def chunks_in_turn(client, data, size, chunk):
    """Returns the array, with its chunks on the workers in turn."""
    names = sorted(client.scheduler_info(n_workers=-1)["workers"])
    firsts = range(0, size, chunk)
    places = [(row, column) for row in firsts for column in firsts]
    chunks = {
        place: client.submit(block, data, *place, chunk, workers=[names[n % len(names)]]) for n, place in enumerate(places)
    }
    wait(list(chunks.values()))
    shape = (chunk, chunk)
    return da.block([[da.from_delayed(chunks[row, column], shape, np.float32) for column in firsts] for row in firsts])


def timed_sum(client, x, policy):
    """Returns seconds, sent bytes, the processors' busy part and the largest error of x + x.T under a policy."""
    client.run(taut.dask.enable, policy)
    before = sum(client.run(sent_bytes).values())
    start, idle = time.perf_counter(), idle_seconds()
    y = (x + x.T).persist()
    wait(y)
    seconds = time.perf_counter() - start
    busy = 1 - (idle_seconds() - idle) / (seconds * os.cpu_count())
    sent = sum(client.run(sent_bytes).values()) - before
    client.run(taut.dask.enable, "off")
    exact = x.T + x  # other keys than those of y, which Dask would otherwise take for the same
    return seconds, sent, busy, float(abs(y - exact).max().compute())


def measure(client, data, options):
    """Yields a row for each bound."""
    x = chunks_in_turn(client, data, options.size, options.chunk)
    timed_sum(client, x, "lossless")  # warms up
    for bound in options.bounds.split(","):
        runs = [(timed_sum(client, x, "off"), timed_sum(client, x, bound)) for _ in range(options.repeats)]
        plain, coded = zip(*runs)
        seconds, sent, busy = ([statistics.median(run[i] for run in of) for of in (plain, coded)] for i in range(3))
        gains = [a[0] / b[0] for a, b in runs]
        yield {
            "workers": options.workers, "link": options.link, "data": data, "bound": bound, "mbytes": x.nbytes / 1e6,
            "plain_s": seconds[0], "taut_s": seconds[1],
            "plain_mb_s": x.nbytes / 1e6 / seconds[0], "taut_mb_s": x.nbytes / 1e6 / seconds[1],
            "gain": statistics.median(gains), "gains": gains,
            "plain_mb": sent[0] / 1e6, "taut_mb": sent[1] / 1e6,
            "plain_busy": busy[0], "taut_busy": busy[1], "error": max(run[3] for run in coded),
            "load": os.getloadavg()[0],
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scheduler")
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--link", default="unknown")
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--chunk", type=int, default=1024)
    parser.add_argument("--data", default="smooth,noise")
    parser.add_argument("--bounds", default="lossless,abs:1e-3")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with Client(options.scheduler, timeout=60) as client:
        client.wait_for_workers(options.workers, timeout=60)
        taut.dask.enable("off")
        for data in options.data.split(","):
            for row in measure(client, data, options):
                allowed = 2.001 * float(row["bound"][4:]) if row["bound"].startswith("abs:") else 0
                print(json.dumps(row | {"within_bound": row["error"] <= allowed}), flush=True)


if __name__ == "__main__":
    main()
