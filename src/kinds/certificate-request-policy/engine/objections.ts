/** Objections in the words of Kubernetes' field errors (spec certificate-request-policy.md 0.3). */
import { aggregate, goJson, goQuote } from "../../../kubernetes/field-error.js";
import type { Objection } from "./decision.js";

/**
 * Most characters of all objections to one request: a few thousand names, each against the rules of a thousand policies, would fill the memory. A
 * cluster's store accepts no object of more than 1.5 MB, conditions included.
 */
const LONGEST_OBJECTIONS = 2 ** 20;

/** The replacement of objections beyond that. */
const AND_MORE: Objection = { path: "", text: "and more" };

/** The remaining characters of objections to one request. */
export class ObjectionBudget {
  #left = LONGEST_OBJECTIONS;

  /** Whether a text has found no room; all later ones find none either. */
  get spent(): boolean {
    return this.#left < 0;
  }

  /** Takes the room of a text. */
  take(text: string): void {
    this.#left -= text.length;
  }
}

/** Collects an evaluator's objections without repetitions. */
export class ObjectionList {
  readonly #budget: ObjectionBudget;
  readonly #texts = new Set<string>();
  readonly #list: Objection[] = [];
  #full = false;

  constructor(budget = new ObjectionBudget()) {
    this.#budget = budget;
  }

  get all(): readonly Objection[] {
    return this.#list;
  }

  /** Whether there is no room for more: further objections are dropped. */
  get full(): boolean {
    return this.#full;
  }

  /** `<path>: Invalid value: <value>: <detail>`, without the last part if there is no detail. */
  invalid(path: string, value: string | boolean | readonly string[], detail: string): void {
    if (this.#isFull()) return;
    const printed = typeof value === "string" ? goQuote(value) : goJson(value);
    this.#add(path, `${path}: Invalid value: ${printed}${detail === "" ? "" : `: ${detail}`}`);
  }

  required(path: string): void {
    this.#add(path, `${path}: Required value: true`);
  }

  internal(path: string, detail: string): void {
    this.#add(path, `${path}: Internal error: ${detail}`);
  }

  /** An objection that is not a field error. */
  plain(text: string): void {
    this.#add("", text);
  }

  /** Adds an objection; without room for its text it still counts. */
  #add(path: string, text: string): void {
    if (this.#isFull() || this.#texts.has(text)) return;
    this.#budget.take(text);
    if (this.#isFull()) return;
    this.#texts.add(text);
    this.#list.push({ path, text });
  }

  /** Whether there is no room: then nothing is printed, and one placeholder replaces all further objections. */
  #isFull(): boolean {
    if (this.#full || !this.#budget.spent) return this.#full;
    this.#full = true;
    this.#list.push(AND_MORE);
    return true;
  }
}

/** All objections of an evaluator in one text: a single one unchanged, several in brackets. */
export function aggregated(objections: readonly Objection[]): string {
  return objections.length === 0 ? "" : aggregate(objections.map(({ text }) => text));
}
