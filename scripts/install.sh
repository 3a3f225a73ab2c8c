#!/bin/bash
# Makes an environment of Python, if it is not there, and installs pinned packages in it. uv takes seconds where pip takes
# a minute; it asks the index that pip is told to ask.
# Usage: PYTHON=python3 scripts/install.sh VENV LIST...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=$1
shift

[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
[ -x "$venv/bin/uv" ] ||
    "$venv/bin/python" -m pip install --quiet --no-deps --require-hashes --requirement requirements/tools.txt
index=$("$venv/bin/python" -m pip config get global.index-url 2>/dev/null || true)
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" ${index:+--default-index "$index"} \
    --require-hashes "${@/#/--requirement=}"
