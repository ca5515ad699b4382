#!/bin/bash
# run.sh MPI LAYERS MODULE SOURCE [KIND]: builds SOURCE with the module `taut` and the system's MPI (mpich, openmpi; Debian packages
# gfortran, libmpich-dev, libopenmpi-dev), and runs it on 3 ranks. It is linked to the layer of the MPI, since libtaut may be
# built for another one; KIND: to the layer of that kind of MPI. Exit status 77: the MPI, or its Fortran compiler, is not installed.
set -euo pipefail
mpi=$1 layers=$(realpath "$2") module=$(realpath "$3") source=$(realpath "$4") kind=${5:-$1}
for needed in "mpif90.$mpi" "mpiexec.$mpi" "$layers/libtaut_$kind.so"; do
  command -v "$needed" >/dev/null || { echo "run.sh: skipped, no $needed"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"mpif90.$mpi" -O1 -std=f2018 -Wall -Wno-unused-dummy-argument -o program "$module" "$source" \
  -L"$layers" -l":libtaut_$kind.so" -Wl,-rpath,"$layers" -Wl,--disable-new-dtags
timeout 60 "mpiexec.$mpi" -n 3 ./program
