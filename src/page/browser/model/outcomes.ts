import type { ExplainedAnswer } from "../../../kinds/explanation/types.js";

/** The look of an outcome: a symbol and words, never a colour alone. `tone` is the class of its colour. */
export interface Look {
  readonly tone: "good" | "bad" | "failed" | "quiet" | "unasked";
  readonly symbol: string;
  readonly word: string;
}

const LOOKS: ReadonlyMap<ExplainedAnswer["outcome"], Look> = new Map([
  ["allow", { tone: "good", symbol: "✓", word: "allow" }],
  ["deny", { tone: "bad", symbol: "✕", word: "deny" }],
  ["error", { tone: "failed", symbol: "!", word: "error" }],
  ["skip", { tone: "quiet", symbol: "–", word: "does not apply" }],
  ["not evaluated", { tone: "unasked", symbol: "·", word: "not evaluated" }],
  ["no answer", { tone: "failed", symbol: "…", word: "no answer in time" }],
]);

/** The look of an outcome. One that this page does not know is shown as it is. */
export function lookOf(outcome: ExplainedAnswer["outcome"]): Look {
  return LOOKS.get(outcome) ?? { tone: "quiet", symbol: "?", word: String(outcome) };
}

/** The headline of an answer: the result of the request, not only of the policy. */
export function verdictOf(allowed: boolean, outcome: ExplainedAnswer["outcome"]): Look {
  if (outcome === "error" || outcome === "no answer") {
    return { ...lookOf(outcome), word: allowed ? "Error, let through" : "Error, denied" };
  }
  if (outcome === "skip" && allowed) return { ...lookOf("skip"), word: "Does not apply" };
  return allowed ? { ...lookOf("allow"), word: "Allowed" } : { ...lookOf("deny"), word: "Denied" };
}

/** The look of a value in CEL's notation: booleans and errors have a colour. */
export function lookOfValue(value: string | undefined, failed: boolean): Look {
  if (failed) return lookOf("error");
  if (value === undefined) return lookOf("not evaluated");
  if (value === "true") return { tone: "good", symbol: "✓", word: value };
  if (value === "false") return { tone: "bad", symbol: "✕", word: value };
  return { tone: "quiet", symbol: "=", word: value };
}

/** Milliseconds for people: `0.04 ms`, `12 ms`, `1.5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds >= 10) return `${Math.round(milliseconds)} ms`;
  return milliseconds >= 0.1 ? `${milliseconds.toFixed(1)} ms` : `${milliseconds.toFixed(2)} ms`;
}
