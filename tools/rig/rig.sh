#!/bin/bash
# Emulated hosts on one machine, joined by links of a given rate. Needs root, iproute2 and util-linux.
#
#   rig.sh up NAME HOSTS MBIT    hosts NAMEh0, NAMEh1, ...; each link carries MBIT each way (0: unshaped)
#   rig.sh rate NAME MBIT        change the rate
#   rig.sh show NAME             addresses and queues
#   rig.sh bytes NAME            bytes sent by each host so far
#   rig.sh down NAME             end the hosts' processes, remove everything
#   rig.sh sweep                 remove the rigs named tautPID whose process PID is gone
#
# A host is a network namespace. The switch is a bridge in a namespace of its own, so nothing touches the machine's
# own network, and rigs of different names cannot meet. Each link is shaped at both ends, as a full-duplex NIC is.
set -euo pipefail
net=10.77.0
mtu=1500
gso=16384 # largest packet that the kernel hands down for TCP

hosts() { ip netns list | awk '{print $1}' | grep -E "^${1}h[0-9]+$" | sort -V || true; }

# shape NAMESPACE DEVICE MBIT
#   burst: 0.25 ms of the rate, and at least two packets as the kernel hands them down (gso). NOT more: what fits into
#   the burst passes unshaped. With 128 KiB, halos of 98 KB arrived in 0.2 ms on a link of 1 Gbit/s, which needs 0.8 ms.
#   limit: about 3 ms of queue. NOT deeper: behind a deep queue the control messages of one direction wait for the bulk
#   of the other, plain MPI falls to half duplex, and whatever is compared with it looks twice as fast as it is.
shape() {
  ip netns exec "$1" tc qdisc del dev "$2" root 2>/dev/null || true
  [ "$3" = 0 ] && return 0
  local burst=$(($3 * 31)) limit=$(($3 * 400))
  [ "$burst" -ge $((2 * gso)) ] || burst=$((2 * gso))
  [ "$limit" -ge 300000 ] || limit=300000
  ip netns exec "$1" tc qdisc add dev "$2" root tbf rate "${3}mbit" burst "$burst" limit "$limit"
}

rate() {
  local host
  for host in $(hosts "$1"); do
    shape "$host" eth0 "$2"
    shape "${1}sw" "v${host#"${1}h"}" "$2"
  done
}

add_host() { # NAME NUMBER
  local host="${1}h$2" switch="${1}sw" port="v$2"
  ip netns add "$host"
  ip link add "$port" netns "$switch" type veth peer name eth0 netns "$host"
  ip -n "$switch" link set "$port" mtu "$mtu" gso_max_size "$gso" master br0 up
  ip -n "$host" link set lo up
  ip -n "$host" addr add "$net.$(($2 + 1))/24" dev eth0
  ip -n "$host" link set eth0 mtu "$mtu" gso_max_size "$gso" up
}

up() { # NAME HOSTS MBIT
  local i host
  ip netns add "${1}sw"
  ip -n "${1}sw" link set lo up
  ip -n "${1}sw" link add br0 type bridge
  ip -n "${1}sw" link set br0 up
  for ((i = 0; i < $2; i++)); do add_host "$1" "$i"; done
  for host in $(hosts "$1"); do # `ip netns exec` mounts this file over /etc/hosts
    mkdir -p "/etc/netns/$host"
    echo "127.0.0.1 localhost" > "/etc/netns/$host/hosts"
    for ((i = 0; i < $2; i++)); do echo "$net.$((i + 1)) ${1}h$i"; done >> "/etc/netns/$host/hosts"
  done
  rate "$1" "$3"
}

end_processes() { # SIGNAL NAMESPACE
  local pid
  for pid in $(ip netns pids "$2" 2>/dev/null); do kill "-$1" "$pid" 2>/dev/null || true; done
}

down() { # NAME
  local host signal
  for signal in TERM KILL; do
    for host in $(hosts "$1"); do end_processes "$signal" "$host"; done
    [ "$signal" = KILL ] || sleep 0.2
  done
  for host in $(hosts "$1"); do
    ip netns del "$host" || true
    rm -rf "/etc/netns/$host"
  done
  ip netns del "${1}sw" 2>/dev/null || true
  rmdir /etc/netns 2>/dev/null || true
}

sweep() {
  local name
  for name in $(ip netns list | awk '{print $1}' | grep -oE '^taut[0-9]+' | sort -u || true); do
    [ -d "/proc/${name#taut}" ] || down "$name"
  done
}

bytes() {
  local host
  for host in $(hosts "$1"); do ip netns exec "$host" cat /sys/class/net/eth0/statistics/tx_bytes; done | paste -sd' '
}

show() {
  local host
  for host in $(hosts "$1"); do
    echo "$host $(ip -n "$host" -4 -br addr show eth0) $(ip netns exec "$host" tc qdisc show dev eth0)"
  done
}

case "${1:-}:$#" in
  up:4 | rate:3 | show:2 | bytes:2 | down:2 | sweep:1) "$@" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
