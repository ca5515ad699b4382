#!/bin/bash
# build.sh [DPKG-BUILDPACKAGE OPTIONS]: Debian packages of the commit that is checked out, in dist/debian/, for the Debian that
# this machine runs; lintian judges them. `make debian` installs what it needs first.
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=$PWD/build/debian/taut
rm -rf "$tree"
mkdir -p "$tree" dist/debian
git archive HEAD | tar -x -C "$tree"
cp -r "$tree/packaging/debian" "$tree/debian"
rm -f build/debian/*.deb build/debian/*.changes dist/debian/*
cd "$tree"
dpkg-buildpackage -us -uc -b "$@"
cd ..
lintian --fail-on error,warning --display-info ./*.changes
cp ./*.deb ./*.buildinfo ./*.changes ../../dist/debian/
