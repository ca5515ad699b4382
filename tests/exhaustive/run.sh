#!/bin/bash
# run.sh BUILD: all proofs of taut_exhaustive, or those that $ARGS chooses, with a journal and the result under $OUT
# (bench-out). The journal belongs to the codecs as they are committed: other ones start a new one.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-bench-out}
mkdir -p "$out"
codecs=$(git rev-parse --short HEAD:src/codecs)-$(git rev-parse --short HEAD:src/core)
git diff --quiet HEAD -- src/codecs src/core || codecs=$codecs-modified-$(date +%s)
# shellcheck disable=SC2086  # ARGS is a list
"$1/tests/exhaustive/taut_exhaustive" --journal "$out/exhaustive-$codecs.journal" --json "$out/exhaustive.json" \
  --identity "$codecs" ${ARGS:-}
