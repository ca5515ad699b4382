#!/bin/bash
# check_calls.sh [OUT]: check.sh's part `calls`. Runs the C calls of Taut on memory of a GPU, over MPI and NCCL; test
# programs compare them with the same calls on the host. All ranks share the GPU. Results as JSON lines in OUT (default
# build/gpu/calls.json), what the programs print in calls.log beside it. Status 0: no program has failed.
# Builds into build/gpu/calls by CMake, with an MPI ($MPI, .venv or PATH), GoogleTest and nvcc. A machine that lacks them
# takes what another one has built:
#   PACK=FOLDER tools/gpu/check_calls.sh      builds, leaves programs and libraries in FOLDER, and runs nothing
#   BUILT=FOLDER tools/gpu/check_calls.sh     runs them
# LIMIT=240: seconds for all programs. ARCH=90: the GPU's architecture, if it is not here. NCCL and CUPTI, which counts
# kernels, are looked for in $NCCL_LIBRARY and $CUPTI_LIBRARY, the folders of CUDA and of PyTorch.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
mkdir -p build/gpu
out=$(realpath -m "${1:-build/gpu/calls.json}")
log=${out%.json}.log
mpi=${MPI:-$PWD/.venv}
[ -x "$mpi/bin/mpiexec" ] || mpi=$(dirname "$(dirname "$(command -v mpiexec || echo /usr/bin/mpiexec)")")

missing() { echo "check_calls.sh: $1" >&2; exit 77; }

build() {
  local nvcc
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  [ -x "$nvcc" ] || missing "there is no nvcc in PATH or /usr/local/cuda/bin"
  command -v cmake >/dev/null || missing "there is no cmake"
  [ -x "$mpi/bin/mpiexec" ] || missing "there is no mpiexec in \$MPI/bin, .venv/bin or PATH"
  cmake --preset release -B build/gpu/calls -DBUILD_TESTING=ON -DTAUT_CUDA=ON -DCMAKE_CUDA_COMPILER="$nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES="${ARCH:-native}" -DTAUT_MPI="$mpi" >&2 || missing "CMake refuses, see above"
  cmake --build build/gpu/calls --target real_gpu_tests >&2 || missing "the programs could not be built, see above"
}

# Copies programs and libraries into a folder; those of CUDA, NCCL and the C and C++ libraries stay out.
pack() { # FOLDER
  local at=build/gpu/calls library
  mkdir -p "$1/bin" "$1/lib/taut"
  cp $at/tests/gpu/real/*_on_real_gpu tests/gpu/real/ranks.sh $at/examples/gpu/halo $at/examples/gpu/stacking \
    $at/examples/wave3d/wave3d_cuda "$1/bin"
  cp -L $at/libtaut.so.0 $at/libtaut_cuda.so.0 $at/lib/libtaut_nccl.so.0 $at/tests/gpu/real/*.so "$1/lib"
  cp $at/lib/taut/*.so "$1/lib/taut"
  cp "$mpi"/bin/mpiexec "$mpi"/bin/hydra_pmi_proxy "$1/bin" 2>/dev/null || true
  # What they are linked to, as the loader finds it here.
  find "$1/bin" "$1/lib" -type f -print0 | xargs -0 ldd 2>/dev/null | awk '$2 == "=>" && $3 ~ "^/" {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libgomp|libcuda|libcudart|libnccl|libtaut[a-z_]*|libreal_gpu)\.so' |
    while read -r library; do cp -L "$library" "$1/lib"; done
  find "$1/bin" "$1/lib" -type f -exec strip {} + 2>/dev/null
}

if [ -z "${BUILT:-}" ]; then
  build
  BUILT=${PACK:-$PWD/build/gpu/calls/packed}
  rm -rf "$PWD/build/gpu/calls/packed"
  pack "$BUILT"
  [ -z "${PACK:-}" ] || exit 0
fi
built=$(realpath "$BUILT")
[ -x "$built/bin/taut_on_real_gpu" ] || missing "there is no $built/bin/taut_on_real_gpu"

# ---- The programs

first() { # NAME FOLDERS...: the first library of that name
  find "${@:2}" -name "$1" 2>/dev/null | head -1
}
python=$(command -v "${PYTHON:-python3}" || true)
packages=$([ -z "$python" ] || "$python" -c 'import site; print(*site.getsitepackages())' 2>/dev/null)
# shellcheck disable=SC2086 # several folders
nccl=${NCCL_LIBRARY:-$(first libnccl.so.2 $packages /usr/local /usr/lib)}
# shellcheck disable=SC2086
cupti=${CUPTI_LIBRARY:-$(first 'libcupti.so.1[23]' /usr/local/cuda*/lib64 /usr/local/cuda*/extras $packages /usr/lib)}
libraries=$built/lib
for library in "$nccl" "$cupti"; do [ -z "$library" ] || libraries+=:$(dirname "$library"); done
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ -n "$cupti" ] || export TAUT_TEST_NO_CUPTI=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

launcher=$built/bin/mpiexec
[ -x "$launcher" ] || launcher=$mpi/bin/mpiexec
mpiexec=("$launcher")
# MPICH's mpiexec needs an address of the host's own name, which a bare machine may lack.
timeout 30 "${mpiexec[@]}" -n 2 true >/dev/null 2>&1 || mpiexec+=(-iface lo)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$(dirname "$out")"
: >"$out"
: >"$log"
end=$((SECONDS + ${LIMIT:-240}))

