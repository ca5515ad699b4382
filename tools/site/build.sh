#!/bin/bash
# build.sh [FOLDER]: the documentation site, build/docs/html. A warning is an error. PYTHON: one that has Sphinx.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-build/docs} python=${PYTHON:-.venv/bin/python}
export PYTHONDONTWRITEBYTECODE=1
"$python" tools/site/stage.py "$out/source"
"$python" -m sphinx -W --keep-going -q -b html -c tools/site -d "$out/doctrees" "$out/source" "$out/html"
