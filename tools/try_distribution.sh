#!/bin/bash
# try_distribution.sh SUITE [TARGET...]: make TARGET (default: demo test) from a bare clone in an empty root of Debian SUITE
# (bookworm, trixie) or of another distribution that debootstrap knows (MIRROR). Needs root, debootstrap and the network.
# The root is kept in build/roots/SUITE; each run replaces the clone in it.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=$1
shift
[ $# -gt 0 ] || set -- demo test
root=$PWD/build/roots/$suite
if [ ! -d "$root" ]; then
  rm -rf "$root.part"
  debootstrap --variant=minbase --include=git,make,g++,python3,ca-certificates "$suite" "$root.part" ${MIRROR:+"$MIRROR"}
  mv "$root.part" "$root"
fi
rm -rf "$root/clone"
git clone --quiet . "$root/clone"
cleanup() { umount --lazy "$root/proc" "$root/sys" "$root/dev/shm" "$root/dev" 2>/dev/null || true; }
trap cleanup EXIT
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys" # UCX and hwloc complain without it
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm" 2>/dev/null || true
# A proxy that this machine trusts is trusted there as well.
for name in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do [ ! -e $name ] || cp $name "$root$name"; done
for target in "$@"; do
  chroot "$root" make -C /clone "$target"
  echo "try_distribution: $suite: make $target works"
done