tell() { # NAME FIELDS
  echo "{\"check\": \"$1\", $2}" | tee -a "$out"
}
# The line that says best what went wrong.
error_of() { # FILE
  local line
  line=$(grep -aE 'real GPU:|[Ff]ail|[Ee]rror|what\(\)|deadlock|rank [0-9]+: [a-zA-Z]' "$1" | grep -avE '\[ +(OK|RUN|PASSED) |\[ +FAILED' | head -1)
  printf '%s' "${line:-$(tail -1 "$1")}" | tr -d '"\\\000-\037' | cut -c1-200
}
check() { # NAME SECONDS COMMAND...
  local name=$1 limit=$2 left=$((end - SECONDS)) status=0 start=${EPOCHREALTIME/[.,]/} took
  shift 2
  if [ "$left" -lt 5 ]; then
    tell "$name" '"ok": false, "error": "no time is left"'
    return
  fi
  timeout -k 2 $((limit < left ? limit : left)) "$@" >"$folder/log" 2>&1 </dev/null || status=$?
  took=$(((${EPOCHREALTIME/[.,]/} - start) / 1000))
  case $status in
    0) tell "$name" "\"ok\": true, \"ms\": $took" ;;
    124 | 137) tell "$name" "\"ok\": false, \"ms\": $took, \"error\": \"it took too long: $(error_of "$folder/log")\"" ;;
    *) tell "$name" "\"ok\": false, \"ms\": $took, \"error\": \"$(error_of "$folder/log")\"" ;;
  esac
  { echo "==== $name: status $status: $*"; head -c 100000 "$folder/log"; echo; } >>"$log"
}
mpi() { # NAME SECONDS RANKS COMMAND...
  check "$1.n$3" "$2" "${mpiexec[@]}" -n "$3" "${@:4}"
}
tests() { # NAME SECONDS COMMAND...
  check "$1" "$2" "${@:3}" --gtest_brief=1
}

bin=$built/bin
tell libraries "\"nccl\": \"$nccl\", \"cupti\": \"$cupti\""
mpi taut_on_gpus 30 2 "$bin/taut_on_real_gpu"
mpi taut_on_gpus 30 3 "$bin/taut_on_real_gpu"
TAUT_RANKS_PER_NODE=2 mpi taut_on_gpus 40 4 "$bin/taut_on_real_gpu" # as if there were two nodes
for ranks in 2 3; do
  mpi taut_messages_on_gpus 40 $ranks "$bin/taut_messages_on_real_gpu" rates
  mpi taut_streams 40 $ranks "$bin/taut_streams_on_real_gpu" calls
done
# MPI gets pointers into the memory of the GPU.
aware="LD_PRELOAD=$built/lib/libaware_mpi_on_real_gpu.so"
mpi taut_messages_on_gpus.aware 40 2 env "$aware" "$bin/taut_messages_on_real_gpu" aware
mpi halo 20 2 "$bin/halo" 512 512 5
mpi stacking 20 2 "$bin/stacking" 1024 1024
mpi wave3d_cuda 40 4 env "$aware" "$bin/wave3d_cuda" --cells 32x32x32 --ranks 2x1x2 --steps 60 --sponge 4 \
  --variants 'plain/collective;lossless;abs:1e-4;abs:1e-4/collective;rate:16' --out "$folder/wave3d"
preload="LD_PRELOAD=$built/lib/taut/libtaut_preload.so"
for rules in 'Send : abs=1e-3, codec=planes, when=always' 'Send : lossless, codec=mpc, when=always'; do
  mpi "dropin ${rules%%,*}" 30 2 env "$preload" TAUT_MESSAGES=1 TAUT_RULES="$rules" "$bin/dropin_on_real_gpu"
done

# Each rank of NCCL is a process. What one process alone can do on several GPUs, or a simulated NCCL refuses, is left out.
if [ -x "$bin/nccl_on_real_gpu" ] && [ -n "$nccl" ]; then
  check nccl_sum 30 "$bin/nccl_sum" 4000000
  for ranks in 2 4; do tests nccl_calls.n$ranks 60 "$bin/ranks.sh" $ranks "$bin/nccl_on_real_gpu"; done
  program=("$bin/nccl_program_on_real_gpu" '--gtest_filter=-*OneThread*:*SeveralCommunicators:*CapturedStreams*')
  tests nccl_program.alone 30 "$bin/ranks.sh" 3 "${program[@]}"
  tests nccl_program.without_rules 30 "$bin/ranks.sh" 3 env "$preload" "${program[@]}"
  TAUT_RULES='* f32 >=4KiB : abs=1e-3 codec=planes when=always; Send f32 >=4KiB : rate=24 bits=rounded' \
    tests nccl_program.rules 30 "$bin/ranks.sh" 3 env "$preload" "${program[@]}"
else
  tell nccl '"skipped": "there is no libnccl.so.2"'
fi

tests cuda_calls 30 "$bin/cuda_calls_on_real_gpu"
tests cuda_messages 30 "$bin/cuda_messages_on_real_gpu"
tests cuda_collectives 120 "$bin/cuda_collectives_on_real_gpu"
! grep -q '"ok": false' "$out"
