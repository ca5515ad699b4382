#!/bin/bash
# lint.sh: layout of the sources, layers, sizes, names that sources compiled as one share, links, width and words of Markdown,
# shape of results, what proofs quote, scripts, clang-tidy.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/.venv/bin:$PATH
git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format --dry-run --Werror
python3 tools/check_layers.py
python3 tools/check_collectives.py
python3 tools/check_fuzzing.py
python3 tools/check_sizes.py
python3 tools/check_unity.py
python3 tools/check_links.py
python3 tools/check_markdown.py
python3 tools/check_comments.py
python3 tools/check_results.py
python3 proofs/quotations.py
# A script that names its interpreter can be run: make and the pages call it by its path.
git ls-files -s | awk '$1 == "100644" { print $4 }' | xargs awk 'FNR == 1 { if (/^#!/) { print FILENAME ": not executable"; found = 1 } nextfile } END { exit found }'
# pip 23.0, that of Debian 12, has the option --config-settings and lacks its short form.
if git grep -n -e '-C cmake\.define' -- '*.sh' '*.md' ':!tools/lint.sh'; then exit 1; fi
git ls-files '*.py' | xargs ruff check --quiet
git ls-files '*.sh' | xargs shellcheck -x --severity=warning
tools/clang_tidy.sh
echo "lint: no faults"
