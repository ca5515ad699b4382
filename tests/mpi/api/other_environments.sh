#!/bin/bash
# other_environments.sh COMMAND...: on every other rank with other variables for Taut; to be started by mpiexec.
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}
if [ $((rank % 2)) = 1 ]; then
  export TAUT_KERNELS=scalar TAUT_THREADS=2 TAUT_RANKS_PER_NODE=1 TAUT_SUMMARY=1 TAUT_NONSENSE=1
fi
exec "$@"
