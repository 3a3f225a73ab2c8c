/** What draws a diagram: a canvas, or a drawing (SVG) with the same calls. */

export type Pen = Pick<
  CanvasRenderingContext2D,
  | "arc"
  | "beginPath"
  | "clip"
  | "fillRect"
  | "fillStyle"
  | "fillText"
  | "font"
  | "lineTo"
  | "lineWidth"
  | "moveTo"
  | "rect"
  | "restore"
  | "save"
  | "setLineDash"
  | "stroke"
  | "strokeStyle"
  | "textAlign"
  | "textBaseline"
>;

const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { center: "middle", right: "end" };

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}

function plain(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Draws elements of SVG. A clip lasts until the next `restore`. */
export class SvgPen implements Pen {
  readonly parts: string[] = [];
  fillStyle: string | CanvasGradient | CanvasPattern = "black";
  strokeStyle: string | CanvasGradient | CanvasPattern = "black";
  lineWidth = 1;
  font = "";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private dash: number[] = [];
  private path = "";
  private clips = 0;
  private clipped = false;

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${short(x)} ${short(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  /** A whole circle: nothing else is drawn here. */
  arc(x: number, y: number, radius: number): void {
    const r = short(radius);
    const turn = `a${r} ${r} 0 1 0`;
    this.path += `M${short(x - radius)} ${short(y)}${turn} ${short(2 * radius)} 0${turn} ${short(-2 * radius)} 0`;
  }

  stroke(): void {
    this.parts.push(
      `<path d="${this.path}" fill="none" stroke="${String(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(" ")}"` : ""}/>`,
    );
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${String(this.fillStyle)}"/>`,
    );
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = ANCHORS[this.textAlign] ?? "start";
    const down = this.textBaseline === "middle" ? 4 : 0;
    this.parts.push(
      `<text x="${short(x)}" y="${short(y + down)}" text-anchor="${anchor}">${plain(text)}</text>`,
    );
  }

  clip(): void {
    const name = `clip${this.clips++}`;
    this.parts.push(
      `<clipPath id="${name}"><path d="${this.path}"/></clipPath><g clip-path="url(#${name})">`,
    );
    this.clipped = true;
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  save(): void {}

  restore(): void {
    if (this.clipped) this.parts.push("</g>");
    this.clipped = false;
  }
}
