#!/bin/bash
# run.sh [BUILD_DIR [OPTIONS OF wave3d]]: elastic waves on 4 emulated hosts, plain MPI against Taut, with pictures.
#   LINK=1gbit        rate of the links (needs root); LINK= for ranks that share memory
#   OUT=wave3d-out    report.json, seismograms, slices, pictures
#   PYTHON=...        with numpy and matplotlib (default: .venv/bin/python, else python3)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tools/mpi_family.sh"
source "$root/tools/rig/link_rate.sh"
build=${1:-$root/build/release}
shift || true
out=${OUT:-wave3d-out} link=${LINK-1gbit} ranks=4 seconds=${SECONDS_MAX:-7200}

program=$build/examples/wave3d/wave3d
mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null || true)
if [ ! -x "$program" ] || [ ! -x "$mpiexec" ]; then
  echo "run.sh: $build does not hold wave3d (make example-wave3d builds it)" >&2
  exit 2
fi
if [ -n "$link" ]; then
  mbit=$(link_mbit "$link")
  "$root/tools/rig/on_link.sh" --mpiexec "$mpiexec" --mbit "$mbit" --hosts "$ranks" --seconds "$seconds" --gate warn -- \
    "$program" --link "$link links between $ranks emulated hosts" --out "$out" "$@"
else
  # shellcheck disable=SC2046  # the options are plain words
  timeout --kill-after=5 "$seconds" "$mpiexec" $(mpi_oversubscribe "$(mpi_family "$mpiexec")") -n "$ranks" \
    "$program" --out "$out" "$@"
fi

python=${PYTHON:-$root/.venv/bin/python}
[ -x "$python" ] || python=python3
if "$python" -c 'import matplotlib' 2>/dev/null; then
  "$python" "$root/examples/wave3d/plot.py" "$out"
else
  echo "No pictures: $python has no matplotlib. Figures and raw values are in $out."
fi
