#!/bin/bash
# smoke.sh TAUT MPICC MPIEXEC: an unchanged program on two ranks, whose allreduce the installed program TAUT compresses; its reports
# and traces are then read, where python3 is.
set -euo pipefail
taut=$(realpath "$1") mpicc=$2 mpiexec=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=true PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
"$mpicc" "$here/../examples/unchanged/average.c" -o "$scratch/average" -lm
cd "$scratch"
"$taut" run --rules 'Allreduce f32 sum : abs:1e-3 when=always'  --report report.json --trace trace.json -- "$mpiexec" -n 2 ./average 1000000 1 | tee said
grep -q '"compressed_calls": *[1-9]' report.json.0 || { echo "smoke: $mpiexec: nothing was compressed" >&2; exit 1; }
awk '/greatest error/ { found = $NF > 0 && $NF <= 1e-3 } END { exit !found }' said || { echo "smoke: $mpiexec: beyond the bound" >&2; exit 1; }
if command -v python3 >/dev/null; then
  "$taut" report report.json -o page.html --trace trace.json | grep -q '2 of 2 ranks'
  "$taut" trace trace.json -o all.json | grep -q '2 ranks'
fi
echo "smoke: $mpiexec: an allreduce was compressed"
