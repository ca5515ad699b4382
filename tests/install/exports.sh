#!/bin/bash
# exports.sh LIBRARY: fails unless all the library exports begins with TAUT_.
set -euo pipefail
names=$(nm -D --defined-only "$1" | awk '{print $3}')
grep -q '^TAUT_Allreduce@' <<<"$names"
others=$(grep -v '^TAUT_' <<<"$names" || true)
[ -z "$others" ] || { printf 'exported, but not of the API:\n%s\n' "$others"; exit 1; }
