import type { PageProblem } from "../../api.js";
import { h, put } from "../dom/element.js";
import { linesOf, startOfLine, stretchOf } from "../model/positions.js";
import { type Mark, piecesOf } from "../model/yaml-pieces.js";
import { listenToKeys } from "./editor-keys.js";
import { problemList } from "./problem-list.js";

/** Lines that are drawn above and below those in sight, so that a quick scroll shows no gap. */
const SPARE_LINES = 8;

/** How an editor is made. */
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
  /** Replaces the text, as one step that can be taken back with Ctrl+Z; `onChange` is called. */
  readonly write: (text: string) => void;
  /** Sets the text without telling anybody. */
  readonly begin: (text: string) => void;
  readonly showProblems: (problems: readonly PageProblem[], none: string) => void;
}

interface Known {
  readonly problem: PageProblem;
  /** The line as it was when the mistake was found: once it has changed, the mark is not shown. */
  readonly line: string;
}

/** Replaces what is selected as if it had been typed, so that it can be taken back. */
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
      const mark = { ...stretchOf(line, problem.column, problem.endColumn), severity: problem.severity };
      marks.set(index, [...(marks.get(index) ?? []), mark]);
    }
  }

  function read(): void {
    lines = linesOf(field.value);
    gutter.style.setProperty("--digits", String(Math.max(2, String(lines.length).length)));
    placeMarks();
    drawLines();
  }

  function jump(problem: PageProblem): void {
    const line = lines[Math.min(problem.line, lines.length) - 1] ?? "";
    const start = startOfLine(lines, problem.line);
    const { from, to } = stretchOf(line, problem.column, problem.endColumn);
    field.focus();
    field.setSelectionRange(start + from, start + to);
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
