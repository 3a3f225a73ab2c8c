#!/bin/bash
# Builds the engine so that it counts which ways it goes, runs it, and writes what it counted to FILE, for
# `make build` (docs/decisions/0024-built-from-a-profile.md). An empty FILE says that it cannot be done here.
#
# scripts/profile.sh FILE
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
file=$1

tools="$(rustc --print target-libdir)/../bin"
mkdir -p "$(dirname "$file")"
if [ ! -x "$tools/llvm-profdata" ] && ! rustup component add llvm-tools; then
    echo "profile: no llvm-profdata (rustup component add llvm-tools): built without, and slower" >&2
    : >"$file"
    exit
fi

runs="$PWD/target/profile/runs"
rm -rf "$runs"
# Both packages, so that every crate has the features that it has in the wheel, as names of functions depend on
# them; and optimised across crates as the wheel is: counts of a build without that were of no use.
CARGO_ENCODED_RUSTFLAGS="-Cprofile-generate=$runs" CARGO_PROFILE_RELEASE_DEBUG=0 \
    cargo build --release --quiet --locked --package ackclock-python --package ackclock-sim \
    --example train --target-dir target/profile/build
target/profile/build/release/examples/train >target/profile/train.log
"$tools/llvm-profdata" merge --sparse --output "$file" "$runs"
