#!/bin/bash
# build_smpi.sh BUILD_DIR: builds BUILD_DIR/taut_smpi with SimGrid's compiler wrapper from the sources of the simulation, the
# MPI transport and the objects of taut_compressor and taut_communication in BUILD_DIR. Needs the Debian package libsimgrid-dev.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
command -v smpicxx >/dev/null || { echo "build_smpi.sh: smpicxx is missing (package libsimgrid-dev)" >&2; exit 3; }
sources=(bench/simulation/{smpi_main,scenario,simulate,collective_run,modelled_codec,packets,virtual_network,virtual_ranks}.cpp)
libraries=(-fopenmp -ldl -lpthread)
[ ! -e /usr/include/zfp.h ] || libraries+=(-lzfp)
mapfile -t objects < <(find "$build/CMakeFiles/taut_compressor.dir" "$build/CMakeFiles/taut_communication.dir" -name '*.o')
smpicxx -std=c++20 -O2 -Isrc -Iinclude "-I$build/generated" -Ibench/simulation "${sources[@]}" src/communication/transports/mpi.cpp \
  "${objects[@]}" -o "$build/taut_smpi" "${libraries[@]}"
