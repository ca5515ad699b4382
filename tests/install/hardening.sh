#!/bin/bash
# hardening.sh FILE...: fails unless each program or library has no executable stack and read-only relocations.
set -euo pipefail
for file in "$@"; do
  headers=$(readelf --program-headers --wide "$file")
  grep -q 'GNU_STACK .* RW ' <<<"$headers" || { echo "$file: executable stack"; exit 1; }
  grep -q GNU_RELRO <<<"$headers" || { echo "$file: relocations can be written"; exit 1; }
done
