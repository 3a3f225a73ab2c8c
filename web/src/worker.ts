/** The core in a worker: it answers one request after another. */

interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  ask(): number;
  answered(): number;
  fault(): number;
  fault_length(): number;
}

let core: Exports | undefined;

function text(from: number, length: number, memory: WebAssembly.Memory): string {
  return new TextDecoder().decode(new Uint8Array(memory.buffer, from, length));
}

function answer(exports: Exports, request: string): ArrayBuffer {
  const bytes = new TextEncoder().encode(request);
  const at = exports.reserve(bytes.length);
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  const length = exports.ask();
  const from = exports.answered();
  return exports.memory.buffer.slice(from, from + length) as ArrayBuffer;
}

self.onmessage = async (event: MessageEvent) => {
  const message = event.data as { core: ArrayBuffer } | { id: number; request: string };
  if ("core" in message) {
    const { instance } = await WebAssembly.instantiate(message.core, {});
    core = instance.exports as unknown as Exports;
    self.postMessage({ ready: true });
    return;
  }
  if (!core) return;
  try {
    const bytes = answer(core, message.request);
    self.postMessage({ id: message.id, bytes }, { transfer: [bytes] });
  } catch (error) {
    // After a panic the memory is in no known state.
    const says = text(core.fault(), core.fault_length(), core.memory) || String(error);
    core = undefined;
    self.postMessage({ id: message.id, fault: says });
  }
};
