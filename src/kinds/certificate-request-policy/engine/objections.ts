/** Objections in the words of Kubernetes' field errors (spec certificate-request-policy.md 0.3). */
import { aggregate, goJson, goQuote } from "../../../kubernetes/field-error.js";
import type { Objection } from "./decision.js";

/**
 * Characters of all objections to one request: a few thousand names, each against the rules of a thousand policies, would fill the memory. A cluster's
 * store takes no object of more than one and a half million octets, conditions included.
 */
const LONGEST_OBJECTIONS = 2 ** 20;

/** What stands for objections beyond that. */
const AND_MORE: Objection = { path: "", text: "and more" };

/** How much the objections to one request may still say. */
export class ObjectionBudget {
  #left = LONGEST_OBJECTIONS;

  /** Whether a text has found no room: none does from then on. */
  get spent(): boolean {
    return this.#left < 0;
  }

  /** Takes the room of a text. */
  take(text: string): void {
    this.#left -= text.length;
  }
}

/** Collects what an evaluator objects by; what says the same as an earlier one is dropped. */
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

  /** Whether there is no room for more: what else is objected is not said. */
  get full(): boolean {
    return this.#full;
  }

  /** `<path>: Invalid value: <value>: <detail>`, without the last part where there is no detail. */
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

  /** An objection stays one, whatever room there is for its words. */
  #add(path: string, text: string): void {
    if (this.#isFull() || this.#texts.has(text)) return;
    this.#budget.take(text);
    if (this.#isFull()) return;
    this.#texts.add(text);
    this.#list.push({ path, text });
  }

  /** Where there is no room nothing is printed: an objection that is not said stands for all. */
  #isFull(): boolean {
    if (this.#full || !this.#budget.spent) return this.#full;
    this.#full = true;
    this.#list.push(AND_MORE);
    return true;
  }
}

/** All of an evaluator in one text: one alone as it is, several in brackets. */
export function aggregated(objections: readonly Objection[]): string {
  return objections.length === 0 ? "" : aggregate(objections.map(({ text }) => text));
}
