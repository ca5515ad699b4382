#!/bin/bash
# run.sh [BUILD_DIR [ARGUMENTS]]: training on four processes, by DDP with PyTorch's hooks and Taut's in alternation.
#   LINK=1gbit     four emulated hosts joined by such links (needs root); LINK=none: four processes of this host
#   QUICK=1        small networks and 30 steps, to try the command: the times mean nothing
#   DILOCO=1       instead, averages of 100 million weights by examples/python/diloco.py
#   OUT=bench-out  training.json and training.png, or diloco.txt
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tools/rig/link_rate.sh"
build=$(realpath "${1:-$root/build/training}")
shift || true
link=${LINK:-1gbit} interface=eth0
[ "$link" != none ] || interface=lo
out=$(realpath -m "${OUT:-bench-out}") python=$root/.venv-torch/bin/python
if [ ! -e "$build/python/taut" ] || [ ! -x "$python" ]; then
  echo "run.sh: $build has no Python package, or there is no .venv-torch (make bench-training makes both)" >&2
  exit 2
fi
mkdir -p "$out"
if [ -n "${DILOCO:-}" ]; then
  program=("$root/examples/python/diloco.py" --width "$([ -n "${QUICK:-}" ] && echo 1000 || echo 9900)" --outer 4 --inner 3)
else
  program=("$root/bench/training/train.py" --json "$out/training.json" --link "$link" --interface "$interface")
  [ -z "${QUICK:-}" ] || program+=(--small --steps 30)
fi
export PYTHONPATH=$build/python OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=$interface
on_hosts() {
  if [ "$link" = none ]; then
    timeout --kill-after=5 3600 "$python" -m torch.distributed.run --nproc-per-node=4 --master-port=29517 "$@"
  else
    export MASTER_ADDR=10.77.0.1 MASTER_PORT=29517
    "$root/tools/rig/on_link.sh" --mpiexec "$root/.venv-torch/bin/mpiexec" --mbit "$(link_mbit "$link")" --hosts 4 --gate warn \
      --seconds 3600 -- "$python" "$@"
  fi
}
if [ -n "${DILOCO:-}" ]; then
  on_hosts "${program[@]}" "$@" | tee "$out/diloco.txt"
else
  on_hosts "${program[@]}" "$@"
  "$python" "$root/bench/training/picture.py" "$out/training.json"
fi
