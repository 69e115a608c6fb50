import type { ExplainedExpression, ExplainedValue } from "../../../kinds/explanation/types.js";
import { type Child, h, put, sign } from "../dom/element.js";
import { type MarkedPart, markSource, valuesOf } from "../model/marked-source.js";
import { lookOfValue } from "../model/outcomes.js";

/** Most parts listed below an expression, and the greatest depth: a comprehension over a long list has thousands. */
const MOST_PARTS = 400;
const DEEPEST = 40;
const DEEPEST_UNDERLINE = 4;

/** The look of a part. Several values of one part have the look of the first that failed or is false. */
function lookOfPart(part: MarkedPart) {
  const looks = part.values.map(({ value, failed }) => lookOfValue(value, failed));
  const grave = ["failed", "bad"].map((tone) => looks.find((look) => look.tone === tone));
  return grave.find(Boolean) ?? looks[0] ?? lookOfValue(undefined, false);
}

/** The source, its parts underlined. One part can be reached by Tab; the arrow keys go to its neighbours, into it and out of it. */
function markedSource(source: string, value: ExplainedValue, say: (part: MarkedPart) => void): HTMLElement {
  const parts = new Map<Element, MarkedPart>();
  const draw = (from: number, to: number, inner: readonly MarkedPart[]): Child[] => {
    const pieces: Child[] = [];
    let at = from;
    for (const part of inner) {
      if (part.from > at) pieces.push(source.slice(at, part.from));
      const words = `${source.slice(part.from, part.to)} is ${valuesOf(part)}`;
      const look = lookOfPart(part);
      const element = h(
        "span",
        { class: `part ${look.tone}`, tabindex: "-1", role: "group", "aria-label": words },
        ...draw(part.from, part.to, part.inner),
      );
      element.style.setProperty("--deep", String(depthOf(part)));
      parts.set(element, part);
      pieces.push(element);
      at = part.to;
    }
    if (at < to) pieces.push(source.slice(at, to));
    return pieces;
  };
  const code = h("code", { class: "marked" }, ...draw(0, source.length, markSource(source, value)));
  const choose = (target: EventTarget | null) => {
    const element = target instanceof Element ? target.closest(".part") : null;
    const part = element === null ? undefined : parts.get(element);
    if (element === null || part === undefined) return;
    for (const other of code.querySelectorAll(".chosen")) other.classList.remove("chosen");
    element.classList.add("chosen");
    say(part);
  };
  const first = code.querySelector<HTMLElement>(".part");
  if (first !== null) first.tabIndex = 0;
  for (const event of ["mouseover", "focusin", "click"]) code.addEventListener(event, ({ target }) => choose(target));
  code.addEventListener("keydown", (event) => {
    const here = document.activeElement;
    if (here === null || !parts.has(here)) return;
    const beside = (step: "nextElementSibling" | "previousElementSibling") => here[step];
    const ways = new Map<string, Element | null | undefined>([
      ["ArrowRight", beside("nextElementSibling")],
      ["ArrowLeft", beside("previousElementSibling")],
      ["ArrowDown", here.querySelector(".part")],
      ["ArrowUp", here.parentElement?.closest(".part")],
    ]);
    if (!ways.has(event.key)) return;
    event.preventDefault();
    const to = ways.get(event.key);
    if (!(to instanceof HTMLElement)) return;
    for (const other of parts.keys()) (other as HTMLElement).tabIndex = other === to ? 0 : -1;
    to.focus();
  });
  return code;
}

/** Number of nested underlines in a part's own, up to the maximum of the style: the outer ones are drawn below. */
function depthOf(part: MarkedPart): number {
  return Math.min(DEEPEST_UNDERLINE, 1 + Math.max(-1, ...part.inner.map(depthOf)));
}

/** A part as its author wrote it; one that a macro made, in CEL's notation. */
function textOf(source: string, { from, to, text }: ExplainedValue): string {
  const own = from === undefined || to === undefined ? "" : source.slice(from, to);
  return (own || text).replace(/\s+/g, " ");
}

/** Every part with its value as a list, as an alternative to pointing. */
function partList(source: string, root: ExplainedValue): HTMLElement {
  let left = MOST_PARTS;
  const rows = (values: readonly ExplainedValue[], depth: number): HTMLElement => {
    const list = h("ul");
    for (const value of values) {
      if (left <= 0) break;
      left -= 1;
      const look = lookOfValue(value.value, value.failed);
      const deeper = value.parts.length > 0 && depth < DEEPEST && rows(value.parts, depth + 1);
      const words = value.value ?? "not evaluated";
      const row = h(
        "div",
        { class: `value ${look.tone}` },
        h("code", {}, textOf(source, value)),
        h("span", { class: "came", title: words }, words),
      );
      list.append(h("li", {}, row, ...(deeper ? [deeper] : [])));
    }
    return list;
  };
  const list = h("div", { class: "parts" }, rows(root.parts, 0));
  if (left <= 0) list.append(h("p", { class: "quiet" }, `The first ${MOST_PARTS} parts.`));
  return list;
}

function evaluationView(source: string, value: ExplainedValue, open: boolean): HTMLElement {
  const look = lookOfValue(value.value, value.failed);
  const readout = h("p", { class: "readout" });
  const say = (part: MarkedPart) =>
    put(
      readout,
      h("code", {}, source.slice(part.from, part.to).replace(/\s+/g, " ")),
      " is ",
      h("strong", {}, valuesOf(part)),
    );
  put(readout, sign(look.symbol, look.tone), h("strong", {}, value.value ?? "not evaluated"));
  const values =
    value.parts.length > 0 &&
    h("details", { class: "fold", open }, h("summary", {}, "Every part with its value"), partList(source, value));
  return h(
    "div",
    { class: "evaluation" },
    h("pre", { class: "marked-source" }, markedSource(source, value, say)),
    readout,
    values,
  );
}

/** An expression with its value. The values of its parts are shown at once where it failed or is false; with `alone`, always. */
export function expressionView(expression: ExplainedExpression, alone: boolean): HTMLElement {
  const { source, error, evaluations } = expression;
  const title = h(
    "p",
    { class: "expression-path" },
    expression.path !== "expression" && h("code", {}, expression.path),
    expression.name !== undefined && h("span", { class: "quiet" }, ` ${expression.name}`),
  );
  const bare = () => h("pre", { class: "marked-source" }, h("code", {}, source));
  if (error !== undefined) {
    return h("div", { class: "expression" }, title, bare(), h("p", { class: "readout" }, sign("!", "failed"), error));
  }
  if (evaluations.length === 0) {
    return h(
      "div",
      { class: "expression unasked" },
      title,
      bare(),
      h("p", { class: "readout" }, sign("·", "unasked"), "not evaluated"),
    );
  }
  return h(
    "div",
    { class: "expression" },
    title,
    ...evaluations.map((value) => evaluationView(source, value, alone || value.failed || value.value === "false")),
  );
}
