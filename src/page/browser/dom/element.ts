/** Makes elements without a framework. Texts become text nodes and attributes, never markup: nothing from the server can be more than words. */

/** A child of an element; `undefined` and `false` are skipped. */
export type Child = Node | string | number | undefined | false;

/** Attributes by name; `true` is an empty one, `undefined` and `false` none; a function listens to the event of that name. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>;

const SVG = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

function present(children: readonly Child[]): (Node | string)[] {
  return children
    .filter((child) => child !== undefined && child !== false)
    .map((child) => (typeof child === "number" ? String(child) : child));
}

/** An element of HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

/** An element of SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Replaces the children of an element. */
export function put(element: Element, ...children: Child[]): void {
  element.replaceChildren(...present(children));
}

/** A symbol beside a word with the same meaning: it is not read aloud. */
export function sign(symbol: string, tone: string): HTMLElement {
  return h("span", { class: `sign ${tone}`, "aria-hidden": "true" }, symbol);
}
