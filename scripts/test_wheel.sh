#!/bin/bash
# Installs a wheel with pip in a new environment, as on a machine without Rust, reproduces a study quickly with it, and
# runs every command and program of the README and of docs.
#
# scripts/test_wheel.sh WHEEL
set -euo pipefail
wheel=$(realpath "$1")
documents=$(realpath "$(dirname "${BASH_SOURCE[0]}")/run_documents.py")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
# Neither the compiler nor this checkout can be found there. Dependencies come as wheels, too.
cd "$folder"
PATH="$folder/venv/bin:/usr/bin:/bin"
if command -v cargo rustc; then
    echo "test_wheel: Rust is in /usr/bin: this is no machine without it" >&2
    exit 1
fi
pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel"
ackclock reproduce altman1997 --quick --out report
test -s report/index.html
python "$documents"
echo "wheel: installs without Rust, and runs"
