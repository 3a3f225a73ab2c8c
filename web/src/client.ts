/** The page's end of the worker. */

import { type Ask, asJson, Refused, type Request } from "./core";
import CoreWorker from "./worker?worker&inline";

interface Pending {
  resolve(bytes: ArrayBuffer): void;
  reject(error: Error): void;
}

/** The bytes of the core, which stand in the page. */
async function embedded(): Promise<ArrayBuffer> {
  const text = document.getElementById("core")?.textContent ?? "";
  if (text === "") throw new Error("the page has no core: it is to be built by `make web`");
  const packed = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** A core that is asked, and started anew after a fault or a cancellation. */
export class Client implements Ask {
  private worker: Worker | undefined;
  private readonly pending = new Map<number, Pending>();
  private next = 0;
  private readonly bytes = embedded();
  private starting: Promise<Worker> | undefined;

  private start(): Promise<Worker> {
    this.starting ??= this.bytes.then(
      (bytes) =>
        new Promise((resolve, reject) => {
          const worker = new CoreWorker();
          worker.onerror = (event) => reject(new Error(event.message));
          worker.onmessage = (event: MessageEvent) => {
            if ("ready" in event.data) resolve(worker);
            else this.hear(event.data as { id: number; bytes?: ArrayBuffer; fault?: string });
          };
          this.worker = worker;
          worker.postMessage({ core: bytes });
        }),
    );
    return this.starting;
  }

  private hear(message: { id: number; bytes?: ArrayBuffer; fault?: string }): void {
    const pending = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.bytes) pending?.resolve(message.bytes);
    else {
      const says = `internal error: ${message.fault}; please report it with the scenario that led to it`;
      pending?.reject(new Refused(says));
      this.stop();
    }
  }

  async ask(request: Request): Promise<ArrayBuffer> {
    const worker = await this.start();
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      worker.postMessage({ id, request: asJson(request) });
    });
  }

  /** Ends all that is under way. */
  stop(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.starting = undefined;
    for (const pending of this.pending.values()) pending.reject(new Refused("interrupted"));
    this.pending.clear();
  }
}
