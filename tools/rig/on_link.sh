#!/bin/bash
# on_link.sh [options] -- PROGRAM ARGUMENTS: runs an MPI program on emulated hosts joined by shaped links.
#   --mpiexec PATH     launcher of the program's MPI (default: mpiexec)
#   --mbit N           rate of each link each way (default 1000)
#   --hosts N          emulated hosts (default 2)
#   --per-host N       ranks on each (default 1)
#   --seconds N        everything is ended after this long (default 300)
#   --gate fail|warn   what to do when plain MPI does not reach 0.9 of the link (default fail: exit status 3)
#   --tries N          how often the check is tried (default 10)
# Sets up a rig of its own name, checks plain MPI against the link, runs the program, takes the rig down in any case.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mpiexec=mpiexec mbit=1000 hosts=2 per_host=1 seconds=300 gate=fail tries=10
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --) shift; break ;;
    --mpiexec) mpiexec=$2 ;; --mbit) mbit=$2 ;; --hosts) hosts=$2 ;;
    --per-host) per_host=$2 ;; --seconds) seconds=$2 ;; --gate) gate=$2 ;; --tries) tries=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[ $# -gt 0 ] || usage
[ "$(id -u)" = 0 ] || { echo "on_link.sh: emulated hosts need root" >&2; exit 2; }
for tool in ip tc unshare; do
  command -v "$tool" >/dev/null || { echo "on_link.sh: $tool is missing (packages iproute2, util-linux)" >&2; exit 2; }
done
mpiexec=$(readlink -e "$(dirname "$(command -v "$mpiexec")")")/$(basename "$mpiexec")

name=taut$$
scratch=$(mktemp -d)
trap '"$here/rig.sh" down "$name"; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
run() { # SECONDS HOSTS RANKS_PER_HOST COMMAND...: on the rig, bounded in time. In the background, so that a signal to
  # this script is acted on at once.
  timeout --kill-after=5 "$1" "$here/launch.sh" "$name" "$2" "$3" "$mpiexec" "${@:4}" </dev/null &
  wait $!
}

# The compiler wrapper beside the launcher: mpiexec -> mpicc, mpirun.openmpi -> mpicc.openmpi, mpiexec.hydra -> mpicc.
build_gate() {
  local wrapper
  for wrapper in "$(sed -E 's/mpi(exec|run)([^/]*)$/mpicc\2/' <<< "$mpiexec")" "$(dirname "$mpiexec")/mpicc"; do
    if [ -x "$wrapper" ]; then "$wrapper" -O2 "$here/gate.c" -o "$scratch/gate"; return; fi
  done
  echo "on_link.sh: no mpicc beside $mpiexec" >&2
  return 1
}

pass_gate() { # between two hosts, one rank each; on a busy machine it may take many attempts
  [ "$mbit" != 0 ] && [ "$hosts" -gt 1 ] || return 0
  for ((i = 0; i < tries; i++)); do
    run 60 2 1 "$scratch/gate" "$mbit" 0.9 | tee "$scratch/gate.txt"
    grep -q 'passed$' "$scratch/gate.txt" && return 0
    sleep 1
  done
  return 1
}

# MPICH's collectives among the ranks of one host wait without yielding: with fewer cores than ranks they take seconds.
if [ $((hosts * per_host)) -gt "$(nproc)" ]; then
  export MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE=${MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE:-0}
fi
build_gate
"$here/rig.sh" sweep
"$here/rig.sh" up "$name" "$hosts" "$mbit"
warning=""
if ! pass_gate; then
  warning="on_link.sh: plain MPI did not reach 0.9 of the link: times on it mean little (busy machine?)"
  [ "$gate" = warn ] || { echo "$warning" >&2; exit 3; }
fi
status=0
run "$seconds" "$hosts" "$per_host" "$@" || status=$?
[ -z "$warning" ] || echo "$warning" >&2
exit "$status"
