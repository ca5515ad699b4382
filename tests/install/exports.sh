#!/bin/bash
# exports.sh LIBRARY: fails unless all the library exports begins with TAUT_, and is what programs may be linked to.
set -euo pipefail
names=$(nm -D --defined-only "$1" | awk '{print $3}' | sed -E 's/(_is_built_with_)(mpich|openmpi|mpiabi)@/\1KIND@/')
grep -q '^TAUT_Allreduce@' <<<"$names"
others=$(grep -v '^TAUT_' <<<"$names" || true)
[ -z "$others" ] || { printf 'exported, but not of the API:\n%s\n' "$others"; exit 1; }
record=$(dirname "$0")/../../packaging/abi/symbols.txt
fortran=^TAUT_F_ # the standard ABI has no module mpi_f08
[[ $(nm -D "$1") == *_is_built_with_mpiabi* ]] || fortran='^$'
differences=$(LC_ALL=C diff <(grep -v "$fortran" "$record") <(LC_ALL=C sort <<<"$names")) || { printf 'other names than recorded (docs/abi.md):\n%s\n' "$differences"; exit 1; }
