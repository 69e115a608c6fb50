/** Pages of docs/ that show commands with what they print; tests run them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type PageStep, stepsOf } from "./page-steps.js";
import { printsAs } from "./printed.js";

/** A page while a test goes through it. With the variable `DOCS=write` it is changed where commands print something else than it says. */
export class ShownPage {
  readonly steps: readonly PageStep[];
  readonly #path: string;
  #text: string;

  /** @param name the file in docs/ */
  constructor(name: string) {
    this.#path = fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url));
    this.#text = readFileSync(this.#path, "utf8");
    this.steps = stepsOf(this.#text);
  }

  /**
   * Says that a command has printed this.
   * @param like `figures`: numbers on the page are examples, and those that are printed may be others
   */
  shows({ command, output, block }: PageStep & { readonly kind: "run" }, printed: string, like: Likeness = {}): void {
    if (printsAs(like.figures === true ? output.replace(FIGURE, "…") : output, printed)) return;
    const what = printed.trim() === "" ? "" : `${lasting(printed.trim())}\n`;
    if (process.env.DOCS !== "write") assert.fail(`$ ${command}\n${printed}\n--- but the page has\n${output}`);
    this.#text = this.#text.replace(block, () => `\`\`\`console\n$ ${command}\n${what}\`\`\``);
  }

  /** The end of the page. */
  done(): void {
    if (process.env.DOCS === "write") writeFileSync(this.#path, this.#text);
  }
}

/** How alike what is printed must be. */
interface Likeness {
  readonly figures?: boolean;
}

/** A number that is measured, with its unit; not one within a word. */
const FIGURE = /(?<![\w.])(?:< )?\d[\d.,]*(?: (?:ms|µs|s|%|KiB|MiB))?(?![\w.])/g;

/** Times are others in every run. */
const lasting = (printed: string): string => printed.replace(/\d[\d.]* (?:ms|µs|s)$/gm, "…");

/** What a shell prints. */
export function shell(command: string): Promise<string> {
  return new Promise((resolve) => execFile("bash", ["-c", command], (_, stdout) => resolve(stdout)));
}
