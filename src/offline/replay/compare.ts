/** What is different between two answers. */
import { sameValue } from "../../data/same-value.js";
import { REDACTED } from "../../telemetry/recording/index.js";
import type { Answer } from "./question.js";

/**
 * What became of an answer. `failed`: the policy can't decide any more; `undecided`: nobody can be asked, or only what is not there would tell; `denies` and
 * `allows`: what is answered now, where nothing is known of before.
 */
export type Change =
  | "same"
  | "nowDenied"
  | "nowAllowed"
  | "message"
  | "patch"
  | "failed"
  | "undecided"
  | "denies"
  | "allows";

/** An answer, or why there is none. */
export type Asked = Answer | { readonly undecided: string };

/** What is different in `after`. */
export function changeOf(before: Answer | undefined, after: Asked): Change {
  if ("undecided" in after) return "undecided";
  if (after.failed === true && before?.failed !== true) return "failed";
  if (before === undefined) return after.allowed ? "allows" : "denies";
  if (before.allowed !== after.allowed) return after.allowed ? "nowAllowed" : "nowDenied";
  if (before.ofServer === true) return "same";
  if (!sameWords(before.message, after.message)) return "message";
  if (!sameList(before.warnings ?? [], after.warnings ?? [])) return "message";
  return samePatch(before.patch, after.patch) ? "same" : "patch";
}

/** What was redacted can't be compared, and is taken for the same. */
const isRedacted = (text: string | undefined): boolean => text?.includes(REDACTED) === true;

const sameWords = (a: string | undefined, b: string | undefined): boolean =>
  (a ?? "") === (b ?? "") || isRedacted(a) || isRedacted(b);

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => sameWords(text, b[index]));
}

function samePatch(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return sameValue(a, b) || isRedacted(JSON.stringify(a, plainNumbers)) || isRedacted(JSON.stringify(b, plainNumbers));
}

/** Which `JSON.stringify` does not print. */
const plainNumbers = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
