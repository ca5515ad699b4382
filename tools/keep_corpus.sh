#!/bin/bash
# keep_corpus.sh: tests/robustness/fuzz_corpus/TARGET.tar.xz, the fewest inputs of build/fuzz-corpus, and of the archives before, that
# reach all code that these reach. Needs what `make fuzz` has built with libFuzzer.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p tests/robustness/fuzz_corpus
for program in build/fuzz/fuzz/fuzz_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  target=${program##*/fuzz_}
  folders=()
  for folder in "build/fuzz-corpus/$target" "build/fuzz-kept/$target" "build/fuzz-seeds/$target"; do
    [ ! -d "$folder" ] || folders+=("$folder")
  done
  kept=build/fuzz-merged/$target
  rm -rf "$kept"
  mkdir -p "$kept"
  "$program" -merge=1 -max_len=4096 "$kept" "${folders[@]}" >"build/fuzz-$target.log" 2>&1
  XZ_OPT=-9 tar -C "$kept" --sort=name --mtime=@0 --owner=0 --group=0 --mode=644 -cJf "tests/robustness/fuzz_corpus/$target.tar.xz" .
  echo "$target: $(find "$kept" -type f | wc -l) inputs, $(stat -c %s "tests/robustness/fuzz_corpus/$target.tar.xz") bytes packed"
done
