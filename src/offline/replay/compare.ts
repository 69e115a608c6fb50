/** Compares two answers. */
import { sameValue } from "../../data/same-value.js";
import { REDACTED } from "../../telemetry/recording/index.js";
import type { Answer } from "./question.js";

/**
 * The change of an answer. `failed`: the policy can no longer decide; `undecided`: there is no policy, or data are missing for a decision; `denies`
 * and `allows`: the present answer, where the former one is unknown.
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

/** An answer, or the reason why there is none. */
export type Asked = Answer | { readonly undecided: string };

/** The change from `before` to `after`. */
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

/** Whether a text was redacted: such texts can't be compared, and count as equal. */
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

/** Converts numbers that `JSON.stringify` does not print. */
const plainNumbers = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
