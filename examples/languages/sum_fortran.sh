#!/bin/bash
# sum_fortran.sh BUILD: sum.f90 bare and under a rule, with each MPI of the system that has a Fortran compiler (Debian packages
# gfortran, libmpich-dev, libopenmpi-dev). Exit status 77: there is none.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
taut=$build/bin/taut
export TAUT_PRELOAD=$build/lib/taut/libtaut_preload.so
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=true
[ -e "$TAUT_PRELOAD" ] || { echo "sum_fortran.sh: $build holds no drop-in (configure with TAUT_DROPIN=ON)" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tried=0
for mpi in mpich openmpi; do
  command -v "mpif90.$mpi" "mpiexec.$mpi" >/dev/null || continue
  tried=$((tried + 1))
  "mpif90.$mpi" -O2 -o "$folder/sum" "$here/sum.f90"
  echo "$mpi, bare:"
  timeout 120 "mpiexec.$mpi" -n 2 "$folder/sum"
  echo "$mpi, with a rule:"
  timeout 120 "$taut" run --rules "Allreduce f64 >=1MiB : abs:1e-6 when=always" --summary -- "mpiexec.$mpi" -n 2 "$folder/sum" 2>&1 |
    grep -E 'greatest|allreduce'
done
[ "$tried" -gt 0 ] || { echo "sum_fortran.sh: skipped, no MPI with a Fortran compiler"; exit 77; }
