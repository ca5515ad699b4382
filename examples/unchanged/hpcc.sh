#!/bin/bash
# hpcc.sh BUILD [N]: the HPC Challenge benchmark as Debian packages it (package hpcc, with Debian's Open MPI), bare and with its
# transpositions (MPI_Alltoall of the parallel FFT) compressed: without loss, and within 1e-9 of each value. What hpcc itself
# checks is told: the residuals of HPL and PTRANS, the errors of RandomAccess, and how far an FFT forth and back is off.
# N (600): rows of HPL's matrix, which set all sizes; the FFT takes about N*N/11 values. LINK=1gbit: on two emulated hosts (root).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
source "$root/tools/rig/link_rate.sh"
build=$(cd "$1" && pwd)
rows=${2:-600}
link=${LINK:-}
taut=$build/bin/taut
export TAUT_PRELOAD=$build/lib/taut/libtaut_preload.so
unset TAUT_RULES TAUT_CONFIG TAUT_REPORT
[ -e "$TAUT_PRELOAD" ] || { echo "hpcc.sh: $build holds no drop-in (configure with TAUT_DROPIN=ON)" >&2; exit 2; }
for program in hpcc mpiexec.openmpi; do
  command -v "$program" >/dev/null || { echo "hpcc.sh: skipped, $program is missing (Debian packages hpcc, openmpi-bin)"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Debian's example, for one row of two ranks: N in line 6, the grid of ranks in 11 and 12
sed "6s/^[0-9]*/$rows/;11s/^[0-9]*/1/;12s/^[0-9]*/2/" /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt

launch() { # COMMAND...: on two ranks
  if [ -n "$link" ]; then
    "$root/tools/rig/on_link.sh" --mpiexec mpiexec.openmpi --mbit "$(link_mbit "$link")" --gate warn --seconds 600 -- "$@" >&2
  else
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 600 mpiexec.openmpi --oversubscribe -n 2 "$@" </dev/null
  fi
}
result() { sed -n "s/^$1=//p" hpccoutf.txt; } # NAME: in the summary of hpcc
passed() { grep -c ' PASSED' hpccoutf.txt; }

declare -A off # of each run
run() { # NAME COMMAND...
  local name=$1
  shift
  rm -f hpccoutf.txt
  launch "$@" 2>summary || { cat summary >&2; exit 1; }
  local failed
  failed=$(grep -c ' FAILED' hpccoutf.txt || true)
  off[$name]=$(result MPIFFT_maxErr)
  printf '%-12s FFT %8.4f Gflop/s, off by %.3g; passed %d, failed %d, errors of RandomAccess %d; compressed: %s\n' "$name" \
    "$(result MPIFFT_Gflops)" "${off[$name]}" "$(passed)" "$failed" "$(result MPIRandomAccess_Errors)" \
    "$(sed -n 's/^taut: alltoall f64 *\([^ ]*\) *\([0-9]*\) *\([0-9]*\) *\([0-9.-]*\).*/\3 of \2 calls of \1, ratio \4/p' summary | paste -sd';')"
}

run bare hpcc
run lossless "$taut" run --rules "Alltoall f64 >=64KiB : lossless when=always ; * : off" --summary -- hpcc
run pwrel=1e-9 "$taut" run --rules "Alltoall f64 >=64KiB : pwrel=1e-9 when=always ; * : off" --summary -- hpcc
[ "${off[lossless]}" = "${off[bare]}" ] || { echo "hpcc.sh: the FFT's result is another one without loss" >&2; exit 1; }
