import type { PageProblem } from "../../api.js";
import { h, put, sign } from "../dom/element.js";

/** More mistakes than this are counted only: a text that is something else altogether has one in every line. */
const MOST_SHOWN = 50;

/** The mistakes of a text, each leading to its place. */
export interface ProblemList {
  readonly element: HTMLElement;
  readonly show: (problems: readonly PageProblem[], none: string) => void;
}

/** `2 mistakes, 1 warning`. */
function summary(problems: readonly PageProblem[]): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const words = [];
  if (errors > 0) words.push(errors === 1 ? "1 mistake" : `${errors} mistakes`);
  if (warnings > 0) words.push(warnings === 1 ? "1 warning" : `${warnings} warnings`);
  return words.join(", ");
}

function row(problem: PageProblem, jump: (problem: PageProblem) => void): HTMLElement {
  const wrong = problem.severity === "error";
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "problem", click: () => jump(problem) },
      sign(wrong ? "✕" : "△", wrong ? "bad" : "warn"),
      h("span", { class: "place" }, `${problem.line}:${problem.column}`),
      h(
        "span",
        { class: "words" },
        h("span", { class: "hidden" }, wrong ? "mistake: " : "warning: "),
        problem.message,
        problem.path !== "" && h("span", { class: "path" }, problem.path),
        problem.hint !== undefined && h("span", { class: "hint" }, problem.hint),
      ),
      problem.code !== undefined && h("span", { class: "code" }, problem.code),
    ),
  );
}

/** Makes an empty list; `id` is that of its summary, which is read aloud when it changes. */
export function problemList(id: string, jump: (problem: PageProblem) => void): ProblemList {
  const heading = h("p", { id, class: "summary", "aria-live": "polite" });
  const rows = h("ol", { class: "problems" });
  const element = h("div", { class: "mistakes" }, heading, rows);
  return {
    element,
    show(problems, none) {
      put(heading, problems.length === 0 ? none : summary(problems));
      const shown = problems.slice(0, MOST_SHOWN).map((problem) => row(problem, jump));
      const left = problems.length - shown.length;
      put(rows, ...shown, left > 0 && h("li", { class: "left" }, `and ${left} more`));
      rows.hidden = problems.length === 0;
    },
  };
}
