#!/bin/bash
# run.sh [BUILD_DIR [ARGUMENTS OF taut_bench_codec]]: speed of the codec beside memcpy and public peers.
#   QUICK=1        float, 1 MiB, the smooth field only: what acceptance.py judges
#   ARGS="..."     more arguments, as --benchmark_filter=avx512/encode
#   OUT=bench-out  codec.json
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build}
shift || true
program=$build/bench/codec/taut_bench_codec
if [ ! -x "$program" ]; then
  echo "run.sh: $build does not hold the built bench (make bench-codec builds it)" >&2
  exit 2
fi

commit=$(git -C "$root" describe --always --dirty --abbrev=12 2>/dev/null || true)
quick=()
[ -z "${QUICK:-}" ] || quick=(--types f32 --sizes 1M --fields smooth)
# shellcheck disable=SC2086  # ARGS are words
exec "$program" --json "${OUT:-bench-out}/codec.json" ${commit:+--commit "$commit"} "${quick[@]}" ${ARGS:-} "$@"
