/** How answers are called, and which colours that has. */
import type { Verdict } from "../../evaluation/verdict.js";
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

/** `0.31 ms`, `12 ms`, `1.2 s`: three digits are what a clock is good for. */
export function timeText(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toPrecision(3)} s`;
  if (milliseconds >= 100) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 0.01 ? `${(milliseconds * 1000).toPrecision(2)} µs` : `${milliseconds.toPrecision(2)} ms`;
}
