#!/bin/bash
# version.sh: prints the version of Taut, which CMakeLists.txt states.
sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' "$(dirname "$0")/../CMakeLists.txt"
