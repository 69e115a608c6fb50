/** Changes as text: a table by policy, and examples. */

import { printable } from "../../data/printable.js";
import { aboutOf, CHANGE_WORDS, type Changed } from "../../offline/replay/changed.js";
import type { Change } from "../../offline/replay/compare.js";
import type { Output, Summary } from "../../offline/replay/output.js";
import type { Answer } from "../../offline/replay/question.js";
import { type Counts, isChange } from "../../offline/replay/tally.js";
import { drawTable } from "../../offline/reports/text-table.js";
import type { Paint, Tone } from "../look/paint.js";

/** Most examples of a kind of change of a policy, and in all; --all shows more. */
const EXAMPLES_EACH = 3;
const EXAMPLES = 20;
/** Characters of a message. */
const MESSAGE_CHARACTERS = 300;

const COLUMNS: readonly (readonly [heading: string, of: keyof Counts, always: boolean])[] = [
  ["REQUESTS", "requests", true],
  ["SAME", "same", true],
  ["NOW DENIED", "nowDenied", true],
  ["NOW ALLOWED", "nowAllowed", true],
  ["MESSAGE", "message", true],
  ["PATCH", "patch", true],
  ["FAILS NOW", "failed", true],
  ["NOT DECIDED", "undecided", true],
  // Where the former answer is unknown.
  ["DENIED", "denies", false],
  ["ALLOWED", "allows", false],
];

const TONES: Readonly<Partial<Record<Change, Tone>>> = {
  nowDenied: "bad",
  failed: "bad",
  nowAllowed: "doubt",
  undecided: "doubt",
  denies: "bad",
};

/** Text on standard output. */
export class TextOutput implements Output {
  readonly #write: (text: string) => Promise<void>;
  readonly #paint: Paint;
  readonly #all: boolean;
  readonly #examples: string[] = [];
  readonly #seen = new Map<string, number>();
  #left = 0;

  /** @param all whether every change is printed, as it is found */
  constructor(write: (text: string) => Promise<void>, paint: Paint, all: boolean) {
    this.#write = write;
    this.#paint = paint;
    this.#all = all;
  }

  async change(changed: Changed): Promise<void> {
    if (this.#all) {
      await this.#write(this.#text(changed));
      return;
    }
    const key = `${changed.change} ${changed.policy}`;
    const seen = this.#seen.get(key) ?? 0;
    if (seen >= EXAMPLES_EACH || this.#examples.length >= EXAMPLES) {
      this.#left += 1;
      return;
    }
    this.#seen.set(key, seen + 1);
    this.#examples.push(this.#text(changed));
  }

  async end({ tally, unreadable, skipped, doubts }: Summary): Promise<void> {
    const { total } = tally;
    const columns = COLUMNS.filter(([, of, always]) => always || total[of] > 0);
    const rows = tally.policies.map(([policy, counts]) => [
      printable(policy),
      ...columns.map(([, of]) => String(counts[of])),
    ]);
    const paint = this.#paint;
    const table = drawTable(["POLICY", ...columns.map(([heading]) => heading)], rows, paint("strong", "x") !== "x");
    const gap = this.#all && tally.changes > 0 ? "\n" : "";
    await this.#write(gap + table);
    if (this.#examples.length > 0) await this.#write(`\n${this.#examples.join("")}`);
    if (this.#left > 0) await this.#write(paint("quiet", `and ${this.#left} more (--all lists them)\n`));
    const notes = [
      total.requests > 0 && total.same === total.requests ? paint("good", "Nothing would change.") : "",
      total.redacted > 0
        ? `Changes about requests with redacted fields, which may come of that alone: ${total.redacted}.`
        : "",
      ...doubts.map(([doubt, count]) => `Requests of which ${printable(doubt)}: ${count}.`),
      ...skipped.map(([why, count]) => `Left out, ${printable(why)}: ${count}.`),
      unreadable.count > 0
        ? paint(
            "doubt",
            `Could not be read: ${unreadable.count}${unreadable.count > unreadable.first.length ? `, the first ${unreadable.first.length} of them` : ""}`,
          )
        : "",
      ...unreadable.first.map(({ place, why }) => `  ${printable(place)}: ${printable(why)}`),
    ].filter((note) => note !== "");
    if (notes.length > 0) await this.#write(`\n${notes.join("\n")}\n`);
  }

  #text({ policy, change, question, before, after }: Changed): string {
    const paint = this.#paint;
    const { uid, operation = "raw request", kind = "", namespace, name = "" } = aboutOf(question);
    const object = [namespace, name].filter((part) => part !== undefined && part !== "").join("/");
    const about = [operation, kind, object, uid === "" ? "" : `uid ${uid}`].filter((part) => part !== "").join(" ");
    const now = "undecided" in after ? `not decided: ${cut(after.undecided)}` : answerText(after);
    const lines = [
      `${paint(TONES[change] ?? "name", CHANGE_WORDS[change])}  ${paint("strong", printable(policy))}  ${cut(about)}  ${paint("quiet", printable(question.place))}`,
      ...(before === undefined ? [] : [`    was: ${answerText(before)}`]),
      `    now: ${now}`,
      ...(change === "patch" && !("undecided" in after) ? patchLines(before, after) : []),
      ...(question.redacted && isChange(change) ? ["    redacted fields: may differ"] : []),
      ...question.doubts.map((doubt) => `    ${printable(doubt)}`),
    ];
    return `${lines.join("\n")}\n`;
  }
}

function answerText({ allowed, message, warnings = [], failed, ofServer }: Answer): string {
  const verdict = failed === true ? "failed" : allowed ? "allowed" : "denied";
  const words = message === undefined || message === "" ? "" : `: ${message}`;
  const warned = warnings.length === 0 ? "" : ` (warnings: ${warnings.join("; ")})`;
  return `${verdict}${ofServer === true ? " by the API server" : ""}${cut(words + warned)}`;
}

function patchLines(before: Answer | undefined, after: Answer): string[] {
  return [`    patch was: ${cut(patchText(before?.patch))}`, `    patch now: ${cut(patchText(after.patch))}`];
}

const patchText = (patch: unknown): string =>
  patch === undefined
    ? "none"
    : JSON.stringify(patch, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));

const cut = (text: string): string =>
  printable(text.length > MESSAGE_CHARACTERS ? `${text.slice(0, MESSAGE_CHARACTERS)}…` : text);
