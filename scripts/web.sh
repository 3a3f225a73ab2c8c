#!/bin/bash
# Builds the page of the browser in web/dist, or tests it: scripts/web.sh build|page|test. `page` makes what goes into the
# package alone, `ackclock serve`'s page and the view of notebooks, in which there is no core: it needs Node.js and no Rust.
#
# A test without what it needs is skipped, with the reason; a build without it is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly WHAT=${1:-build}
readonly TARGET=wasm32-unknown-unknown
# The oldest Node.js that Vite runs on.
readonly NODE=20.19.0

lack() {
    if [ "$WHAT" = test ]; then
        echo "test-web: skipped: $1"
        exit 0
    fi
    echo "web: $1" >&2
    exit 1
}

command -v node >/dev/null || lack "Node.js >= $NODE is missing (https://nodejs.org)"
command -v npm >/dev/null || lack "npm is missing, which comes with Node.js"
found=$(node --version)
printf '%s\n%s\n' "$NODE" "${found#v}" | sort --check=quiet --version-sort ||
    lack "Node.js is $found, expected >= $NODE"
if [ "$WHAT" != page ] && ! [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET" ]; then
    command -v rustup >/dev/null && rustup target add "$TARGET" >/dev/null 2>&1 ||
        lack "Rust has no target $TARGET (rustup target add $TARGET)"
fi
if [ "$WHAT" = test ]; then
    CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
    [ -n "$CHROMIUM" ] || lack "Chromium is missing (on Debian: apt install chromium)"
    export CHROMIUM
fi

[ "$WHAT" = page ] ||
    cargo rustc --locked --package ackclock-web --lib --crate-type cdylib --target "$TARGET" --profile web
if [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
    npm --prefix web ci --silent || lack "npm cannot install the packages (npm --prefix web ci says why)"
fi
made=web/dist
mode=production
if [ "$WHAT" = page ]; then
    made=web/dist/page
    mode=page
fi
(cd web && npx vite build --mode "$mode" --logLevel warn && npx vite build --config vite.view.config.ts --logLevel warn)
# The page without the core, for `ackclock serve`, goes into the package with the next `make build` or `make wheel`.
cp "$made/serve.html" python/ackclock/serve/page.html
cp web/dist/view/view.{js,css} python/ackclock/notebook/
[ "$WHAT" != page ] || exit 0
packed=$(gzip --best --stdout web/dist/index.html | wc -c)
echo "web/dist/index.html: $packed bytes compressed"
[ "$packed" -lt 2000000 ] || {
    echo "web: $packed bytes are too much for a phone, the most is 2,000,000" >&2
    exit 1
}
[ "$WHAT" = test ] || exit 0

npm --prefix web run --silent check
# The installed package gets the page, too, which the tests of `ackclock serve` open.
for installed in .venv/lib/python3*/site-packages/ackclock; do
    [ -d "$installed/serve" ] && cp web/dist/serve.html "$installed/serve/page.html"
done
# The core in WebAssembly against the same core as a program.
answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT
# Of the whole workspace, as only so Cargo takes the features that the tests were compiled with.
# shellcheck disable=SC2086
cargo build --quiet --locked --workspace ${LOADER:-} --example answers
"${CARGO_TARGET_DIR:-target}/debug/examples/answers" "$answers"
node web/tests/same.mjs "target/$TARGET/web/ackclock_web.wasm" "$answers"
npm --prefix web test --silent
