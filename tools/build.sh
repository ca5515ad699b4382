#!/bin/bash
# build.sh PRESET [CMAKE OPTIONS]: configures and builds build/PRESET, or build/$NAME with that preset's settings; of it
# only $TARGET, if that is set. TAUT_MPI=/prefix names the MPI. By default presets other than release take the MPI in .venv,
# if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
export PATH=$PATH:$PWD/.venv/bin
mpi=${TAUT_MPI:-}
if [ -z "$mpi" ] && [ -x .venv/bin/mpicc ] && [ "$preset" != release ]; then mpi=$PWD/.venv; fi
if [ -n "$mpi" ] && [ "$preset" != aarch64 ]; then set -- -DTAUT_MPI="$mpi" "$@"; fi
export CCACHE_SLOPPINESS=pch_defines,time_macros # what it asks for where headers are precompiled
[ -n "$(ccache --get-config base_dir 2>/dev/null)" ] || export CCACHE_BASEDIR=$PWD # an object serves all build folders
command -v ccache >/dev/null && set -- -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
cmake --preset "$preset" -B "build/${NAME:-$preset}" "$@" >"/tmp/taut-configure.$$" || { cat "/tmp/taut-configure.$$"; exit 1; }
rm -f "/tmp/taut-configure.$$"
cmake --build "build/${NAME:-$preset}" --target "${TARGET:-all}" -- ${QUIET:---quiet}
