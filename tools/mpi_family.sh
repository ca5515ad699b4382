# shellcheck shell=bash
# To be sourced. mpi_family MPIEXEC: prints mpich, openmpi4 or openmpi5; Intel MPI counts as mpich (the same launcher).
mpi_family() {
  case $("$1" --version 2>&1 || true) in
    *"Open MPI) 4"* | *OpenRTE*) echo openmpi4 ;;
    *"Open MPI"* | *PRRTE*) echo openmpi5 ;;
    *HYDRA* | *Intel*) echo mpich ;;
    *) echo "cannot tell which MPI $1 belongs to" >&2; return 1 ;;
  esac
}

# mpi_oversubscribe FAMILY: launcher options that allow more ranks than cores.
mpi_oversubscribe() {
  case $1 in
    openmpi4) echo --oversubscribe ;;
    openmpi5) echo --map-by :OVERSUBSCRIBE --bind-to none ;;
  esac
}

# Open MPI refuses to run as root, as one is in containers and must be for emulated hosts, unless told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
