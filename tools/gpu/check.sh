#!/bin/bash
# check.sh probe|correctness|kernels|ranks|calls [OUT]: checks on a machine with an NVIDIA GPU; each takes less than 8 minutes, build
# included, and downloads nothing. Needs nvcc 12.8 or later and g++ 12 or later; builds into build/gpu, once. Results as JSON lines
# in OUT (default build/gpu/WHAT.json), logs beside it; status 0: no check failed, 77: something is missing, which is said.
#   probe        20 seconds: driver, clocks, tools, MPS, the device, rates of pinned memory, whether two processes can share memory
#                by CUDA IPC, and whether two NCCL ranks can share the GPU ($NCCL_LIBRARY, or the library that PyTorch brings)
#   correctness  frames CPU <-> GPU byte for byte, 2000 launches that look back, graph capture, compute-sanitizer if it is there
#   kernels      encode, decode, add, lossless and at a rate too, beside a copy and a += b on the device, and beside PyTorch's sum
#                and nvCOMP where $PYTHON (default: .venv/bin/python, python3) has them (peers.py); ends with a table (table.py)
#                and the card's rows of the kernel times that the choice of algorithms knows (kernel_times.py)
#   ranks        $RANKS (default 4) ranks of MPI that share the GPU: sums of frames over pinned memory of the host, the same
#                bits on each and on the CPU. Takes mpicxx of $MPI/bin, .venv/bin or PATH, and mpiexec beside it. MPI may be a
#                folder that `pip install --target` has filled from MPICH's wheel.
#   calls        the C calls on memory of a GPU, over MPI and NCCL, beside the same calls on the host (check_calls.sh, which names
#                what it needs and how another machine can build it)
# BUILD_ONLY=1 builds and runs nothing, also where there is no GPU; ARCH=90 says for which one (default: the one that is there).
set -euo pipefail
cd "$(dirname "$0")/../.."
what=${1:-}
case $what in probe | correctness | kernels | ranks) ;; calls) exec tools/gpu/check_calls.sh "${2:-build/gpu/calls.json}" ;; *) sed -n '2,/^set/{/^set/d;s/^# //;p}' "$0" >&2; exit 2 ;; esac
out=${2:-build/gpu/$what.json}
seconds=460 # for all of it

