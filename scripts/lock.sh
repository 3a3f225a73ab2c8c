#!/bin/bash
# Writes requirements/{runtime,dev}.txt from the .in files: every package with its version.
# Usage: scripts/lock.sh [--upgrade]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
"${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet pip-tools
for list in runtime dev; do
    "$venv/bin/python" -m piptools compile --quiet --strip-extras --no-emit-index-url \
        --no-emit-trusted-host --no-emit-find-links --no-header --annotation-style=line "$@" \
        --output-file "requirements/$list.txt" "requirements/$list.in"
done
