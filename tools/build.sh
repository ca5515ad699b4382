#!/bin/bash
# build.sh PRESET [CMAKE OPTIONS]: configures and builds build/PRESET, or build/$NAME with that preset's settings; of it
# only $TARGET, if that is set. Presets with tests take the MPI in .venv, if there is one, or TAUT_MPI=/prefix.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
export PATH=$PATH:$PWD/.venv/bin
case $preset in
release | aarch64) ;;
*) [ ! -x .venv/bin/mpicc ] || set -- -DTAUT_MPI="${TAUT_MPI:-$PWD/.venv}" "$@" ;;
esac
export CCACHE_SLOPPINESS=pch_defines,time_macros # what it asks for where headers are precompiled
[ -n "$(ccache --get-config base_dir 2>/dev/null)" ] || export CCACHE_BASEDIR=$PWD # an object serves all build folders
command -v ccache >/dev/null && set -- -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
cmake --preset "$preset" -B "build/${NAME:-$preset}" "$@" >"/tmp/taut-configure.$$" || { cat "/tmp/taut-configure.$$"; exit 1; }
rm -f "/tmp/taut-configure.$$"
cmake --build "build/${NAME:-$preset}" --target "${TARGET:-all}" -- ${QUIET:---quiet}
