/** Elements in one expression. */

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | EventListener>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child || child === "") element.append(child as Node | string);
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A text of the core for a page: what it writes between backticks is code. */
export function rich(text: string): Node[] {
  return text.split(/`([^`]*)`/).map((part, n) => {
    return n % 2 === 1 ? el("code", {}, part) : document.createTextNode(part);
  });
}

/** The same where there is no room for code, as in an attribute. */
export function plain(text: string): string {
  return text.replace(/`([^`]*)`/g, "$1");
}

let themed: Element = document.documentElement;

/** Takes properties of the style from an element, where the page is a part of another's. */
export function themeOf(element: Element): void {
  themed = element;
}

/** The value of a property of the page's style. */
export function style(name: string): string {
  return getComputedStyle(themed).getPropertyValue(name).trim();
}
