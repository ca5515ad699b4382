#!/bin/bash
# nonblocking.sh PRELOAD PROGRAM: runs rank 1 of a program whose communicators are all nonblocking. Its report has the rank's name,
# and rank 0 alone prints the summary.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TAUT_REPORT=$folder/report.json TAUT_SUMMARY=1 LD_PRELOAD=$1 "$2" --gtest_brief=1 --gtest_filter=NcclProgram.RanksOfNonblocking* \
  2> "$folder/stderr" || { cat "$folder/stderr"; exit 1; }
grep -q '"ranks": *2' "$folder/report.json.nccl.1"
! grep "calls compressed" "$folder/stderr"
