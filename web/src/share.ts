/** A link that carries a scenario: its text, compressed, behind the `#`. */

async function through(bytes: Uint8Array<ArrayBuffer>, by: GenericTransformStream) {
  const stream = new Blob([bytes]).stream().pipeThrough(by as ReadableWritablePair<Uint8Array>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The longest text that a link is read to: a link of a few kilobytes can unpack to much more. */
const LONGEST = 1 << 20;

export interface Shared {
  text: string;
  /** The run that it is laid over. */
  beside?: string;
  lesson?: string;
}

export async function pack(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  const text = btoa(String.fromCharCode(...packed));
  return `#s=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** True if an address is one of a link that carries a scenario, be it damaged. */
export function shares(hash: string): boolean {
  return hash.startsWith("#s=");
}

/** The scenario of a link; undefined if it carries none, or cannot be read. */
export async function unpack(hash: string): Promise<Shared | undefined> {
  const found = /^#s=([\w-]+)$/.exec(hash);
  if (!found?.[1]) return undefined;
  try {
    const text = found[1].replaceAll("-", "+").replaceAll("_", "/");
    const packed = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"));
    if (bytes.length > LONGEST) return undefined;
    const shared = JSON.parse(new TextDecoder().decode(bytes)) as Shared;
    return typeof shared.text === "string" ? shared : undefined;
  } catch {
    return undefined;
  }
}
