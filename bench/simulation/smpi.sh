#!/bin/bash
# smpi.sh BUILD_DIR RANKS GBIT LATENCY_US SELECTOR WORDS OF A SCENARIO...: runs taut_smpi under SimGrid's SMPI and prints
# its JSON. SELECTOR: whose collective algorithms plain calls use (mvapich2, mpich, ompi, impi, default).
# Needs the Debian package libsimgrid-dev. The simulated clock passes only in the network and where the modelled codec
# works, so that the time does not depend on this machine.
set -euo pipefail
[ $# -ge 6 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(readlink -f "$1") ranks=$2 gbit=$3 latency=$4 selector=$5
shift 5
command -v smpirun >/dev/null || { echo "smpi.sh: smpirun is missing (package libsimgrid-dev)" >&2; exit 3; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 - "$scratch" "$ranks" "$gbit" "$latency" <<'PLATFORM'
import sys
folder, ranks, gbit, latency = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
open(f"{folder}/platform.xml", "w").write(
    '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
    f'<zone id="w" routing="Full"><cluster id="c" prefix="h" suffix="" radical="0-{ranks - 1}" speed="1Gf"'
    f' bw="{gbit * 1e9 / 8:.0f}Bps" lat="{latency / 2}us" sharing_policy="SPLITDUPLEX"/></zone>\n</platform>\n')
open(f"{folder}/hosts", "w").write("".join(f"h{i}\n" for i in range(ranks)))
PLATFORM
# The factors turn off a calibration for 1 Gbit/s TCP of 2009; polls cost a microsecond.
smpirun -np "$ranks" -platform "$scratch/platform.xml" -hostfile "$scratch/hosts" \
  --cfg=smpi/host-speed:1Gf --cfg=smpi/simulate-computation:0 --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 \
  --cfg=network/crosstraffic:0 --cfg=smpi/coll-selector:"$selector" --cfg=smpi/send-is-detached-thresh:65536 \
  --cfg=smpi/grow-injected-times:0 --cfg=smpi/test:1e-6 --cfg=smpi/iprobe:1e-6 --cfg=smpi/privatization:dlopen \
  --log=root.thres:critical "$build/taut_smpi" "ranks=$ranks" "gbit=$gbit" "latency_us=$latency" "$@"
