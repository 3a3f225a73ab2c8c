// Holds the core in WebAssembly against the answers that `cargo run --example answers` left: byte by byte.
//
//     node web/tests/same.mjs CORE.wasm FOLDER
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [wasm, folder] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(wasm), {});
const core = instance.exports;

function answer(request) {
  const at = core.reserve(request.length);
  new Uint8Array(core.memory.buffer, at, request.length).set(request);
  const length = core.ask();
  return Buffer.from(new Uint8Array(core.memory.buffer, core.answered(), length));
}

const requests = readdirSync(folder).filter((name) => name.endsWith(".json"));
let differ = 0;
let bytes = 0;
let refused = 0;
const began = performance.now();
for (const name of requests) {
  const request = readFileSync(join(folder, name));
  const expected = readFileSync(join(folder, name.replace(".json", ".bin")));
  const found = answer(request);
  bytes += found.length;
  refused += found.subarray(4, 12).toString() === '{"error"' ? 1 : 0;
  if (!found.equals(expected)) {
    differ += 1;
    const at = found.findIndex((byte, n) => byte !== expected[n]);
    console.error(`${name}: differs at byte ${at} of ${expected.length} (${found.length} here)`);
    console.error(`  native ${expected.subarray(Math.max(0, at - 60), at + 60)}`);
    console.error(`  wasm   ${found.subarray(Math.max(0, at - 60), at + 60)}`);
  }
}
const seconds = ((performance.now() - began) / 1000).toFixed(1);
console.log(
  `${requests.length} answers, ${refused} of them refusals, ${bytes} bytes in ${seconds} s; ${differ} differ`,
);
process.exitCode = differ > 0 || requests.length === 0 ? 1 : 0;
