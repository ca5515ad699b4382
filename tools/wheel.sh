#!/bin/bash
# wheel.sh: dist/taut-*.whl, with the layers of all MPIs whose headers are found, tried in empty environments with each MPI.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:$PWD/.venv/bin
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
# Without libzfp, which other machines may lack.
rm -f dist/taut-*.whl
.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist -C cmake.define.TAUT_ZFP=OFF .
ls -l dist/taut-*.whl
tests/install/wheel.sh dist/taut-*.whl
