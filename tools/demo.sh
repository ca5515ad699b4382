#!/bin/bash
# demo.sh [BUILD_DIR [ARGUMENTS OF image_stacking]]: image stacking on 4 ranks, plain MPI against Taut, with pictures.
#   LINK=1gbit     the ranks on emulated hosts joined by such links (needs root); else they share memory
#   HOSTS=4        emulated hosts: 4 (one rank each) or 2 (two each)
#   OUT=demo-out   report.json, raw images, pictures
#   PYTHON=...     with numpy and matplotlib (default: .venv/bin/python, else python3)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/tools/mpi_family.sh"
source "$root/tools/rig/link_rate.sh"
build=${1:-$root/build}
shift || true
out=${OUT:-demo-out} link=${LINK:-} hosts=${HOSTS:-4} ranks=4 seconds=${SECONDS_MAX:-300}

program=$build/examples/image_stacking/image_stacking
mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null || true)
if [ ! -x "$program" ] || [ ! -x "$mpiexec" ]; then
  echo "demo.sh: $build does not hold the built demo (make demo builds it)" >&2
  exit 2
fi
mpi_fits "$mpiexec" "$program" || exit 2
arguments=(--out "$out" "$@")
[ ! -t 2 ] || arguments+=(--progress) # the program itself sees a pipe of the launcher

if [ -n "$link" ]; then
  mbit=$(link_mbit "$link")
  [ $((ranks % hosts)) = 0 ] || { echo "demo.sh: HOSTS is 2 or 4" >&2; exit 2; }
  echo "Emulated hosts: $hosts, links of $link each way, $((ranks / hosts)) rank(s) a host"
  "$root/tools/rig/on_link.sh" --mpiexec "$mpiexec" --mbit "$mbit" --hosts "$hosts" --per-host $((ranks / hosts)) \
    --seconds "$seconds" --gate warn -- \
    "$program" --link "$link links between $hosts emulated hosts" --mbit "$mbit" "${arguments[@]}"
else
  # shellcheck disable=SC2046  # the options are plain words
  timeout --kill-after=5 "$seconds" "$mpiexec" $(mpi_oversubscribe "$(mpi_family "$mpiexec")") -n "$ranks" \
    "$program" "${arguments[@]}"
fi

python=${PYTHON:-$root/.venv/bin/python}
[ -x "$python" ] || python=python3
if "$python" -c 'import matplotlib' 2>/dev/null; then
  echo "Pictures:"
  "$python" "$root/examples/image_stacking/plot.py" "$out"
else
  echo "No pictures: $python has no matplotlib. Figures and raw images are in $out."
fi
