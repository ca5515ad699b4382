#!/bin/bash
# with_rules.sh PRELOAD PROGRAM: runs the program under rules, and checks the report that it leaves.
set -euo pipefail
preload=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rules='* f32 >=4KiB : abs=1e-3 codec=planes when=always'
TAUT_RULES=$rules TAUT_REPORT=$folder/report.json TAUT_SUMMARY=1 LD_PRELOAD=$preload "$program" --gtest_brief=1 2> "$folder/stderr" ||
  { cat "$folder/stderr"; exit 1; }
grep -q "taut: ncclAllReduce: [1-9]" "$folder/stderr"
python3 - "$folder"/report.json.nccl.* <<'CHECK'
import json
import sys

report = json.load(open(sys.argv[1]))
calls = report["nccl_calls"]
for name in ("ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclBroadcast", "ncclBcast", "ncclReduce", "ncclAlltoAll"):
    assert calls[name]["served_calls"] > 0 and calls[name]["served_bytes"] > 0, name
assert calls["ncclReduceScatter"] == {"served_calls": 3, "served_bytes": 3 * 3 * 9000 * 4, "left_calls": 0, "left_bytes": 0}
assert calls["ncclSend"] == calls["ncclRecv"] == {"served_calls": 0, "served_bytes": 0, "left_calls": 6, "left_bytes": 6 * 6000 * 4}
assert calls["ncclAllReduce"]["left_calls"] > 0
assert sum(one["compressed_calls"] for one in report["communicators"]) == sum(one["served_calls"] for one in calls.values())
assert report["finished"] and report["ranks"] == 4
CHECK
