#!/bin/bash
# ci.sh JOB: one job of continuous integration, here as on a server (.github/workflows/ci.yml lists them).
#   lint             layout, layers, sizes, links
#   compiler CC CXX  builds the tests without MPI with a compiler, and runs them
#   mpi NAME         tests that use MPI, with mpich or openmpi, or another one (TAUT_MPI=/prefix)
#   impi             Intel MPI's run time under the drop-in
#   sanitizers       the tests without MPI under ASan and UBSan
#   aarch64          the codecs for AArch64, under qemu
#   wheel            source archive and wheel, tried in empty environments
set -euo pipefail
cd "$(dirname "$0")/.."

build_and_test() { # FOLDER TARGET LABEL PRESET [CMAKE OPTIONS]
  local folder=$1 target=$2 label=$3 preset=$4
  shift 4
  tools/setup.sh test
  NAME=$folder TARGET=$target tools/build.sh "$preset" "$@"
  PATH=$PATH:$PWD/.venv/bin ctest --test-dir "build/$folder" -L "$label" -j"$(nproc)" --output-on-failure --no-tests=error
}

case ${1:-} in
lint) make lint ;;
compiler)
  build_and_test "$2" fast_tests '^fast' test -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_COMPILER="$3" -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF
  ;;
mpi)
  prefix=$PWD/.venv
  [ "$2" != openmpi ] || prefix=$PWD/.venv-openmpi
  build_and_test "$2" mpi_tests mpi test -DTAUT_MPI="${TAUT_MPI:-$prefix}"
  ;;
impi)
  tools/setup.sh test
  TARGET=layers tools/build.sh test
  PATH=$PATH:$PWD/.venv/bin ctest --test-dir build/test -R '^dropin\.impi-wheel\.' -j"$(nproc)" --output-on-failure --no-tests=error
  ;;
sanitizers) build_and_test asan fast_tests '^(gpu-)?fast$' asan ;;
aarch64) build_and_test aarch64 compressor_test short aarch64 ;;
wheel) make wheel ;;
*)
  sed -n 's/^#   /  /p' "$0" >&2
  exit 2
  ;;
esac
