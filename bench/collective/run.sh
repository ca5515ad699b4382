#!/bin/bash
# run.sh [BUILD_DIR [ARGUMENTS OF taut_bench_collectives]]: collectives, plain MPI and Taut in alternation.
#   LINK=1gbit     two emulated hosts joined by such a link (needs root): wire bytes are counted; else shared memory.
#                  Sizes are then 4M:64M unless arguments say otherwise.
#   RANKS=2        ranks, PER_HOST=1 of them on each emulated host
#   OUT=bench-out  collectives.json, with the machine, commit and load (bench/machine.py)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tools/mpi_family.sh"
source "$root/tools/rig/link_rate.sh"
build=${1:-$root/build}
shift || true
link=${LINK:-} ranks=${RANKS:-2} per_host=${PER_HOST:-1} seconds=${SECONDS_MAX:-900} json=${OUT:-bench-out}/collectives.json

program=$build/bench/collective/taut_bench_collectives
mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null || true)
if [ ! -x "$program" ] || [ ! -x "$mpiexec" ]; then
  echo "run.sh: $build does not hold the built bench (make bench-collectives builds it)" >&2
  exit 2
fi

for ((i = 1; i < $#; i++)); do # the last --json counts
  if [ "${!i}" = --json ]; then after=$((i + 1)) json=${!after}; fi
done

if [ -n "$link" ]; then
  mbit=$(link_mbit "$link")
  [ $# -gt 0 ] || set -- -m 4M:64M
  echo "A link passes its first 0.25 ms (32 KiB at 1 Gbit/s) at once: a call that sends less than 1 MB looks faster than the link is."
  exec "$root/bench/machine.py" "$json" "$root/tools/rig/on_link.sh" --mpiexec "$mpiexec" --mbit "$mbit" --hosts $((ranks / per_host)) --per-host "$per_host" --seconds "$seconds" -- \
    "$program" --json "$json" --link "$link links" --interface eth0 "$@"
fi
# shellcheck disable=SC2046  # the options are plain words
exec "$root/bench/machine.py" "$json" timeout --kill-after=5 "$seconds" "$mpiexec" $(mpi_oversubscribe "$(mpi_family "$mpiexec")") -n "$ranks" \
  "$program" --json "$json" "$@"
