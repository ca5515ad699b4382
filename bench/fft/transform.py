#!/usr/bin/env python3
"""Transforms a real array on the ranks of an MPI job: plain, and with its transpositions compressed, in turn.

  transform.py LIBRARY VARIANT --out FILE [--data turbulence|noise|NAME.f64] [--shape 192x192x192] [--repeats 5]

LIBRARY: mpi4py-fft or dtfft. VARIANT: taut, for a job under `taut run`, whose plain transforms run with Taut switched off by
MPI_Pcontrol; or one of dtFFT's own zfp modes: lossless, accuracy:T, precision:N, rate:N. Rank 0 writes the figures to FILE.

The array is scaled so that the values in the last transposition have a root mean square of about 1.
"""

import argparse
import json
import statistics
from pathlib import Path

import numpy as np
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
SENT = Path("/sys/class/net/eth0/statistics/tx_bytes")  # of an emulated host
WARM_UP = 8  # transforms that are not measured: among them a trial of plain MPI, which takes calls 2 to 6


def turbulence(shape):
    """Returns noise with the spectrum k^(-11/6) of velocities in turbulence."""
    spectrum = np.fft.rfftn(noise(shape))
    numbers = [np.fft.fftfreq(n, 1 / n) for n in shape[:-1]] + [np.arange(shape[-1] // 2 + 1)]
    squared = sum(k**2 for k in np.meshgrid(*numbers, indexing="ij", sparse=True))
    squared[0, 0, 0] = np.inf
    spectrum *= squared ** (-11 / 12)
    return np.fft.irfftn(spectrum, shape, axes=range(3))


def noise(shape):
    return np.random.default_rng(1).uniform(-1, 1, shape)


def field(data, shape):
    values = {"turbulence": turbulence, "noise": noise}.get(data, lambda s: np.fromfile(data).reshape(s))(shape)
    return values / (np.sqrt(np.mean(values**2)) * np.sqrt(shape[1] * shape[2]))


class Mpi4pyFft:
    """Transform by mpi4py-fft, which transposes by MPI_Alltoallw."""

    def __init__(self, shape):
        from mpi4py_fft import PFFT, newDistArray

        self.plan = PFFT(WORLD, shape, dtype=np.float64)
        self.input, self.output = newDistArray(self.plan, False), newDistArray(self.plan, True)

    def fill(self, values):
        self.input[...] = values[self.plan.local_slice(False)]

    def run(self):
        self.plan.forward(self.input, self.output, normalize=False)

    def result(self):
        return np.array(self.output)


class DtFft:
    """Transform by dtFFT. Without a mode it transposes by MPI_Ialltoall(w) of derived types, its default."""

    def __init__(self, shape, mode=""):
        import dtfft

        settings = {"backend": dtfft.Backend.MPI_P2P_COMPRESSED if mode else dtfft.Backend.MPI_DATATYPE}
        if mode:
            settings["compression_config_transpose"] = self.compression(dtfft, mode)
        self.plan = dtfft.PlanR2C(list(reversed(shape)), executor=dtfft.Executor.FFTW3, config=dtfft.Config(**settings))
        self.forward = dtfft.Execute.FORWARD
        starts, counts, _, self.counts, size = self.plan.local_sizes
        self.part = tuple(slice(s, s + n) for s, n in zip(reversed(starts), reversed(counts), strict=True))
        self.input = self.plan.get_ndarray(size)
        self.output = self.plan.get_ndarray(size)

    @staticmethod
    def compression(dtfft, mode):
        name, _, number = mode.partition(":")
        modes = dtfft.CompressionMode
        return {
            "lossless": lambda: dtfft.CompressionConfig(compression_mode=modes.LOSSLESS),
            "accuracy": lambda: dtfft.CompressionConfig(compression_mode=modes.FIXED_ACCURACY, tolerance=float(number)),
            "precision": lambda: dtfft.CompressionConfig(compression_mode=modes.FIXED_PRECISION, precision=int(number)),
            "rate": lambda: dtfft.CompressionConfig(compression_mode=modes.FIXED_RATE, rate=float(number)),
        }[name]()

    def fill(self, values):
        part = values[self.part]
        self.input[: part.size] = part.ravel()

    def run(self):
        self.plan.execute(self.input, self.output, self.forward)

    def result(self):
        return np.array(self.output[: 2 * int(np.prod(self.counts))])


def sent_bytes():
    return int(SENT.read_text()) if SENT.exists() else 0


def measured(transform, values, served):
    """Returns seconds and sent bytes of one transform, of the slowest and the busiest rank."""
    transform.fill(values)
    MPI.Pcontrol(9001 if served else 9000)
    WORLD.Barrier()
    sent, start = sent_bytes(), MPI.Wtime()
    transform.run()
    seconds = MPI.Wtime() - start
    WORLD.Barrier()
    MPI.Pcontrol(9000)
    return WORLD.allreduce(seconds, MPI.MAX), WORLD.allreduce(sent_bytes() - sent, MPI.MAX)


def relative_error(result, exact):
    squares = WORLD.allreduce(np.array([np.sum(np.abs(result - exact) ** 2), np.sum(np.abs(exact) ** 2)]))
    return float(np.sqrt(squares[0] / squares[1]))


def compare(options):
    """Returns the figures of the plain transform and of the other one."""
    shape = tuple(int(n) for n in options.shape.split("x"))
    served = options.variant == "taut"
    make = Mpi4pyFft if options.library == "mpi4py-fft" else DtFft
    plain = make(shape)
    other = plain if served else make(shape, options.variant)
    values = field(options.data, shape)
    for _ in range(WARM_UP):
        measured(plain, values, False)
        measured(other, values, served)
    rounds, error, same = [], 0.0, True
    for _ in range(options.repeats):
        first = measured(plain, values, False)
        exact = plain.result()
        second = measured(other, values, served)
        result = other.result()
        rounds.append((first, second))
        error = max(error, relative_error(result, exact))
        same = same and WORLD.allreduce(np.array_equal(result, exact), MPI.LAND)
    (plain_s, plain_sent), (seconds, sent) = (tuple(zip(*runs, strict=True)) for runs in zip(*rounds, strict=True))
    return {
        "library": options.library, "variant": options.variant, "data": options.data, "ranks": WORLD.size,
        "plain_s": statistics.median(plain_s), "seconds": statistics.median(seconds),
        "gain": statistics.median(p / s for p, s in zip(plain_s, seconds, strict=True)),
        "least_s": min(seconds), "greatest_s": max(seconds),
        "plain_sent": statistics.median(plain_sent), "sent": statistics.median(sent),
        "error": error, "same_bits": same, "mpi": MPI.Get_library_version().splitlines()[0][:40],
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=("mpi4py-fft", "dtfft"))
    parser.add_argument("variant")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", default="turbulence")
    parser.add_argument("--shape", default="192x192x192")
    parser.add_argument("--repeats", type=int, default=5)
    figures = compare(parser.parse_args())
    if WORLD.rank == 0:
        parser.parse_args().out.write_text(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
