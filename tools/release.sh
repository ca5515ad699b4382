#!/bin/bash
# PLACE=https://HOST/FOLDER release.sh: makes the artefacts of the version that CMakeLists.txt states, in dist/, from the commit that is checked out:
# source archive; wheel for this machine's processor, and for AArch64 if root runs it on x86-64 with apt-get; documentation; Debian
# packages, where there is apt-get; recipes that download the archive from PLACE; checksums of all. Publishes nothing.
set -euo pipefail
: "${PLACE:?release.sh: set PLACE to the address of the folder from which the source archive will be downloaded}"
cd "$(dirname "$0")/.."
version=$(tools/version.sh)
[ -z "$(git status --porcelain)" ] || { echo "release.sh: commit or stash your changes first" >&2; exit 1; }
grep -q "^## $version " CHANGELOG.md || { echo "release.sh: CHANGELOG.md has no section $version" >&2; exit 1; }
rm -rf dist
make wheel
if [ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] && command -v apt-get >/dev/null; then
  make wheel-aarch64
fi
make docs
tar -C build/docs -czf "dist/taut-$version-docs.tar.gz" html
if command -v apt-get >/dev/null; then
  make debian
fi
sum=$(sha256sum "dist/taut-$version.tar.gz" | cut -d ' ' -f 1)
packaging/release_recipes.py "$PLACE" "$sum" dist/recipes
(cd dist && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum > SHA256SUMS)
echo "dist/ holds version $version. Next: git tag v$version"