missing() { echo "check.sh: $1" >&2; exit 77; }
left() { echo $((seconds > SECONDS ? seconds - SECONDS : 1)); }

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || missing "there is no nvcc in PATH or /usr/local/cuda/bin"
command -v g++ >/dev/null || missing "there is no g++"
arch=${ARCH:-$( (nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true) | sed -n '1s/\.//p')}
build=build/gpu/sm_${arch:-90}
flags=(-std=c++20 -O3 --expt-relaxed-constexpr -fmad=false -diag-suppress 445 -arch="sm_${arch:-90}" -Isrc -Iinclude -I"$build/generated")
mkdir -p "$build/generated" "$(dirname "$out")"
# The files that CMake writes (cmake/Registry.cmake, cmake/InstructionSets.cmake). zfp is an entry without libzfp (zfp_entry.cpp).
printf 'TAUT_CODEC(%s)\n' blocks exponents mpc planes raw zfp >"$build/generated/codec_table.inc"
: >"$build/generated/absent_codec_table.inc"
for file in src/compressor/gpu/*/codec.cu; do echo "TAUT_DEVICE_CODEC($(basename "$(dirname "$file")"))"; done >"$build/generated/device_codec_table.inc"
echo 'TAUT_INSTRUCTION_SET(Scalar, "scalar", true)' >"$build/generated/instruction_sets.inc"
for text in planes/kernels/kernel_set.hpp mpc/kernel_set.hpp exponents/kernel_set.hpp blocks/kernel_set.hpp; do
  set_of=taut::${text%%/*}::KernelSet
  printf '#include "compressor/simd/scalar.hpp"\n#include "compressor/codecs/%s"\ntemplate const %s& %s::with<taut::simd::Scalar>() noexcept;\n' \
    "$text" "$set_of" "$set_of" >"$build/generated/${text%%/*}_scalar.cpp"
done
if [ "$what" = ranks ]; then
  mpicxx=
  for place in ${MPI:+"$MPI/bin/mpicxx"} "$PWD/.venv/bin/mpicxx" "$(command -v mpicxx || true)"; do
    [ -n "$mpicxx" ] || [ ! -x "$place" ] || mpicxx=$place
  done
  [ -n "$mpicxx" ] || missing "there is no mpicxx in \$MPI/bin, .venv/bin or PATH (tools/setup.sh build fetches MPICH into .venv)"
  mpiexec=("$(dirname "$mpicxx")/mpiexec")
  [ -x "${mpiexec[0]}" ] || missing "there is no mpiexec beside $mpicxx"
  LD_LIBRARY_PATH=$(dirname "$mpicxx")/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # MPICH's mpiexec needs an address of the host's own name, which a bare machine may lack.
  timeout 30 "${mpiexec[@]}" -n 2 true >/dev/null 2>&1 || mpiexec+=(-iface lo)
fi

# Objects are made anew if the contents of any source have changed: a copy of the tree may have younger files.
contents=$(find src include "$build/generated" tools/gpu tests/gpu/kernels -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | sha256sum)
[ "$(cat "$build/contents" 2>/dev/null)" = "$contents" ] || rm -f "$build"/*.o
echo "$contents" >"$build/contents"
object() { echo "$build/$(echo "$1" | tr / _).o"; }
stale() { [ ! -e "$1" ]; }
# The CPU's codec in portable code: the reference.
on_cpu() {
  ! stale "$(object "$1")" || g++ -std=c++20 -O2 -ffp-contract=off -Isrc -Iinclude -Itests -I"$build/generated" -c "$1" -o "$(object "$1")"
}
on_gpu() { # SOURCE NVCC'S OPTIONS...
  ! stale "$(object "$1")" || "$nvcc" "${flags[@]}" "${@:2}" -c "$1" -o "$(object "$1")"
}
export -f object stale on_cpu
export build
# Algorithms include a header that CMake generates; codecs do without them.
sources=$(find src/compressor/base src/compressor/values src/compressor/simd src/compressor/frame src/compressor/codecs/planes \
  src/compressor/codecs/blocks src/compressor/codecs/exponents src/compressor/codecs/mpc src/compressor/codecs/raw -name '*.cpp' ! -path '*/kernels/*/*')
sources+=" src/compressor/codecs/registry.cpp $build/generated/planes_scalar.cpp $build/generated/mpc_scalar.cpp $build/generated/exponents_scalar.cpp $build/generated/blocks_scalar.cpp"
sources+=" tools/gpu/zfp_entry.cpp src/compressor/codecs/zfp/shape.cpp tests/gpu/kernels/shim.cpp tests/gpu/kernels/rate_codec.cpp tools/gpu/rate_on_host.cpp"
gpu_sources=(src/compressor/gpu/*.cu src/compressor/gpu/*/*.cu)
main=()
for part in check bench_planes check_lagged check_lossless check_rate plain; do main+=("tools/gpu/$part.cu"); done
program=$build/check mpi=()
case $what in
  ranks) main=(tools/gpu/ranks.cpp) program=$build/ranks mpi=(-ccbin "$mpicxx") ;;
  probe) main=(tools/gpu/probe.cpp) program=$build/probe gpu_sources=() sources= ;; # quick to build
