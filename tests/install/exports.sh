#!/bin/bash
# exports.sh LIBRARY: fails unless all the library exports begins with TAUT_, and what programs may be linked to is there.
set -euo pipefail
names=$(nm -D --defined-only "$1" | awk '{print $3}')
grep -q '^TAUT_Allreduce@' <<<"$names"
others=$(grep -v '^TAUT_' <<<"$names" || true)
[ -z "$others" ] || { printf 'exported, but not of the API:\n%s\n' "$others"; exit 1; }
gone=$(LC_ALL=C comm -23 "$(dirname "$0")/../../packaging/abi/symbols.txt" <(LC_ALL=C sort <<<"$names"))
[ -z "$gone" ] || { printf 'no longer exported (docs/abi.md):\n%s\n' "$gone"; exit 1; }
