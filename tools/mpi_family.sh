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

# mpi_fits MPIEXEC PROGRAM: fails with a line if the launcher is of another MPI than the one that the program is linked to. It would
# start 4 programs of 1 rank for one of 4.
mpi_fits() {
  local library launcher program
  library=$(ldd "$2" 2>/dev/null | grep -oE 'libmpi(ch)?\.so\.[0-9]+' | head -n 1 || true)
  case $library in
    libmpich.* | libmpi.so.12) program=mpich ;;
    libmpi.so.*) program=openmpi ;;
    *) return 0 ;;
  esac
  launcher=$(mpi_family "$1") || return 1
  [ "${launcher%[45]}" = "$program" ] || {
    echo "$1 is the launcher of ${launcher%[45]}, and $2 is a program of $program ($library): 4 ranks would be 4 programs of 1 rank." \
      "Configure with -DMPIEXEC_EXECUTABLE=/path/to/mpiexec of $program" >&2
    return 1
  }
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
