#!/bin/bash
# run.sh BUILD: all proofs of taut_exhaustive, codec by codec ($CODECS: only these), with further options in $ARGS. Each
# codec has a journal and a result of its own under $OUT (bench-out). The journal belongs to the codec's sources and to
# what they include of core: other texts, comments aside, start a new one.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$1/tests/exhaustive/taut_exhaustive
out=${OUT:-bench-out}
mkdir -p "$out"

# What codec $1 is made of: its own sources, the headers they include, and the sources of those headers.
sources() {
  find src/compressor/codecs/"$1" -name '*.cpp' -exec "${CXX:-c++}" -std=c++20 -MM -MG -Isrc {} + | tr ' \\' '\n\n' | grep -E '^src/.*pp$' |
    sed -E 'p; s/hpp$/cpp/' | sort -u | while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done
}

failed=0
for codec in ${CODECS:-$("$program" --list | cut -d' ' -f1 | sort -u)}; do
  mapfile -t files < <(sources "$codec")
  [ ${#files[@]} -gt 0 ] || { echo "codec $codec: no sources" >&2; exit 1; }
  # -fpreprocessed: comments go, nothing else happens
  identity=$(cat "${files[@]}" | ${CXX:-c++} -x c++ -w -fpreprocessed -dD -E -P - | git hash-object --stdin | head -c 10)
  # shellcheck disable=SC2086  # ARGS is a list
  bench/report.py "$out/exhaustive-$codec.json" "$program" --only "$codec " --journal "$out/exhaustive-$codec-$identity.journal" --json "$out/exhaustive-$codec.json" \
    --identity "$identity" ${ARGS:-} || failed=1
done
exit $failed
