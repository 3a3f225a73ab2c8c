#!/bin/bash
# Installs the wheels of core and studies with pip in new environments, as on a machine without Rust.
#
# With each Python from 3.11 to 3.14 that is found the core alone is installed, without any extra: it has to stay below
# 150 MB, run a scenario, give a table, and say which extras a report and a study need. Then, with one Python and with all
# extras, a study is reproduced quickly, and every command and program of the README and of docs is run.
#
# With PAGE=on, as of a wheel that others are given, the page of `ackclock serve` and the view of notebooks are in it.
#
# scripts/test_wheel.sh FOLDER
set -euo pipefail
wheel=$(realpath "$1"/ackclock-*.whl)
studies=$(realpath "$1"/ackclock_studies-*.whl)
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
python=$(command -v "${PYTHON:-python3}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The interpreter of a version: on the PATH, or one of pyenv's.
interpreter() {
    local each
    for each in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1."*/bin/python3; do
        if "$each" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$each"
            return
        fi
    done
}
declare -A found
for version in 3.11 3.12 3.13 3.14; do
    found[$version]=$(interpreter "$version")
done

"$python" -m venv "$folder/venv"
# Neither the compiler nor this checkout can be found there. Dependencies come as wheels, too.
cd "$folder"
PATH="$folder/venv/bin:/usr/bin:/bin"
if command -v cargo rustc; then
    echo "test_wheel: Rust is in /usr/bin: this is no machine without it" >&2
    exit 1
fi
pip="pip --quiet --disable-pip-version-check"

base() {
    local version=$1 place=$folder/$1 size said code=0
    if [ -z "${found[$version]}" ]; then
        echo "wheel: Python $version: skipped, no python$version is on the PATH or of pyenv"
        return
    fi
    "${found[$version]}" -m venv --without-pip "$place"
    $pip --python "$place/bin/python" install --only-binary :all: "$wheel"
    size=$(du -sm "$place/lib/python$version/site-packages" | cut -f1)
    if [ "$size" -ge 150 ]; then
        echo "test_wheel: $size MB with Python $version and no extra, expected less than 150" >&2
        exit 1
    fi
    local package=$place/lib/python$version/site-packages/ackclock
    if ! grep --quiet '^arrow-array ' "$package/THIRD-PARTY-NOTICES"; then
        echo "test_wheel: the wheel lacks the notices of third parties" >&2
        exit 1
    fi
    # A wheel for others; `make build` makes one for this machine.
    if [[ $wheel == */dist/* ]] && grep --quiet --text --fixed-strings "$HOME/" "$package"/*.so; then
        echo "test_wheel: the extension names the builder's home" >&2
        exit 1
    fi
    "$place/bin/ackclock" --version >/dev/null
    "$place/bin/ackclock" run "$root/examples/first.toml" --out "$place/tables" >/dev/null
    "$place/bin/python" - "$root/examples/first.toml" "$place/tables/flows.parquet" <<'PROGRAM'
import sys
import ackclock as ac

run = ac.simulate(sys.argv[1])
assert run.flows.equals(ac.read_table(sys.argv[2])) and run.flows["goodput_bps"][0] > 0
PROGRAM
    if [ "${PAGE:-off}" = on ]; then
        "$place/bin/python" - <<'PROGRAM'
from importlib import resources

page = (resources.files("ackclock.serve") / "page.html").read_text(encoding="utf-8")
assert '<meta name="ackclock" content="serve" />' in page, "the page is not that of a server"
for name in ("view.js", "view.css"):
    assert (resources.files("ackclock.notebook") / name).read_bytes(), f"{name} is empty"
PROGRAM
    fi
    said=$("$place/bin/ackclock" report "$root/examples/first.toml" 2>&1) || code=$?
    if [ "$code" != 2 ] || [ "$said" != "ackclock: reports need matplotlib: pip install 'ackclock[report]'" ]; then
        echo "test_wheel: a report without its extra ended with code $code: $said" >&2
        exit 1
    fi
    local line
    for line in "reproduce altman1997:study: \`altman1997\`" "suite quick cubic:suite: \`quick\`"; do
        code=0
        said=$("$place/bin/ackclock" ${line%%:*} 2>&1) || code=$?
        if [ "$code" != 2 ] || [ "$said" != "ackclock: ${line#*:} is not installed: pip install 'ackclock[studies]'" ]; then
            echo "test_wheel: ${line%%:*} without its package ended with code $code: $said" >&2
            exit 1
        fi
    done
    echo "wheel: Python $version: $size MB without extras; runs, and reads its tables"
}
for version in 3.11 3.12 3.13 3.14; do
    base "$version"
done

$pip install --only-binary :all: "$wheel[all]" "$studies"
ackclock reproduce altman1997 --quick --out report
test -s report/index.html
python "$root/scripts/run_documents.py"
echo "wheel: installs without Rust, and runs"
