#!/bin/bash
# run.sh [BUILD_DIR [ARGUMENTS OF transpose_sum.py]]: x + x.T of a Dask array, plain and with taut.dask in turn.
#   LINK=1gbit     emulated hosts joined by such links, a worker on each (needs root); LINK=none: workers of this host
#   WORKERS=4
#   PYTHON=.venv/bin/python, which has dask and distributed
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tools/rig/link_rate.sh"
build=$(realpath "${1:-$root/build/python-release}")
shift || true
link=${LINK:-1gbit} workers=${WORKERS:-4} python=${PYTHON:-$root/.venv/bin/python}
[ -e "$build/python/taut" ] || { echo "run.sh: $build has no Python package (make bench-dask makes it)" >&2; exit 2; }
export PYTHONPATH=$build/python OMP_NUM_THREADS=1 DASK_DISTRIBUTED__WORKER__MEMORY__TARGET=false
name=taut$$ port=18786 pids=()

address() { [ "$link" = none ] && echo 127.0.0.1 || echo "10.77.0.$(($1 + 1))"; } # HOST
on() { # HOST COMMAND...
  if [ "$link" = none ]; then exec "${@:2}"; else exec "$root/tools/rig/nsh" "${name}h$1" "${*:2}"; fi
}
stop() {
  [ "$link" = none ] || "$root/tools/rig/rig.sh" down "$name"
  [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true # nothing of theirs is to be kept
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if [ "$link" != none ]; then
  "$root/tools/rig/rig.sh" sweep
  "$root/tools/rig/rig.sh" up "$name" "$workers" "$(link_mbit "$link")"
fi
scheduler=tcp://$(address 0):$port
on 0 "$python" -m dask scheduler --host "$(address 0)" --port $port --no-dashboard >/dev/null 2>&1 &
pids+=($!)
for ((host = 0; host < workers; host++)); do
  on "$host" "$python" -m dask worker "$scheduler" --host "$(address "$host")" --nthreads 1 --no-nanny --no-dashboard \
    --memory-limit 0 >/dev/null 2>&1 &
  pids+=($!)
done
(on 0 timeout --kill-after=5 "${SECONDS_AT_MOST:-900}" "$python" "$root/bench/dask/transpose_sum.py" "$scheduler" \
  --workers "$workers" --link "$link" "$@")
