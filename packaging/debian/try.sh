#!/bin/bash
# try.sh: installs the packages of dist/debian (build.sh) in an empty root of Debian bookworm, with either MPI, and runs the
# smoke test there. Needs root, debootstrap and the network. The root is kept in build/roots/packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD/build/roots/packages
if [ ! -d "$root" ]; then
  rm -rf "$root.part"
  debootstrap --variant=minbase bookworm "$root.part" ${MIRROR:+"$MIRROR"}
  mv "$root.part" "$root"
fi
cleanup() { umount --lazy "$root/proc" "$root/dev/shm" "$root/dev" 2>/dev/null || true; }
trap cleanup EXIT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm" 2>/dev/null || true
cp /etc/resolv.conf "$root/etc/"
rm -rf "$root/tried"
mkdir -p "$root/tried/examples"
cp dist/debian/*.deb packaging/smoke.sh "$root/tried/"
cp -r examples/unchanged examples/languages "$root/tried/examples/"
mkdir "$root/tried/packaging" && mv "$root/tried/smoke.sh" "$root/tried/packaging/"
chroot "$root" sh -ec '
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends /tried/*.deb gcc gfortran libc6-dev pkg-config mpich libmpich-dev openmpi-bin libopenmpi-dev >/dev/null
  for mpi in mpich openmpi; do
    /tried/packaging/smoke.sh /usr/bin/taut mpicc.$mpi mpiexec.$mpi
  done
  cd /tmp
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  mpif90.openmpi $(pkg-config --variable=fortran_module taut) /tried/examples/languages/sum_module.f90 -o sum $(pkg-config --libs taut)
  mpiexec.openmpi --oversubscribe -n 2 ./sum
'
echo "try.sh: the packages work"
