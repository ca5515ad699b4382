#!/bin/bash
# command_line.sh PROGRAM FOLDER: the installed program works, and needs neither libtaut nor MPI.
set -euo pipefail
program=$1
cd "$2"
! ldd "$program" | grep -E 'taut|mpi|not found' || exit 1
head -c 40000 /dev/zero | tr '\0' 'A' > command_line.f32
"$program" compress command_line.f32 --shape 100x100 --quiet --force
"$program" decompress command_line.f32.taut -o command_line.back --quiet --force
cmp command_line.f32 command_line.back
"$program" info command_line.f32.taut | grep '100x100 f32'
