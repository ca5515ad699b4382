#!/bin/bash
# clang_tidy.sh [FILE...]: checks sources that need neither MPI nor a configured build, by .clang-tidy; without FILE those
# that have changed, or whose headers have, since they passed. build/tidy/passed has a file for each, which lists these.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/.venv/bin:$PATH made=build/tidy
mkdir -p $made/passed
for what in collectives:collective_list functions:collective_functions; do
  new=$(python3 src/communication/team/collectives.py "${what%:*}")
  [ "$new" = "$(cat "$made/${what#*:}.hpp" 2>/dev/null)" ] || printf '%s\n' "$new" >"$made/${what#*:}.hpp"
done

# As cmake/InstructionSets.cmake writes it.
[ -e $made/instruction_sets.inc ] || echo 'TAUT_INSTRUCTION_SET(Scalar, "scalar", true)' >$made/instruction_sets.inc

passed() { echo "$made/passed/${1//\//.}"; }

due() { # the files to check
  local file mark
  # Not here: kernels, which need the flags of their instruction set; registries and codecs that need what a build makes.
  for file in $(git ls-files 'src/compressor/base/*.cpp' 'src/compressor/values/*.cpp' 'src/compressor/simd/*.cpp' 'src/compressor/frame/*.cpp' \
    'src/compressor/file/*.cpp' 'src/compressor/codecs/*.cpp' 'src/communication/team/*.cpp' 'src/communication/algorithms/*.cpp' \
    'src/communication/policy/*.cpp' 'src/communication/comm/*.cpp' 'src/cli/*.cpp' | grep -vE '/(kernels|zfp)/|/(avx2|avx512|neon|registry)\.cpp$'); do
    mark=$(passed "$file")
    # shellcheck disable=SC2046  # a list of files
    [ -s "$mark" ] && [ -z "$(find .clang-tidy $(<"$mark") -newer "$mark" -print -quit 2>&1)" ] || echo "$file"
  done
}

# The files of a folder that may be compiled as one (cmake/Compiler.cmake) are a line: checked as one they take a fifth of the time.
lines() {
  awk -v folders=" $(sed -n '/^set(TAUT_UNITY_FOLDERS/,/)/p' cmake/Compiler.cmake | tr -s '()\n' ' ')" '
    { folder = $0; sub("/[^/]*$", "", folder); sub("^src/", "", folder) }
    index(folders, " " folder " ") { all[folder] = all[folder] " " $0; next }
    { print }
    END { for (folder in all) print all[folder] }'
}

check() { # FILE...
  local -a flags=(-std=c++20 -Isrc -Iinclude "-I$made" -DTAUT_COMMUNICATION=1)
  local file checked=$1
  if [ $# -gt 1 ]; then
    checked=$(dirname "$1")
    checked=$made/${checked//\//.}.cpp
    printf "#include \"$PWD/%s\"\n" "$@" >"$checked"
  fi
  clang-tidy --quiet "$checked" -- "${flags[@]}" 2>/dev/null || return 1
  for file in "$@"; do g++ -MM "${flags[@]}" "$file" | sed 's/^[^:]*: *//; s/ *\\$//' >"$(passed "$file")"; done
}
export -f check passed
if [ $# -gt 0 ]; then printf '%s\n' "$@"; else due; fi | lines | xargs -r -d '\n' -P "$(nproc)" -I{} bash -c 'check {}'
