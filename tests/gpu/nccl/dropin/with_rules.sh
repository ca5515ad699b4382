#!/bin/bash
# with_rules.sh PRELOAD PROGRAM [RULE]: runs the program under rules, RULE for messages among them, and checks the report
# that it leaves. TEST_SLOTS: ratio of the slots in which frames travel.
set -euo pipefail
preload=$1 program=$2 messages=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rules="* f32 >=4KiB : abs=1e-3 codec=planes when=always${TEST_SLOTS:+ slots=$TEST_SLOTS}${messages:+; $messages}"
TAUT_RULES=$rules TAUT_REPORT=$folder/report.json TAUT_SUMMARY=1 LD_PRELOAD=$preload "$program" --gtest_brief=1 2> "$folder/stderr" ||
  { cat "$folder/stderr"; exit 1; }
grep -q "taut: ncclAllReduce: [1-9]" "$folder/stderr"
grep -q "taut: NCCL serves all calls of a communicator, which was created with blocking = 0" "$folder/stderr"
python3 - "$folder"/report.json.nccl.* "$messages" <<'CHECK'
import json
import os
import sys

report = json.load(open(sys.argv[1]))
calls = report["nccl_calls"]
for name in ("ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclBroadcast", "ncclBcast", "ncclReduce", "ncclAlltoAll"):
    assert calls[name]["served_calls"] > 0 and calls[name]["served_bytes"] > 0, name
scattered = 3 * 3 + 2 * 2 + 3 * 3  # blocks of three communicators: made by ncclCommInitAll, ncclCommShrink and ncclCommGrow
assert calls["ncclReduceScatter"] == {"served_calls": 8, "served_bytes": scattered * 9000 * 4, "left_calls": 0, "left_bytes": 0}
done, none = ("served", "left") if sys.argv[2] else ("left", "served")
messages = {f"{none}_calls": 0, f"{none}_bytes": 0, f"{done}_calls": 6, f"{done}_bytes": 6 * 6000 * 4}
assert calls["ncclSend"] == calls["ncclRecv"] == messages
assert calls["ncclAllReduce"]["left_calls"] > 0
collective = [one["served_calls"] for name, one in calls.items() if name not in ("ncclSend", "ncclRecv")]
compressed = sum(one["compressed_calls"] for one in report["communicators"])  # those with exact sizes
assert compressed == sum(collective) if not os.environ.get("TEST_SLOTS") else 0 < compressed < sum(collective)
assert report["nccl_nonblocking_communicators"] == 3 + 3 + 2 + 2 + 2  # of the ranks of nonblocking_test.cpp
assert report["finished"] and report["ranks"] == 4
CHECK
