#!/bin/bash
# wheel_aarch64.sh WHEEL: the wheel for AArch64 under qemu, with Debian's Python for that processor and MPICH of .venv-aarch64: arrays,
# and an Allreduce of two ranks that is compressed. Needs debootstrap, qemu-user and the network. The root of Python is kept in
# build/roots/aarch64.
set -euo pipefail
wheel=$(realpath "$1")
cd "$(dirname "$0")/../.."
root=$PWD/build/roots/aarch64 mpi=$PWD/.venv-aarch64
if [ ! -d "$root" ]; then # packages are unpacked and not installed: nothing of them has to run for that
  rm -rf "$root.part"
  debootstrap --foreign --arch=arm64 --variant=minbase --include=python3,libgcc-s1,libstdc++6 bookworm "$root.part" ${MIRROR:+"$MIRROR"} >/dev/null
  for package in "$root.part"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$root.part"; done
  mv "$root.part" "$root"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
platforms=(--platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64)
.venv/bin/python -m pip download --quiet --disable-pip-version-check --only-binary=:all: --no-deps --python-version 3.11 "${platforms[@]}" \
  --dest "$scratch/wheels" 'numpy<3' 'mpi4py==4.*'
for file in "$scratch"/wheels/*.whl "$wheel"; do .venv/bin/python -m zipfile -e "$file" "$scratch/site"; done
cat >"$scratch/python" <<END
#!/bin/bash
exec qemu-aarch64 -L $root -E PYTHONPATH=$scratch/site -E LD_LIBRARY_PATH=$mpi/lib -E MPI4PY_LIBMPI=$mpi/lib/libmpi.so.12 $root/usr/bin/python3 "\$@"
END
chmod +x "$scratch/python"
"$scratch/python" - <<'END'
import platform

import numpy
import taut

x = numpy.linspace(0, 1, 100000)
packed = taut.compress(x, "abs:1e-4")
assert 0 < abs(taut.decompress(packed) - x).max() <= 1e-4 and len(packed) < x.nbytes / 8
print(f"arrays: {platform.machine()}, ratio {x.nbytes / len(packed):.1f}")
END
# qemu has no process_vm_readv: messages go over TCP between ranks of one host too.
MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp .venv/bin/mpiexec -n 2 "$scratch/python" examples/python/allreduce.py |
  tee "$scratch/said"
grep -q 'compressed by planes' "$scratch/said"
echo "wheel_aarch64.sh: the wheel works under qemu"
