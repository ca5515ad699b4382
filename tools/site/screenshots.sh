#!/bin/bash
# screenshots.sh [BUILD]: takes the screenshots of the documents. Runs examples/python/steps.py on two emulated hosts joined by
# 1 Gbit/s (needs root), plainly and under a bound, compares bounds on a field of TAUT_FIELDS, and opens the pages in a browser.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/test} fields=${TAUT_FIELDS:?} python=.venv/bin/python folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TAUT_FIELDS # no option of the library
export PYTHONPATH=$PWD/$build/python
PATH=$PWD/.venv/bin:$PATH
on_hosts() { tools/rig/on_link.sh --mbit 1000 --gate warn -- python examples/python/steps.py "$@"; }
TAUT_REPORT=$folder/plain.json on_hosts off
TAUT_REPORT=$folder/report.json TAUT_TRACE=$folder/trace.json TAUT_CHECK=4 on_hosts abs:1e-4
"$python" -m taut report "$folder/report.json" --before "$folder/plain.json" --trace "$folder/trace.json" -o "$folder/report.html"
(cd "$fields" && "$OLDPWD/$python" -m taut bounds echam_temp.f32 --shape 17x96x192 -o "$folder/bounds.html")
"$python" tools/site/screenshots.py "$folder"
