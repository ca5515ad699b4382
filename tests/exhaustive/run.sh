#!/bin/bash
# run.sh BUILD: all proofs of taut_exhaustive, or those that $ARGS chooses, with a journal and the result under $OUT
# (bench-out). The journal belongs to the codecs and to what they include of core: other texts start a new one.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The sources a codec is made of: its own, the headers they include, and the sources of those headers.
sources_of_codecs() {
  ${CXX:-c++} -std=c++20 -MM -MG -Isrc src/codecs/*.cpp src/codecs/*/*.cpp | tr ' \\' '\n\n' | grep -E '^src/.*pp$' |
    sed -E 'p; s/hpp$/cpp/' | sort -u | while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done
}

out=${OUT:-bench-out}
mkdir -p "$out"
mapfile -t sources < <(sources_of_codecs)
[ ${#sources[@]} -gt 0 ] || { echo "no sources of codecs found" >&2; exit 1; }
identity=$(cat "${sources[@]}" | git hash-object --stdin | head -c 10)
# shellcheck disable=SC2086  # ARGS is a list
"$1/tests/exhaustive/taut_exhaustive" --journal "$out/exhaustive-$identity.journal" --json "$out/exhaustive.json" \
  --identity "$identity" ${ARGS:-}
