#!/bin/bash
# Looks for known faults in what we depend on, and for licences and sources that are not allowed: cargo-deny of the crates,
# pip-audit of the Python packages. What cannot be done here, without the program or without its database, is said and left out.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0
skipped() { echo "skipped: $*"; }

if ! command -v cargo-deny >/dev/null; then
    skipped "cargo deny (no cargo-deny on the PATH; cargo install --locked cargo-deny)"
else
    cargo deny --all-features check bans licenses sources || failed=1
    if why=$(timeout 60 cargo deny fetch db 2>&1); then
        cargo deny --all-features check --disable-fetch advisories || failed=1
    else
        skipped "cargo deny check advisories (its database cannot be had: $(tail -n 1 <<<"$why"))"
    fi
fi

audit=$(PATH="$PWD/.venv/bin:$PATH" command -v pip-audit)
# What it knows of one version that we have; an index that only mirrors packages knows nothing of them.
IFS='=' read -r name _ version <<<"$(grep -m 1 -oE '^[a-z0-9.-]+==[^ ]+' requirements/runtime.txt)"
database="https://pypi.org/pypi/$name/$version/json"
if [ -z "$audit" ]; then
    skipped "pip-audit (no pip-audit on the PATH; pipx install pip-audit)"
elif ! why=$({ curl --fail --silent --show-error --max-time 20 "$database" |
    { grep --quiet '"vulnerabilities"' || echo "it does not tell of vulnerabilities"; }; } 2>&1) || [ -n "$why" ]; then
    skipped "pip-audit (its database, pypi.org, cannot be had: $(head -n 1 <<<"$why"))"
else
    for list in runtime dev site; do
        timeout 300 "$audit" --strict --progress-spinner off --disable-pip --require-hashes \
            --requirement "requirements/$list.txt" || failed=1
    done
fi
exit $failed
