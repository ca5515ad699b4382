#!/bin/bash
# check.sh correctness|kernels|ranks [OUT]: checks on a machine with an NVIDIA GPU; each takes less than 8 minutes, build
# included, and downloads nothing. Needs nvcc 12.8 or later and g++ 12 or later; builds into build/gpu, once. Results as JSON lines
# in OUT (default build/gpu/WHAT.json); status 0: no check failed, 77: something is missing, which is said.
#   correctness  frames CPU <-> GPU byte for byte, 2000 launches that look back, graph capture, compute-sanitizer if it is there
#   kernels      encode, decode, add, lossless and at a rate too, beside a copy and a += b on the device, and beside PyTorch's sum
#                and nvCOMP where $PYTHON (default: .venv/bin/python, python3) has them (peers.py); ends with a table (table.py)
#   ranks        $RANKS (default 4) ranks of MPI that share the GPU: sums of frames over pinned memory of the host, the same
#                bits on each and on the CPU. Takes mpicxx of $MPI/bin, .venv/bin or PATH, and mpiexec beside it.
# BUILD_ONLY=1 builds and runs nothing, also where there is no GPU; ARCH=90 says for which one (default: the one that is there).
set -euo pipefail
cd "$(dirname "$0")/../.."
what=${1:-}
case $what in correctness | kernels | ranks) ;; *) sed -n '2,/^set/{/^set/d;s/^# //;p}' "$0" >&2; exit 2 ;; esac
out=${2:-build/gpu/$what.json}
seconds=460 # for all of it

missing() { echo "check.sh: $1" >&2; exit 77; }
left() { echo $((seconds > SECONDS ? seconds - SECONDS : 1)); }

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || missing "there is no nvcc in PATH or /usr/local/cuda/bin"
command -v g++ >/dev/null || missing "there is no g++"
arch=${ARCH:-$( (nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true) | sed -n '1s/\.//p')}
build=build/gpu/sm_${arch:-90}
flags=(-std=c++20 -O3 --expt-relaxed-constexpr -fmad=false -diag-suppress 445 -arch="sm_${arch:-90}" -Isrc -Iinclude)
mkdir -p "$build" "$(dirname "$out")"
if [ "$what" = ranks ]; then
  mpicxx=
  for place in ${MPI:+"$MPI/bin/mpicxx"} "$PWD/.venv/bin/mpicxx" "$(command -v mpicxx || true)"; do
    [ -n "$mpicxx" ] || [ ! -x "$place" ] || mpicxx=$place
  done
  [ -n "$mpicxx" ] || missing "there is no mpicxx in \$MPI/bin, .venv/bin or PATH (tools/setup.sh build fetches MPICH into .venv)"
  mpiexec=$(dirname "$mpicxx")/mpiexec
  [ -x "$mpiexec" ] || missing "there is no mpiexec beside $mpicxx"
fi

# Objects are made anew where any source is newer.
object() { echo "$build/$(echo "$1" | tr / _).o"; }
stale() { [ ! -e "$1" ] || [ -n "$(find src include tools/gpu tests/gpu/kernels -newer "$1" -print -quit)" ]; }
# The CPU's codec in portable code: the reference.
on_cpu() {
  ! stale "$(object "$1")" || g++ -std=c++20 -O2 -ffp-contract=off -DTAUT_X86=0 -Isrc -Iinclude -Itests -c "$1" -o "$(object "$1")"
}
on_gpu() { # SOURCE NVCC'S OPTIONS...
  ! stale "$(object "$1")" || "$nvcc" "${flags[@]}" "${@:2}" -c "$1" -o "$(object "$1")"
}
export -f object stale on_cpu
export build
sources=$(find src/core src/codecs/planes src/codecs/mpc -name '*.cpp' ! -name 'avx*' ! -path '*/avx*')
sources+=" src/codecs/zfp/shape.cpp tests/gpu/kernels/shim.cpp tools/gpu/rate_on_host.cpp"
echo "$sources" | xargs -P "$(nproc)" -I{} bash -c 'on_cpu {}' &
jobs=($!)
gpu_sources=(src/gpu/cuda.cu src/gpu/cuda_lagged.cu src/gpu/cuda_lossless.cu src/gpu/cuda_rate.cu)
main=(tools/gpu/check.cu tools/gpu/check_lagged.cu tools/gpu/check_lossless.cu tools/gpu/check_rate.cu tools/gpu/plain.cu)
program=$build/check mpi=()
if [ "$what" = ranks ]; then main=(tools/gpu/ranks.cpp) program=$build/ranks mpi=(-ccbin "$mpicxx"); fi
for source in "${gpu_sources[@]}"; do on_gpu "$source" & jobs+=($!); done
for source in "${main[@]}"; do on_gpu "$source" "${mpi[@]}" -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job"; done
mapfile -t objects < <(for source in $sources "${gpu_sources[@]}" "${main[@]}"; do object "$source"; done)
"$nvcc" "${mpi[@]}" -cudart static -o "$program" "${objects[@]}" -Xcompiler -pthread
if [ -n "${BUILD_ONLY:-}" ]; then exit 0; fi

run() { # COMMAND...: within the time that is left; its lines into OUT
  local status=0
  timeout "$(left)" "$@" | tee -a "$out" || status=$?
  [ $status -ne 124 ] || echo '{"check": "time", "ok": false, "error": "it took too long"}' | tee -a "$out"
}
: >"$out"
if [ "$what" = ranks ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  run "$mpiexec" -n "${RANKS:-4}" "$program"
else
  run "$program" "$what"
fi
if [ "$what" = kernels ]; then
  for python in ${PYTHON:-"$PWD/.venv/bin/python" python3}; do
    ! command -v "$python" >/dev/null || break
  done
  run "$python" tools/gpu/peers.py "$program" "$out"
  "$python" tools/gpu/table.py "$out" || true
fi
sanitizer=$(command -v compute-sanitizer || echo "$(dirname "$nvcc")/compute-sanitizer")
sanitize() { # TOOL: a line of what it finds
  local status=0 log=$build/$1.log
  if [ ! -x "$sanitizer" ]; then
    echo "{\"check\": \"$1\", \"skipped\": \"there is no compute-sanitizer in PATH or beside nvcc\"}"
    return
  fi
  timeout "$(left)" "$sanitizer" --tool "$1" --error-exitcode 9 "$program" small >"$log" 2>&1 || status=$?
  case $status in
    0) echo "{\"check\": \"$1\", \"ok\": true}" ;;
    124) echo "{\"check\": \"$1\", \"skipped\": \"out of time\"}" ;;
    *) echo "{\"check\": \"$1\", \"ok\": false, \"log\": \"$log\"}" ;;
  esac
}
if [ "$what" = correctness ]; then
  for tool in memcheck racecheck initcheck synccheck; do sanitize "$tool"; done | tee -a "$out"
fi
grep -q '"ok": \|"bench"' "$out" && ! grep -q '"ok": false' "$out"
