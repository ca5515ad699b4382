#!/bin/bash
# check.sh correctness|kernels|ranks [OUT]: checks on a machine with an NVIDIA GPU; each below 8 minutes, nothing is
# downloaded. Needs nvcc and g++; builds into build/gpu. Results as JSON lines in OUT (default build/gpu/WHAT.json).
#   correctness  frames CPU <-> GPU byte for byte, 2000 launches that look back, graph capture, compute-sanitizer
#   kernels      encode, decode, add, and encode and decode lossless, against a copy on the device
#   ranks        not there yet: no collective call takes device pointers
set -euo pipefail
cd "$(dirname "$0")/../.."
what=${1:?correctness, kernels or ranks}
build=build/gpu
out=${2:-$build/$what.json}
mkdir -p "$build"

if [ "$what" = ranks ]; then
  echo "ranks: not there yet, collective calls do not take device pointers"
  exit 77
fi

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "check.sh: there is no nvcc" >&2; exit 1; }
arch=${ARCH:-$( (nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true) | sed -n '1s/\.//p')}
flags=(-std=c++20 -O3 --expt-relaxed-constexpr -fmad=false -diag-suppress 445 -arch="sm_${arch:-90}" -Isrc -Iinclude)

# The CPU's codec in portable code: the reference.
compile() { g++ -std=c++20 -O2 -ffp-contract=off -DTAUT_X86=0 -Isrc -Iinclude -c "$1" -o "$build/$(echo "$1" | tr / _).o"; }
export -f compile
export build
sources=$(find src/core src/codecs/planes src/codecs/mpc -maxdepth 1 -name '*.cpp' ! -name 'avx*')
echo "$sources" | xargs -P "$(nproc)" -I{} bash -c 'compile {}' &
cpu=$!
printf '%s\n' src/api/cuda*.cu tools/gpu/check*.cu |
  xargs -P "$(nproc)" -I{} bash -c '"$@" -c "$0" -o "$build/$(basename "$0" .cu).o"' {} "$nvcc" "${flags[@]}"
wait "$cpu"
"$nvcc" -cudart static -o "$build/check" "$build"/*.o -Xcompiler -pthread

if [ -n "${BUILD_ONLY:-}" ]; then exit 0; fi
timeout 400 "$build/check" "$what" | tee "$out"
if [ "$what" = correctness ] && command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    timeout 60 compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/check" small >"$build/$tool.log" 2>&1 &&
      echo "{\"check\": \"$tool\", \"ok\": true}" || echo "{\"check\": \"$tool\", \"ok\": false, \"log\": \"$build/$tool.log\"}"
  done | tee -a "$out"
fi
! grep -q '"ok": false' "$out"
