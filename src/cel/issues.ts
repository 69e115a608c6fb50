/** Collects the problems of one expression and prints them in order of place (spec kubernetes-cel.md 7.7). */
import type { Issue, IssueCode } from "./public-types.js";
import { type Location, NO_LOCATION, type Source } from "./source.js";

/** Problems beyond this many are only counted, so that hostile input can't make the report large. */
const MAX_REPORTED = 100;

/** The problems of an expression, as a failure carries them. */
export interface IssueReport {
  readonly ok: false;
  readonly issues: readonly Issue[];
  readonly text: string;
}

/** Details of a problem. */
export type IssueDetail = Pick<Issue, "name" | "id" | "types">;

/** Problems in the order found. */
export class IssueCollector {
  readonly #found: {
    readonly location: Location;
    readonly message: string;
    readonly about: Omit<Issue, "line" | "column" | "message">;
  }[] = [];
  #count = 0;

  constructor(readonly source: Source) {}

  /** How many problems were added, reported or not. */
  get count(): number {
    return this.#count;
  }

  /** Adds a problem at a code point offset. */
  add(offset: number, message: string, code: IssueCode = "syntax", detail?: IssueDetail): void {
    this.addAt(this.source.locationOf(offset), message, code, detail);
  }

  /** Adds a problem at a place. */
  addAt(location: Location, message: string, code: IssueCode = "syntax", detail?: IssueDetail): void {
    this.#count += 1;
    if (this.#count <= MAX_REPORTED) this.#found.push({ location, message, about: { code, ...detail } });
  }

  /** Adds a problem that has no place. */
  addGlobal(message: string): void {
    this.addAt(NO_LOCATION, message);
  }

  /** All problems sorted by place; those at one place stay in the order found. */
  report(): IssueReport {
    const sorted = this.#found.toSorted(
      (a, b) => a.location.line - b.location.line || a.location.column - b.location.column,
    );
    const lines = sorted.map(({ location, message }) => this.source.display(location, message));
    if (this.#count > MAX_REPORTED) lines.push(`${this.#count - MAX_REPORTED} more errors were truncated`);
    return {
      ok: false,
      issues: sorted.map(({ location: { line, column }, message, about }) => ({
        ...about,
        line,
        column: column + 1,
        message,
      })),
      text: lines.join("\n"),
    };
  }
}
