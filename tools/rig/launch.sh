#!/bin/bash
# launch.sh NAME HOSTS RANKS_PER_HOST MPIEXEC COMMAND...: an MPI program on the hosts of a rig, started from host 0.
# MPIEXEC is the launcher of the MPI that the program was built with: MPICH, Intel MPI, Open MPI 4 or 5.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../mpi_family.sh"
name=$1 hosts=$2 per_host=$3 mpiexec=$4
shift 4

list() { # NAMEh0:1,NAMEh1:1,...
  for ((i = 0; i < hosts; i++)); do printf '%s%sh%d:%d' "$([ "$i" = 0 ] || echo ,)" "$name" "$i" "$per_host"; done
}
ranks=$((hosts * per_host))
# Open MPI waits without yielding. Where the ranks take all cores, the kernel then moves the bytes late: on 2 cores plain
# messages between 2 hosts reached 0.7 of a link one way and 0.36 both ways, with yielding 0.9 and 0.95.
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
family=$(mpi_family "$mpiexec")
case $family in
  mpich) options=(-launcher rsh -launcher-exec "$here/nsh" -hosts "$(list)" -n "$ranks") ;;
  *)
    by="tcp,self"
    [ "$per_host" = 1 ] || by+=,$([ "$family" = openmpi4 ] && echo vader || echo sm) # shared memory within a host
    options=(--mca plm_rsh_agent "$here/nsh" --mca btl "$by" --mca pml ob1 --host "$(list)" -np "$ranks") ;;
esac
# shellcheck disable=SC2207  # the options are plain words
options+=($(mpi_oversubscribe "$family"))

printf -v command '%q ' "$mpiexec" "${options[@]}" "$@"
exec "$here/nsh" "${name}h0" "cd $(printf %q "$PWD") && exec $command"
