#!/bin/bash
# Writes requirements/{tools,runtime,dev,site,wheel,lab}.txt from the .in files: every package with its version and the hashes of
# its files, so that nothing else is installed, wherever it comes from. The index is pip's own; no address goes into the
# files.
# Usage: scripts/lock.sh [--upgrade]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../requirements"

venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
"${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet uv
index=$("$venv/bin/python" -m pip config get global.index-url 2>/dev/null || true)
for list in tools runtime dev site wheel lab; do
    # `uv` takes the hashes from the index, where `pip-tools` would fetch every file of every package.
    "$venv/bin/uv" pip compile --quiet --generate-hashes --no-header --annotation-style=line \
        --python "$venv/bin/python" --python-version 3.11 ${index:+--default-index "$index"} "$@" \
        --output-file "$list.txt" "$list.in"
done
if grep -l '://' ./*.txt; then
    echo "lock: an address stands in these files" >&2
    exit 1
fi
