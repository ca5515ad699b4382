#!/bin/bash
# without_cuda.sh PRELOAD LIBTAUT_NCCL PROGRAM: runs the program under rules where libtaut_cuda cannot be used, as on a machine
# with RCCL: another library has its name. NCCL serves all calls, and one line says so.
set -euo pipefail
preload=$1 nccl=$2 program=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$preload" "$folder/libtaut_preload.so"
ln -s "$nccl" "$folder/libtaut_nccl.so.0"
ln -s "$preload" "$folder/libtaut_cuda.so.0"
TAUT_RULES="* f32 >=4KiB : abs=1e-3 codec=planes when=always" LD_PRELOAD=$folder/libtaut_preload.so "$program" --gtest_brief=1 \
  2> "$folder/stderr" || { cat "$folder/stderr"; exit 1; }
[ "$(grep -c "taut: NCCL serves all its calls: .*libtaut_cuda.so.0 is of another version" "$folder/stderr")" = 1 ]
