#!/bin/bash
# run_tests.sh: builds and runs all tests with one MPI (MPICH, or the user's), then the fast ones under ASan/UBSan.
# Ends with "N passed, N failed"; fails if anything does or nothing ran.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH=$PATH:$PWD/.venv/bin
passed=0 failed=0

# run NAME LABEL PRESET [CMAKE OPTIONS]
run() {
  local name=$1 label=$2 preset=$3 log
  shift 3
  echo "== $name"
  if ! NAME=$name tools/build.sh "$preset" "$@"; then
    failed=$((failed + 1))
    return
  fi
  log=build/$name/ctest.log
  ctest --test-dir "build/$name" -L "$label" -j2 --output-on-failure --no-tests=error >"$log" 2>&1 ||
    sed -n '/Failed\|FAILED\|Error\|error/p;/The following tests/,$p' "$log" | tail -n 150
  local total bad
  read -r bad total < <(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\)/\1 \2/p' "$log")
  tail -n 3 "$log"
  if [ -z "${total:-}" ]; then
    failed=$((failed + 1))
    return
  fi
  passed=$((passed + total - bad)) failed=$((failed + bad))
}

mpi=()
[ -z "${TAUT_MPI:-}" ] || mpi=(-DTAUT_MPI="$TAUT_MPI")
run test '.' test "${mpi[@]}"
run asan fast asan "${mpi[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
