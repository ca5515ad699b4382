#!/usr/bin/env python3
"""Runs Fortran calls from a library that Python loads privately, so that MPI's Fortran libraries are private too.

private_fortran_test.py TAUT LAYERS MPI    MPI: mpich or openmpi, as Debian packages it; exit status 77: it is missing
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = """
subroutine transform() bind(c)
  use mpi_f08
  use iso_fortran_env
  real(real64), allocatable :: values(:), sums(:)
  type(MPI_Comm) :: grid, line
  type(MPI_Request) :: request
  integer :: i, me, ranks
  allocate (values(50000), sums(50000))
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.false.], .false., grid)
  values = [(sin(0.001d0 * i), i = 1, 50000)]
  call MPI_Allreduce(values, sums, 50000, MPI_DOUBLE_PRECISION, MPI_SUM, grid)
  print *, "off by", maxval(abs(sums - ranks * values))
  call MPI_Cart_sub(grid, [.true.], line)
  call MPI_Comm_rank(line, me)
  call MPI_Ialltoall(values, 25000, MPI_DOUBLE_PRECISION, sums, 25000, MPI_DOUBLE_PRECISION, line, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print *, "off by", maxval(abs(sums(1:25000) - values(25000 * me + 1:25000 * (me + 1))))
  call sum_in_place(ranks)
  call MPI_Finalize()
end subroutine

subroutine sum_in_place(ranks)
  implicit none
  include 'mpif.h'
  integer :: ranks, i, ierror
  double precision :: values(50000)
  values = [(sin(0.001d0 * i), i = 1, 50000)]
  call MPI_Allreduce(MPI_IN_PLACE, values, 50000, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  print *, "off by", maxval(abs(values - ranks * [(sin(0.001d0 * i), i = 1, 50000)]))
end subroutine
"""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class PrivateFortran(unittest.TestCase):
    def launch(self, *command):
        start = ["timeout", "60", MPIEXEC, *(["--oversubscribe"] if "openmpi" in MPIEXEC else []), "-n", "2"]
        environment = os.environ | AS_ROOT | {"TAUT_NONBLOCKING": "1", "TAUT_PRELOAD": str(Path(sys.argv[2]) / "libtaut_preload.so")}
        done = subprocess.run([*start, *command], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_calls_are_served(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "transform.f90", Path(folder) / "transform.so"
            source.write_text(SOURCE)
            subprocess.run([COMPILER, "-O1", "-fPIC", "-shared", source, "-o", library], check=True)
            call = [sys.executable, "-c", f"import ctypes; ctypes.CDLL('{library}').transform()"]
            run = [sys.argv[1], "run", "--summary", "--rules", "Allreduce,Alltoall : abs=1e-3 when=always", "--"]
            printed = self.launch(*run, *call)
        errors = [float(line.split()[-1]) for line in printed.splitlines() if "off by" in line]
        self.assertEqual(len(errors), 6, printed)  # of three calls on two ranks, where a value may be a rank's own
        self.assertGreater(sorted(errors)[1], 0, printed)
        self.assertLessEqual(max(errors), 1.001e-3, printed)


if __name__ == "__main__":
    COMPILER, MPIEXEC = f"mpif90.{sys.argv[3]}", f"mpiexec.{sys.argv[3]}"
    if not shutil.which(COMPILER) or not shutil.which(MPIEXEC):
        print(f"skipped: {COMPILER} or {MPIEXEC} is missing")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
