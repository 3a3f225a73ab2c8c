#!/bin/bash
# Builds the engine so that it counts which ways it goes, runs it, and writes what it counted to FILE, for
# `make wheel` (docs/decisions/0032-one-order-many-shortcuts.md). An empty FILE says that it cannot be done here.
# With --check it fails unless the functions built in DIR bear the names under which FILE has their counts.
#
# scripts/profile.sh FILE
# scripts/profile.sh --check FILE DIR
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools="$(rustc --print target-libdir)/../bin"

# The compiler's name of the engine's crate, which holds what names of functions depend on.
engine() {
    grep --text --only-matching 'ackclock_sim\.[0-9a-f]*-cgu' | sort --unique
}

if [ "$1" = --check ]; then
    counted=$("$tools/llvm-profdata" show --all-functions "$2" | engine)
    # Builds with other features may lie beside the wheel's.
    built=$(for crate in "$3"/deps/libackclock_sim-*.rlib; do "$tools/llvm-ar" t "$crate"; done | engine)
    if ! grep --quiet --line-regexp "$counted" <<<"$built"; then
        echo "profile: counts are of $counted and the build is ${built//$'\n'/, }: the compiler would go without." \
            "Both must be built with the same profile of Cargo and the same features" >&2
        exit 1
    fi
    exit
fi

file=$1
mkdir -p "$(dirname "$file")"
if [ ! -x "$tools/llvm-profdata" ] && ! rustup component add llvm-tools; then
    echo "profile: no llvm-profdata (rustup component add llvm-tools): built without, and slower" >&2
    : >"$file"
    exit
fi

runs="$PWD/target/profile/runs"
rm -rf "$runs"
# Both packages, so that every crate has the features that it has in the wheel, and nothing of the release profile
# changed, not even the debug information: names of functions depend on either. And optimised across crates as the
# wheel is: counts of a build without that were of no use.
CARGO_ENCODED_RUSTFLAGS="-Cprofile-generate=$runs" \
    cargo build --release --quiet --locked --package ackclock-python --package ackclock-sim \
    --example train --target-dir target/profile/build
target/profile/build/release/examples/train >target/profile/train.log
"$tools/llvm-profdata" merge --sparse --output "$file" "$runs"
