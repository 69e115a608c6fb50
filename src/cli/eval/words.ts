/** Names of answers, with their colours. */
import type { Verdict } from "../../policy/served/verdict.js";
import type { Tone } from "../look/paint.js";

/** An answer in a word. */
export type Word = "ALLOWED" | "DENIED" | "ERROR" | "DOES NOT APPLY";

/** All words, in the order of the counts. */
export const WORDS: readonly Word[] = ["ALLOWED", "DENIED", "DOES NOT APPLY", "ERROR"];

/** The word of a verdict: by the response, then by the policy's outcome. */
export function wordOf({ response, outcome }: Verdict): Word {
  if (!response.allowed) return outcome.verdict === "error" ? "ERROR" : "DENIED";
  return outcome.verdict === "skip" ? "DOES NOT APPLY" : "ALLOWED";
}

/** The tone of each word. */
export const TONES: Readonly<Record<Word, Tone>> = {
  ALLOWED: "good",
  DENIED: "bad",
  ERROR: "bad",
  "DOES NOT APPLY": "quiet",
};

/** `0.31 ms`, `3.1 ms`, `12 ms`, `1.2 s`: two digits are as precise as a single measurement. */
export function timeText(milliseconds: number): string {
  if (milliseconds >= 999.5) return `${digits(milliseconds / 1000)} s`;
  return milliseconds < 0.00995 ? `${digits(milliseconds * 1000)} µs` : `${digits(milliseconds)} ms`;
}

/** A number with two digits, and all of those before the point. */
function digits(value: number): string {
  if (value >= 9.95) return String(Math.round(value));
  return value >= 0.995 ? value.toFixed(1) : value.toPrecision(2);
}