esac
tr -s ' ' '\n' <<<"$sources" | xargs -r -P "$(nproc)" -I{} bash -c 'on_cpu {}' &
jobs=($!)
for source in "${gpu_sources[@]}"; do on_gpu "$source" & jobs+=($!); done
for source in "${main[@]}"; do on_gpu "$source" "${mpi[@]}" -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job"; done
mapfile -t objects < <(for source in $sources "${gpu_sources[@]}" "${main[@]}"; do object "$source"; done)
"$nvcc" "${mpi[@]}" -cudart static -o "$program" "${objects[@]}" -Xcompiler -pthread -ldl
if [ -n "${BUILD_ONLY:-}" ]; then exit 0; fi

run() { # COMMAND...: within the time that is left; its lines into OUT
  local status=0
  timeout "$(left)" "$@" | tee -a "$out" || status=$?
  [ $status -ne 124 ] || echo '{"check": "time", "ok": false, "error": "it took too long"}' | tee -a "$out"
}
: >"$out"
for python in ${PYTHON:-"$PWD/.venv/bin/python" python3}; do
  ! command -v "$python" >/dev/null || break
done
tell() { # NAME TEXT
  local text=${2//\"/}
  printf '{"probe": "%s", "is": "%s"}\n' "$1" "${text//$'\n'/; }" | tee -a "$out"
}
probe() {
  tell driver "$(nvidia-smi --query-gpu=driver_version,compute_mode,mig.mode.current --format=csv,noheader 2>&1 | head -3)"
  tell clocks "$(nvidia-smi --query-gpu=clocks.sm,clocks.max.sm,clocks.mem,power.limit,temperature.gpu --format=csv,noheader 2>&1 | head -3)"
  for tool in nvidia-cuda-mps-control compute-sanitizer ncu nsys mpiexec; do tell "$tool" "$(command -v $tool || echo absent)"; done
  NCCL_LIBRARY=${NCCL_LIBRARY:-$("$python" -c 'import importlib.util as u; p = u.find_spec("nvidia.nccl")
print(p.submodule_search_locations[0] + "/lib/libnccl.so.2")' 2>/dev/null || true)}
  export NCCL_LIBRARY
  run "$program"
}
case $what in
  probe) probe ;;
  ranks) run "${mpiexec[@]}" -n "${RANKS:-4}" "$program" ;;
  *) run "$program" "$what" ;;
esac
if [ "$what" = kernels ]; then
  run "$python" tools/gpu/peers.py "$program" "$out"
  "$python" tools/gpu/table.py "$out" || true
  "$python" tools/gpu/kernel_times.py "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)" "$out" || true
fi
sanitizer=$(command -v compute-sanitizer || echo "$(dirname "$nvcc")/compute-sanitizer")
sanitize() { # TOOL: a line of what it finds
  local status=0 log=${out%.json}.$1.log
  if [ ! -x "$sanitizer" ]; then
    echo "{\"check\": \"$1\", \"skipped\": \"there is no compute-sanitizer in PATH or beside nvcc\"}"
    return
  fi
  timeout "$(left)" "$sanitizer" --tool "$1" --error-exitcode 9 "$program" small >"$log" 2>&1 || status=$?
  # A sanitizer does not attach everywhere, for example in some containers.
  if [ $status -ne 0 ] && ! grep -q 'ERROR SUMMARY: [1-9]' "$log" && grep -qiE 'device not supported|not supported on|no attachable process|unable to (find|attach)' "$log"; then
    echo "{\"check\": \"$1\", \"skipped\": \"compute-sanitizer does not support the device here\", \"log\": \"$log\"}"
    return
  fi
  case $status in
    0) echo "{\"check\": \"$1\", \"ok\": true}" ;;
    124) echo "{\"check\": \"$1\", \"skipped\": \"out of time\"}" ;;
    *) echo "{\"check\": \"$1\", \"ok\": false, \"log\": \"$log\"}" ;;
  esac
}
if [ "$what" = correctness ]; then
  for tool in memcheck racecheck initcheck synccheck; do sanitize "$tool"; done | tee -a "$out"
fi
grep -q '"ok": \|"bench"\|"probe"' "$out" && ! grep -q '"ok": false' "$out"
