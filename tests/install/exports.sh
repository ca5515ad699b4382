#!/bin/bash
# exports.sh LIBRARY: fails unless all the library exports begins with TAUT_.
set -euo pipefail
others=$(nm -D --defined-only "$1" | awk '{print $3}' | grep -v '^TAUT_' || true)
nm -D --defined-only "$1" | grep -q ' TAUT_Allreduce'
[ -z "$others" ] || { printf 'exported, but not of the API:\n%s\n' "$others"; exit 1; }
