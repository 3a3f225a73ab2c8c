/** Quantities as scenarios write them, and as people read them. */

const FACTORS: Record<string, number> = {
  "bit/s": 1,
  "kbit/s": 1e3,
  "Mbit/s": 1e6,
  "Gbit/s": 1e9,
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  min: 60,
  h: 3600,
  "%": 0.01,
};

/** A quantity in its base unit (bit/s, s, or a share); NaN if it is no such text. */
export function parse(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  const found = /^\s*([\d.eE+-]+)\s*(\S*)\s*$/.exec(value);
  if (!found) return Number.NaN;
  const [, number, unit] = found;
  const factor = unit === "" ? 1 : FACTORS[unit ?? ""];
  return factor === undefined ? Number.NaN : Number(number) * factor;
}

/** Three digits, without zeros at the end. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const text = Number(value.toPrecision(3));
  return Math.abs(text) >= 1e6 || (text !== 0 && Math.abs(text) < 1e-3)
    ? text.toExponential()
    : String(text);
}

export function rate(bps: number): string {
  if (bps >= 1e9) return `${short(bps / 1e9)} Gbit/s`;
  if (bps >= 1e6) return `${short(bps / 1e6)} Mbit/s`;
  if (bps >= 1e3) return `${short(bps / 1e3)} kbit/s`;
  return `${short(bps)} bit/s`;
}

export function time(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (Math.abs(seconds) < 1e-3) return `${short(seconds * 1e6)} us`;
  if (Math.abs(seconds) < 1) return `${short(seconds * 1e3)} ms`;
  return `${short(seconds)} s`;
}

export function volume(bytes: number): string {
  if (bytes >= 1e6) return `${short(bytes / 1e6)} MB`;
  if (bytes >= 1e3) return `${short(bytes / 1e3)} kB`;
  return `${short(bytes)} B`;
}
