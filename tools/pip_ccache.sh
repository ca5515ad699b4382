# shellcheck shell=bash
# To be sourced. Lets builds by pip use ccache, where it is installed. pip builds in a folder of another name each time.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=${TMPDIR:-/tmp} CCACHE_SLOPPINESS=pch_defines,time_macros
fi
