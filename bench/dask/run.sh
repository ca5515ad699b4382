#!/bin/bash
# run.sh RIG BUILD_DIR LINK MBIT WORKERS [ARGUMENTS OF transpose_sum.py]: starts a cluster and measures on it. RIG: tools/rig;
# LINK: its name in the rows, of the rate MBIT, or none for workers of this host. PYTHON (.venv/bin/python) has dask and distributed.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
rig=$1 build=$2 link=$3 mbit=$4 workers=$5 python=${PYTHON:-$root/.venv/bin/python}
shift 5
[ -e "$build/python/taut" ] || { echo "run.sh: $build has no Python package (make bench-dask makes it)" >&2; exit 2; }
export PYTHONPATH=$build/python OMP_NUM_THREADS=1 DASK_DISTRIBUTED__WORKER__MEMORY__TARGET=false
name=taut$$ port=18786 pids=()

address() { [ "$link" = none ] && echo 127.0.0.1 || echo "10.77.0.$(($1 + 1))"; } # HOST
on() { # HOST COMMAND...
  if [ "$link" = none ]; then exec "${@:2}"; else exec "$rig/nsh" "${name}h$1" "${*:2}"; fi
}
stop() {
  [ "$link" = none ] || "$rig/rig.sh" down "$name"
  [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true # nothing of theirs is to be kept
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if [ "$link" != none ]; then
  "$rig/rig.sh" sweep
  "$rig/rig.sh" up "$name" "$workers" "$mbit"
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
