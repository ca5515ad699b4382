#!/bin/bash
# run.sh [BUILD [VALUES [ROUNDS]]]: a program of plain MPI bare, observed, and with the rules that `taut advise` then proposes.
# LINK=1gbit: on two emulated hosts joined by such a link (needs root), which is what the advice is asked for.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
source "$root/tools/mpi_family.sh"
source "$root/tools/rig/link_rate.sh"
build=${1:-$root/build/release}
[ -d "$build" ] || { echo "run.sh: no $build; docs/start/install.md says how to build, or name your build" >&2; exit 2; }
build=$(cd "$build" && pwd)
[ $# = 0 ] || shift
link=${LINK:-}
taut=$build/bin/taut
export TAUT_PRELOAD=$build/lib/taut/libtaut_preload.so
unset TAUT_RULES TAUT_CONFIG TAUT_REPORT
[ -e "$TAUT_PRELOAD" ] || { echo "run.sh: $build holds no drop-in (configure with TAUT_DROPIN=ON)" >&2; exit 2; }

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
mpiexec=$(cached MPIEXEC_EXECUTABLE) folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(cached MPI_C_COMPILER)" -O2 -o "$folder/average" "$here/average.c" -lm

launch() { # COMMAND...: on two ranks
  if [ -n "$link" ]; then
    "$root/tools/rig/on_link.sh" --mpiexec "$mpiexec" --mbit "$(link_mbit "$link")" --gate warn -- "$@"
  else
    timeout 300 "$mpiexec" -n 2 "$@"
  fi
}

echo "plain MPI:"
launch "$folder/average" "$@"
echo "observed:"
launch "$taut" run --report "$folder/report.json" -- "$folder/average" "$@"
"$taut" advise "$folder/report.json" --bound rel:1e-3 --link "${link:-1gbit}" | tee "$folder/advice"
rules=$(sed -n 's/^export TAUT_RULES="\(.*\)"$/\1/p' "$folder/advice")
[ -n "$rules" ] || { echo "run.sh: nothing would be gained" >&2; exit 1; }
echo "with these rules:"
launch "$taut" run --rules "$rules" --summary -- "$folder/average" "$@"
