import type { PageProblem } from "../../api.js";
import { h, put, sign } from "../dom/element.js";
import { indentedLines, type Selected } from "../model/indentation.js";
import { linesOf, placesOf, startOfLine } from "../model/positions.js";
import { type Mark, piecesOf } from "../model/yaml-pieces.js";

/** Most mistakes that are listed; others are only counted: a text that is something else altogether has one in every line. */
const MOST_SHOWN = 50;

/** The mistakes of a text, each leading to its place. */
interface ProblemList {
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
function problemList(id: string, jump: (problem: PageProblem) => void): ProblemList {
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

/**
 * Tab indents after typing in a field; it moves on if the field was reached by Tab, or after Escape: so keyboard users can leave it. Enter keeps the
 * indentation.
 */
function listenToKeys(field: HTMLTextAreaElement, insert: (text: string) => void): void {
  let tabMovesOn = true;
  const replace = ({ from, to, text, selectionFrom, selectionTo }: Selected) => {
    field.setSelectionRange(from, to);
    insert(text);
    field.setSelectionRange(selectionFrom, selectionTo);
  };
  field.addEventListener("focus", () => {
    tabMovesOn = true;
  });
  field.addEventListener("pointerdown", () => {
    tabMovesOn = false;
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tabMovesOn = true;
    else if (event.key === "Tab") {
      if (tabMovesOn || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      replace(indentedLines(field.value, field.selectionStart, field.selectionEnd, event.shiftKey));
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) {
      const start = field.value.lastIndexOf("\n", field.selectionStart - 1) + 1;
      const indentation = /^ */.exec(field.value.slice(start, field.selectionStart))?.[0] ?? "";
      tabMovesOn = false;
      if (indentation === "") return;
      event.preventDefault();
      insert(`\n${indentation}`);
    } else if (!["Shift", "Control", "Alt", "Meta"].includes(event.key)) tabMovesOn = false;
  });
}

/** Lines that are drawn above and below the visible ones, so that a quick scroll shows no gap. */
const SPARE_LINES = 8;

/** Options of an editor. */
export interface EditorOptions {
  /** Distinguishes the ids of its elements. */
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly onChange: () => void;
}

/** A text field with line numbers, colours, and mistakes at their place. */
export interface Editor {
  readonly element: HTMLElement;
  /** The text field itself. */
  readonly field: HTMLTextAreaElement;
  readonly text: () => string;
  /** Replaces the text, as one step that can be undone with Ctrl+Z; `onChange` is called. */
  readonly write: (text: string) => void;
  /** Sets the text without calling `onChange`. */
  readonly begin: (text: string) => void;
  readonly showProblems: (problems: readonly PageProblem[], none: string) => void;
}

interface Known {
  readonly problem: PageProblem;
  /** The line when the mistake was found: once it has changed, the mark is not shown. */
  readonly line: string;
}

/** Replaces the selection as if it had been typed, so that it can be undone. */
export function insertText(field: HTMLTextAreaElement, text: string): void {
  // Deprecated, and the only way in all browsers that keeps the history of the field.
  const done = text === "" ? document.execCommand("delete") : document.execCommand("insertText", false, text);
  if (done) return;
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input"));
}

/** Makes an editor. */
export function editor(options: EditorOptions): Editor {
  const id = (part: string) => `${options.name}-${part}`;
  const paper = h("div", { class: "paper", "aria-hidden": "true" });
  const gutter = h("div", { class: "gutter", "aria-hidden": "true" });
  const field = h("textarea", {
    id: id("field"),
    class: "field",
    wrap: "off",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    "aria-label": options.label,
    "aria-describedby": `${id("summary")} keys-help`,
    placeholder: options.placeholder,
  });
  const list = problemList(id("summary"), (problem) => jump(problem));
  const sheet = h("div", { class: "sheet" }, gutter, h("div", { class: "window" }, paper, field));
  const element = h("div", { class: "editor" }, sheet, list.element);
  let lines = linesOf("");
  let known: readonly Known[] = [];
  let marks = new Map<number, Mark[]>();

  function drawLines(): void {
    const height = Number.parseFloat(getComputedStyle(field).lineHeight) || 20;
    const top = Math.max(0, Math.floor(field.scrollTop / height) - SPARE_LINES);
    const bottom = Math.min(lines.length, Math.ceil((field.scrollTop + field.clientHeight) / height) + SPARE_LINES);
    const texts: HTMLElement[] = [];
    const numbers: HTMLElement[] = [];
    for (let index = top; index < bottom; index += 1) {
      const own = marks.get(index) ?? [];
      const pieces = piecesOf(lines[index] ?? "", own).map((piece) =>
        piece.classes === "" ? piece.text : h("span", { class: piece.classes }, piece.text),
      );
      const severity = own.find((mark) => mark.severity === "error")?.severity ?? own[0]?.severity ?? "";
      texts.push(h("div", { class: "line" }, ...pieces));
      numbers.push(h("div", { class: `number ${severity}` }, index + 1));
    }
    put(paper, ...texts);
    put(gutter, ...numbers);
    const shift = top * height - field.scrollTop;
    paper.style.setProperty("transform", `translate(${-field.scrollLeft}px, ${shift}px)`);
    for (const number of numbers) number.style.setProperty("transform", `translateY(${shift}px)`);
  }

  function placeMarks(): void {
    marks = new Map();
    for (const { problem, line } of known) {
      const index = Math.min(problem.line, lines.length) - 1;
      if (lines[index] !== line) continue;
      for (const { index: at, ...stretch } of placesOf(lines, problem)) {
        marks.set(at, [...(marks.get(at) ?? []), { ...stretch, severity: problem.severity }]);
      }
    }
  }

  function read(): void {
    lines = linesOf(field.value);
    gutter.style.setProperty("--digits", String(Math.max(2, String(lines.length).length)));
    placeMarks();
    drawLines();
  }

  function jump(problem: PageProblem): void {
    const places = placesOf(lines, problem);
    const [from = 0, to = 0] = [places[0], places.at(-1)].map((place, end) =>
      place === undefined ? 0 : startOfLine(lines, place.index + 1) + (end === 1 ? place.to : place.from),
    );
    field.focus();
    field.setSelectionRange(from, to);
    const height = Number.parseFloat(getComputedStyle(field).lineHeight) || 20;
    field.scrollTop = Math.max(0, (problem.line - 1) * height - field.clientHeight / 2);
    drawLines();
  }

  function begin(text: string): void {
    field.value = text;
    known = [];
    read();
  }

  function write(text: string): void {
    const before = document.activeElement;
    field.focus();
    field.select();
    insertText(field, text);
    field.setSelectionRange(0, 0);
    field.scrollTop = 0;
    if (before instanceof HTMLElement) before.focus();
    drawLines();
  }

  field.addEventListener("input", () => {
    read();
    options.onChange();
  });
  field.addEventListener("scroll", drawLines, { passive: true });
  new ResizeObserver(drawLines).observe(field);
  listenToKeys(field, (text) => insertText(field, text));

  function showProblems(problems: readonly PageProblem[], none: string): void {
    known = problems.map((problem) => ({ problem, line: lines[Math.min(problem.line, lines.length) - 1] ?? "" }));
    field.setAttribute("aria-invalid", String(problems.some(({ severity }) => severity === "error")));
    list.show(problems, none);
    placeMarks();
    drawLines();
  }

  return { element, field, text: () => field.value, write, begin, showProblems };
}
