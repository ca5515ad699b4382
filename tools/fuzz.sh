#!/bin/bash
# fuzz.sh: fuzzes for MINUTES (default 5, shared by the targets), or only TARGET (a file of fuzz/ without .cpp). With Clang 15
# or later libFuzzer drives; else g++ and fuzz/driver.cpp. Inputs that were worth keeping stay in build/fuzz-corpus/TARGET,
# findings in build/fuzz-findings/TARGET; a finding makes the exit status 1. An input may take LIMIT seconds (default 20); more
# suits a machine on which processes are stopped for a while.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH=$PATH:$PWD/.venv/bin
minutes=${MINUTES:-5}
# Stacks of functions that have returned are searched at each exception, and callers are noted at each allocation: both take a third
# of the time and more. An input that was found tells its callers when it is run again without these options.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0:malloc_context_size=1:quarantine_size_mb=16}

clang_with_libfuzzer() { # the newest; it has to have std::source_location as well
  local compiler probe=/tmp/taut-fuzz-probe.$$
  for compiler in $(compgen -c clang++ | grep -E '^clang\+\+(-[0-9]+)?$' | sort -Vru); do
    if printf '#include <source_location>\n#include <cstddef>\nextern "C" int LLVMFuzzerTestOneInput(const unsigned char*, std::size_t) { return static_cast<int>(std::source_location::current().line() * 0); }\n' |
      "$compiler" -std=c++20 -fsanitize=fuzzer,address,undefined -x c++ - -o "$probe" 2>/dev/null; then
      rm -f "$probe"
      echo "$compiler"
      return 0
    fi
  done
  return 1
}

if compiler=$(clang_with_libfuzzer); then
  echo "libFuzzer of $compiler"
  symbolizer=$(dirname "$(readlink -f "$(command -v "$compiler")")")/llvm-symbolizer
  [ ! -x "$symbolizer" ] || export ASAN_SYMBOLIZER_PATH=$symbolizer
  build=build/fuzz
  TARGET=fuzz_targets tools/build.sh fuzz -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/clang++/clang}" || exit 1
else
  echo "No Clang with libFuzzer: fuzz/driver.cpp, which has no feedback from coverage"
  build=build/asan
  TARGET=fuzz_targets tools/build.sh asan || exit 1
fi

mapfile -t known < <(find "$build/fuzz" -maxdepth 1 -name 'fuzz_*' -type f -executable -printf '%f\n' | sed 's/^fuzz_//' | sort)
targets=("${known[@]}")
if [ -n "${TARGET:-}" ]; then
  [[ " ${known[*]} " = *" $TARGET "* ]] || { echo "TARGET=$TARGET is unknown; there are: ${known[*]}" >&2; exit 2; }
  targets=("$TARGET")
fi
seconds=$((minutes * 60 / ${#targets[@]}))
"$build/fuzz/make_seeds" build/fuzz-seeds || exit 1

progress() { # of the newest line that says how far it is, until the log is complete
  local log=$1 pid=$2
  [ -t 2 ] || return 0
  while kill -0 "$pid" 2>/dev/null; do
    printf '\r%-100.100s' "$(grep '^#' "$log" | tail -n 1)" >&2
    sleep 2
  done
  printf '\r%-100s\r' '' >&2
}

findings=0 summary=()
for target in "${targets[@]}"; do
  corpus=build/fuzz-corpus/$target found=build/fuzz-findings/$target log=build/fuzz-$target.log
  mkdir -p "$corpus" "$found"
  folders=("$corpus" "build/fuzz-seeds/$target")
  [ ! -d "tests/robustness/fuzz_regressions/$target" ] || folders+=("tests/robustness/fuzz_regressions/$target")
  echo "== $target, $seconds s"
  { TIMEFORMAT=%U; time nice "$build/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout="${LIMIT:-20}" -rss_limit_mb=2048 -max_len=65536 \
    -seed="${SEED:-$(date +%s)}" -print_final_stats=1 -artifact_prefix="$found/" "${folders[@]}" >"$log" 2>&1; } 2>"$log.time" &
  pid=$!
  progress "$log" "$pid"
  status=0
  wait "$pid" || status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  runs="${runs:-?} executions in $(tail -n 1 "$log.time") s"
  cover=$(grep -o ' cov: [0-9]*' "$log" | tail -n 1)
  if [ "$status" = 0 ]; then
    summary+=("$target: $runs,${cover:- no} coverage, no finding")
  else
    findings=$((findings + 1))
    sed -n '/ERROR: \|runtime error:\|SUMMARY: \|^Test unit/p' "$log" | head -n 20
    summary+=("$target: $runs,${cover:- no} coverage, FINDING in $found, told in $log")
  fi
done
printf '%s\n' "${summary[@]}"
[ "$findings" = 0 ]
