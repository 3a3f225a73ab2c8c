/** A core behind a server, `ackclock serve`, with the face of the one in a worker. */

import { type Ask, asJson, Gone, Refused, type Request } from "./core";

/** The state of a run, as the server tells it. */
export interface RunState {
  id: string;
  on: "sim" | "live";
  file: string;
  state: "waiting" | "running" | "done" | "failed" | "cancelled";
  reached_s: number;
  duration_s: number;
  took_s: number | null;
  error: string | null;
  parts: number;
  report: { valid?: boolean; doubts?: string[] } | null;
}

/** A reader of a run: told its state, and the rows that come while it lasts. */
export interface Reader {
  state(told: RunState): void;
  rows(bytes: ArrayBuffer): void;
}

async function refusal(response: Response): Promise<Refused> {
  const text = (await response.text()).trim() || `the server answered ${response.status}`;
  return response.status === 401 ? new Gone(text) : new Refused(text);
}

/** Asks the server; says so in a line if nobody answers. */
async function fetched(path: string, how: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, how);
  } catch (error) {
    if ((error as Error).name === "AbortError") throw new Refused("interrupted");
    throw new Gone("The server does not answer: is `ackclock serve` still running?");
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

/** True if this page was given by `ackclock serve`. */
export function served(): boolean {
  return document.querySelector('meta[name="ackclock"]')?.getAttribute("content") === "serve";
}

export class Server implements Ask {
  private stopped = new AbortController();
  /** The run that was begun last, which others can look at by its name. */
  current = "";
  on: "sim" | "live" = "sim";
  reader: Reader = { state: () => {}, rows: () => {} };

  async get(path: string): Promise<Response> {
    return fetched(path);
  }

  async send(method: string, path: string, body?: unknown): Promise<Response> {
    return fetched(path, {
      method,
      ...(body === undefined ? {} : { body: asJson(body) }),
      headers: { "content-type": "application/json" },
    });
  }

  async ask(request: Request): Promise<ArrayBuffer> {
    if (request.do === "run") return this.run(request);
    const { signal } = this.stopped;
    const response = await fetched("api/ask", {
      method: "POST",
      body: asJson(request),
      headers: { "content-type": "application/json" },
      signal,
    });
    try {
      return await response.arrayBuffer();
    } catch {
      if (signal.aborted) throw new Refused("interrupted");
      throw new Gone("The server has gone in the middle of an answer.");
    }
  }

  private async run(request: Request): Promise<ArrayBuffer> {
    const begun = (await (
      await this.send("POST", "api/runs", { ...request, on: this.on })
    ).json()) as RunState;
    this.current = begun.id;
    return this.follow(begun.id);
  }

  /** Reads a run until it is over, and returns its result; a connection that breaks is made anew. */
  async follow(id: string): Promise<ArrayBuffer> {
    let seen = 0;
    let last: RunState | undefined;
    for (let failures = 0; failures < 5 && !over(last); ) {
      const before = seen;
      await new Promise<void>((ended) => {
        const address = new URL(`api/runs/${id}/follow?from=${seen}`, location.href);
        address.protocol = address.protocol.replace("http", "ws");
        const socket = new WebSocket(address);
        socket.binaryType = "arraybuffer";
        socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
          if (typeof event.data === "string") {
            last = JSON.parse(event.data) as RunState;
            this.reader.state(last);
          } else {
            seen += 1;
            this.reader.rows(event.data);
          }
        };
        socket.onclose = () => ended();
      });
      failures = seen > before ? 0 : failures + 1;
      if (!over(last)) await new Promise((again) => setTimeout(again, 200 * failures));
    }
    if (last?.state === "cancelled") throw new Refused("interrupted");
    return (await this.get(`api/runs/${id}/result`)).arrayBuffer();
  }

  /** Ends all that is under way. */
  stop(): void {
    this.stopped.abort();
    this.stopped = new AbortController();
    if (this.current) void this.send("DELETE", `api/runs/${this.current}`).catch(() => undefined);
  }
}

function over(told: RunState | undefined): boolean {
  return told !== undefined && ["done", "failed", "cancelled"].includes(told.state);
}
