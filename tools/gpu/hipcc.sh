#!/bin/bash
# hipcc.sh ARCH SOURCE OBJECT [FLAG...]: compiles a source of src/compressor/gpu by hipcc for an AMD GPU, as ctest -R
# cuda.hipcc does. Exit code 77: this hipcc does not know ARCH.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
arch=$1 source=$2 object=$3
shift 3
hipcc --offload-arch="$arch" -x hip -nogpulib -nogpuinc --offload-device-only -fsyntax-only /dev/null 2>/dev/null || exit 77

# -ffp-contract=off: results must have the CPU's bits.
flags=(--offload-arch="$arch" -x hip -std=c++20 -O2 -ffp-contract=off -fPIC -fvisibility=hidden -Wno-unused-result
  -I"$root/src/compressor/gpu/hip" -I"$root/src" -I"$root/include")
version=$(hipcc --offload-arch="$arch" -dumpversion)
if [ "${version%%.*}" -lt 16 ]; then
  headers=$(hipcc --offload-arch="$arch" -print-resource-dir)/include
  flags+=(-nogpuinc -include "$root/src/compressor/gpu/hip/libstdcxx_pair.h" -isystem "$headers/cuda_wrappers"
    -include __clang_hip_runtime_wrapper.h -idirafter /usr/include)
fi

# Debian's library of functions for GPUs is older than its clang: a GPU that it lacks gets the numbers of an older one.
libraries=$(compgen -G "/usr/lib/*/amdgcn/bitcode" | head -1 || true)
if [ -n "$libraries" ] && [ ! -e "$libraries/oclc_isa_version_${arch#gfx}.bc" ]; then
  case $arch in
    gfx11*) older=1036 ;;
    *) older=90a ;;
  esac
  links=$(mktemp -d)
  trap 'rm -rf "$links"' EXIT
  ln -s "$libraries"/*.bc "$links"
  ln -s "$libraries/oclc_isa_version_$older.bc" "$links/oclc_isa_version_${arch#gfx}.bc"
  flags+=(--rocm-device-lib-path="$links")
fi
# HIP's memcpy must be there before <cstring> takes its name into std.
hipcc "${flags[@]}" -include hip/hip_runtime.h "$@" -c "$source" -o "$object"
