#!/bin/bash
# example.sh NAME [OPTIONS OF THE PROGRAM]: an example on emulated hosts, plain MPI against Taut; pictures, if it has plot.py.
#   HOSTS=4           emulated hosts, or ranks
#   LINK=1gbit        rate of the links (needs root); LINK= for ranks that share memory
#   BUILD=build/release
#   OUT=NAME-out      report.json with the machine and commit (bench/report.py), raw values, pictures
#   PYTHON=...        with numpy (default: .venv/bin/python, else python3)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/tools/mpi_family.sh"
source "$root/tools/rig/link_rate.sh"
name=$1
shift
build=${BUILD:-$root/build/release} out=${OUT:-$name-out} link=${LINK-1gbit} ranks=${HOSTS:-4} seconds=${SECONDS_MAX:-7200}

program=$build/examples/$name/$name
mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null || true)
if [ ! -x "$program" ] || [ ! -x "$mpiexec" ]; then
  echo "example.sh: $build does not hold $name (make example-$name builds it)" >&2
  exit 2
fi
mpi_fits "$mpiexec" "$program" || exit 2
recorded=("$root/bench/report.py" "$out/report.json")
if [ -n "$link" ]; then
  mbit=$(link_mbit "$link")
  "${recorded[@]}" "$root/tools/rig/on_link.sh" --mpiexec "$mpiexec" --mbit "$mbit" --hosts "$ranks" --seconds "$seconds" \
    --gate warn -- "$program" --link "$link links between $ranks emulated hosts" --out "$out" "$@"
else
  # shellcheck disable=SC2046  # the options are plain words
  "${recorded[@]}" timeout --kill-after=5 "$seconds" "$mpiexec" $(mpi_oversubscribe "$(mpi_family "$mpiexec")") -n "$ranks" \
    "$program" --out "$out" "$@"
fi

[ -e "$root/examples/$name/plot.py" ] || exit 0
python=${PYTHON:-$root/.venv/bin/python}
[ -x "$python" ] || python=python3
if "$python" -c 'import numpy' 2>/dev/null; then
  "$python" "$root/examples/$name/plot.py" "$out"
else
  echo "No pictures: $python has no numpy. Figures and raw values are in $out."
fi
