#!/bin/bash
# pkg_config.sh LIBDIR MPICC PROGRAM MPIEXEC...: builds program.c with the flags that pkg-config gives, and runs it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libdir=$1 mpicc=$2 program=$3
shift 3
export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags <<< "$(pkg-config --cflags --libs taut)"
"$mpicc" "$here/program.c" -o "$program" "${flags[@]}" -lm
LD_LIBRARY_PATH=$libdir exec "$@" "$program"
