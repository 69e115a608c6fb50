import type { DiffLine } from "../../../kinds/explanation/types.js";
import { h } from "../dom/element.js";
import { type DiffRow, diffCounts, diffRows } from "../model/diff-rows.js";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const SPOKEN = { same: "", added: "added: ", removed: "removed: " } as const;

function lineOf({ kind, text }: DiffLine): HTMLElement {
  return h(
    "div",
    { class: `diff-line ${kind}` },
    h("span", { class: "diff-sign", "aria-hidden": "true" }, SIGNS[kind]),
    kind !== "same" && h("span", { class: "hidden" }, SPOKEN[kind]),
    text,
  );
}

function rowOf(row: DiffRow): HTMLElement {
  if (row.kind !== "folded") return lineOf(row);
  const { lines } = row;
  const button = h(
    "button",
    { type: "button", class: "unfold" },
    lines.length === 1 ? "1 line unchanged" : `${lines.length} lines unchanged`,
  );
  const element = h("div", { class: "diff-line folded" }, button);
  button.addEventListener("click", () => element.replaceWith(...lines.map(lineOf)));
  return element;
}

/** What a patch makes of an object, line by line. */
export function diffView(lines: readonly DiffLine[]): HTMLElement {
  const { added, removed } = diffCounts(lines);
  return h(
    "section",
    { class: "diff" },
    h("h3", {}, "Patch ", h("span", { class: "quiet" }, `+${added} −${removed}`)),
    h(
      "div",
      { class: "diff-lines", tabindex: "0", role: "region", "aria-label": "The object before and after the patch" },
      ...diffRows(lines).map(rowOf),
    ),
  );
}
