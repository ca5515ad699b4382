#!/bin/bash
# build.sh FOLDER: builds the site as `make docs` does, in FOLDER; 77 where the packages are not there (tools/setup.sh docs).
set -euo pipefail
cd "$(dirname "$0")/../.."
python=.venv/bin/python
if ! "$python" -c 'import furo, myst_parser, numpy, sphinx' 2>/dev/null; then
  echo "skipped: $python has no Sphinx; tools/setup.sh docs fetches it"
  exit 77
fi
tools/site/build.sh "$1"
for page in index faq configuration reference/c_api reference/cxx_api reference/python_api start/python; do
  [ -s "$1/html/$page.html" ] || { echo "no page $page" >&2; exit 1; }
done
grep -q 'id="c.TAUT_Allreduce"' "$1/html/reference/c_api.html" || { echo "no TAUT_Allreduce" >&2; exit 1; }
grep -q 'id="taut.Comm.Allreduce"' "$1/html/reference/python_api.html" || { echo "no taut.Comm.Allreduce" >&2; exit 1; }
searched=$(grep -o '"docnames":\[[^]]*\]' "$1/html/searchindex.js")
grep -q '"faq"' <<<"$searched" || { echo "the search does not know the page faq" >&2; exit 1; }
! grep -qE '"(adr/0|changelog)' <<<"$searched" || { echo "the search finds decisions" >&2; exit 1; }
! grep -rlE '<(script|img|link)[^>]* (src|href)="https?:' --include='*.html' "$1/html" || { echo "loads from elsewhere" >&2; exit 1; }
