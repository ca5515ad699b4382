#!/usr/bin/env python3
"""Turbulence after Taylor and Green with a pseudo-spectral method, by mpi4py-fft: a program to be run under `taut run`.

  turbulence.py [--cells 64] [--steps 6]

Each of the four stages of a step (Runge-Kutta) transforms nine fields in turn by calls of one kind.
"""

import argparse

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray


class Flow:
    def __init__(self, n, viscosity=1 / 1600):
        self.viscosity = viscosity
        # An estimate is the same in each run.
        self.transform = PFFT(MPI.COMM_WORLD, (n, n, n), dtype=float, grid=(-1,), planner_effort="FFTW_ESTIMATE")
        numbers = np.meshgrid(
            np.fft.fftfreq(n, 1 / n),
            np.fft.fftfreq(n, 1 / n),
            np.fft.rfftfreq(n, 1 / n),
            indexing="ij",
        )
        self.k = np.array([k[self.transform.local_slice(True)] for k in numbers])
        self.squared = (self.k**2).sum(0)
        self.kept = (np.abs(self.k) < n / 3).all(0)
        x, y, z = (
            c[self.transform.local_slice(False)]
            for c in np.meshgrid(*[np.arange(n) * 2 * np.pi / n] * 3, indexing="ij")
        )
        start = (
            np.sin(x) * np.cos(y) * np.cos(z),
            -np.cos(x) * np.sin(y) * np.cos(z),
            0.1 * np.sin(2 * x + y),
        )
        self.velocity = np.array([self.forward(field) for field in start])

    def forward(self, field):
        values = newDistArray(self.transform, False)
        values[:] = field
        return self.transform.forward(values, newDistArray(self.transform, True)).copy()

    def backward(self, waves):
        values = newDistArray(self.transform, True)
        values[:] = waves
        return self.transform.backward(
            values, newDistArray(self.transform, False)
        ).copy()

    def change(self, velocity):
        u = np.array([self.backward(v) for v in velocity])
        curl = np.array(
            [self.backward(v) for v in np.cross(1j * self.k, velocity, axis=0)]
        )
        forces = (
            np.array([self.forward(f) for f in np.cross(u, curl, axis=0)]) * self.kept
        )
        pressure = (self.k * forces).sum(0) / np.where(
            self.squared == 0, 1, self.squared
        )
        return forces - self.k * pressure - self.viscosity * self.squared * velocity

    def step(self, dt=0.01):
        u = self.velocity
        a = self.change(u)
        b = self.change(u + dt / 2 * a)
        c = self.change(u + dt / 2 * b)
        d = self.change(u + dt * c)
        self.velocity = u + dt / 6 * (a + 2 * b + 2 * c + d)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=64)
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args()
    flow = Flow(options.cells)
    for _ in range(options.steps):
        flow.step()
    energy = MPI.COMM_WORLD.allreduce(float((np.abs(flow.velocity) ** 2).sum()))
    if MPI.COMM_WORLD.rank == 0:
        print(f"energy {energy:.12g}")


if __name__ == "__main__":
    main()
