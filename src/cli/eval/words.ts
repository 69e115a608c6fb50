/** How answers are called, and which colours that has. */
import type { Verdict } from "../../policy/served/verdict.js";
import type { Tone } from "../look/paint.js";

/** What came of a question, in a word. */
export type Word = "ALLOWED" | "DENIED" | "ERROR" | "DOES NOT APPLY";

/** All of them, in the order in which they are counted. */
export const WORDS: readonly Word[] = ["ALLOWED", "DENIED", "DOES NOT APPLY", "ERROR"];

/** By what the client of a server gets, then by what the policy said. */
export function wordOf({ response, outcome }: Verdict): Word {
  if (!response.allowed) return outcome.verdict === "error" ? "ERROR" : "DENIED";
  return outcome.verdict === "skip" ? "DOES NOT APPLY" : "ALLOWED";
}

/** What each of them means. */
export const TONES: Readonly<Record<Word, Tone>> = {
  ALLOWED: "good",
  DENIED: "bad",
  ERROR: "bad",
  "DOES NOT APPLY": "quiet",
};

/** `0.31 ms`, `3.1 ms`, `12 ms`, `1.2 s`: two digits are what a clock that is looked at once is good for. */
export function timeText(milliseconds: number): string {
  if (milliseconds >= 999.5) return `${digits(milliseconds / 1000)} s`;
  return milliseconds < 0.00995 ? `${digits(milliseconds * 1000)} µs` : `${digits(milliseconds)} ms`;
}

/** Two digits, and as many before the point as there are. */
function digits(value: number): string {
  if (value >= 9.95) return String(Math.round(value));
  return value >= 0.995 ? value.toFixed(1) : value.toPrecision(2);
}
