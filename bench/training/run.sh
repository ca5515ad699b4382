#!/bin/bash
# run.sh [BUILD_DIR [ARGUMENTS OF train.py]]: training by DDP with PyTorch's hooks and Taut's, in alternation.
#   LINK=1gbit     four emulated hosts joined by such links (needs root); LINK=none: four processes of this host
#   QUICK=1        small networks and 30 steps, to try the command: the times mean nothing
#   OUT=bench-out  training.json and training.png
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tools/rig/link_rate.sh"
build=$(realpath "${1:-$root/build/training}")
shift || true
link=${LINK:-1gbit} out=$(realpath -m "${OUT:-bench-out}") python=$root/.venv-torch/bin/python
if [ ! -e "$build/python/taut" ] || [ ! -x "$python" ]; then
  echo "run.sh: $build has no Python package, or there is no .venv-torch (make bench-training makes both)" >&2
  exit 2
fi
[ -z "${QUICK:-}" ] || set -- --small --steps 30 "$@"
export PYTHONPATH=$build/python OMP_NUM_THREADS=1
if [ "$link" = none ]; then
  timeout --kill-after=5 3600 "$python" -m torch.distributed.run --nproc-per-node=4 --master-port=29517 \
    "$root/bench/training/train.py" --json "$out/training.json" --link "this host" --interface lo "$@"
else
  export MASTER_ADDR=10.77.0.1 MASTER_PORT=29517
  "$root/tools/rig/on_link.sh" --mpiexec "$root/.venv-torch/bin/mpiexec" --mbit "$(link_mbit "$link")" --hosts 4 --gate warn --seconds 3600 -- \
    "$python" "$root/bench/training/train.py" --json "$out/training.json" --link "$link links" "$@"
fi
"$python" "$root/bench/training/picture.py" "$out/training.json"
