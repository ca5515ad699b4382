#!/bin/bash
# ranks.sh RANKS PROGRAM...: runs a test program with NCCL as so many processes (instead/gpu/nccl/threads.hpp). Prints what
# they have printed, one after the other; status 0: no process has failed.
set -uo pipefail
ranks=$1
shift
folder=$(mktemp -d)
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$folder"' EXIT
processes=() status=0
for ((rank = 0; rank < ranks; ++rank)); do
  NCCL_TEST_RANK=$rank NCCL_TEST_RANKS=$ranks NCCL_TEST_FOLDER=$folder "$@" >"$folder/$rank.log" 2>&1 &
  processes+=($!)
done
# A rank that has died leaves the others waiting for ever; one whose checks have failed does not.
for _ in "${processes[@]}"; do
  wait -n || { status=$?; break; }
done
for ((tenths = 0; status != 0 && tenths < 30; ++tenths)); do
  [ -n "$(jobs -rp)" ] || break
  sleep 0.1
done
jobs -rp | xargs -r kill 2>/dev/null
wait
for ((rank = 0; rank < ranks; ++rank)); do sed "s/^/rank $rank: /" "$folder/$rank.log"; done
exit $status
