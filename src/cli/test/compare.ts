/** Compares an answer with a case's expectations. */
import { parseJson, stringifyJson } from "../../data/json.js";
import { diff } from "../../data/json-patch.js";
import { isJsonObject } from "../../data/same-value.js";
import { applyJsonPatch } from "../../kubernetes/json-patch/apply.js";
import type { Review } from "../../policy/index.js";
import type { Verdict } from "../../policy/served/verdict.js";
import type { Expected, MemberOutcome } from "./case.js";

// Differences of JSON values, as lines for display.

/** Most differences that are shown. */
const MAX_LINES = 20;
/** Longest value that is shown. */
const MAX_VALUE = 120;

/** A line for each place that differs: `/spec/replicas: expected 2, got 3`; none when they are equal. */
function differenceLines(expected: unknown, got: unknown): readonly string[] {
  const steps = diff(expected, got);
  const lines = steps.slice(0, MAX_LINES).map((step) => {
    const place = step.path === "" ? "(whole)" : step.path;
    const wanted = step.op === "add" ? "nothing" : shown(valueAt(expected, step.path));
    return `${place}: expected ${wanted}, got ${step.op === "remove" ? "nothing" : shown(step.value)}`;
  });
  return steps.length > MAX_LINES ? [...lines, `and ${steps.length - MAX_LINES} more`] : lines;
}

/** Whether {@link shown} leaves something of a value out. */
const isCut = (value: unknown): boolean => value !== undefined && stringifyJson(value).length > MAX_VALUE;

/** A value on one line. */
function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : stringifyJson(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 3)}...` : text;
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** An expectation that was not met. */
export interface Failure {
  /** The key of the case. */
  readonly key: string;
  /** `expected deny, got allow`. */
  readonly text: string;
  /** More of it, a line each. */
  readonly details: readonly string[];
}

/** The failed expectations; empty when all are met. With another outcome only that: the rest follows from it. */
export function failuresOf(expected: Expected, verdict: Verdict, review: Review): readonly Failure[] {
  const outcome = outcomeFailure(expected, verdict);
  if (outcome !== undefined) return [outcome];
  const { response } = verdict;
  const { allowed, code, reason, warnings, auditAnnotations, members } = expected;
  const failures = [...messageFailures(expected, verdict)];
  const same = (key: string, wanted: unknown, got: unknown): void => {
    if (wanted === undefined) return;
    const lines = differenceLines(wanted, got ?? null);
    if (lines.length === 0) return;
    const details = isCut(wanted) || isCut(got) ? lines : [];
    failures.push({ key, text: `expected ${shown(wanted)}, got ${shown(got)}`, details });
  };
  same("allowed", allowed, response.allowed);
  same("code", code, response.status?.code);
  same("reason", reason, response.status?.reason);
  same("warnings", warnings, response.warnings ?? []);
  same("auditAnnotations", auditAnnotations, response.auditAnnotations ?? {});
  for (const [name, wanted] of Object.entries(members ?? {})) {
    const got = memberOutcome(verdict, name);
    if (got !== wanted) failures.push({ key: "members", text: `${name}: expected ${wanted}, got ${got}`, details: [] });
  }
  return [...failures, ...changeFailures(expected, verdict, review)];
}

/** The message to compare: the reason why the policy does not apply, otherwise that of the response. */
const messageOf = ({ outcome, response }: Verdict): string =>
  outcome.verdict === "skip" ? outcome.reason : (response.status?.message ?? "");

function outcomeFailure({ expect, allowed }: Expected, verdict: Verdict): Failure | undefined {
  const { outcome, response } = verdict;
  const got = outcome.verdict;
  const message = messageOf(verdict);
  const because = message === "" ? "" : `: ${message}`;
  const details = outcome.detail === undefined ? [] : [outcome.detail];
  if (expect === "warn") {
    if ((response.warnings ?? []).length > 0) return undefined;
    return { key: "expect", text: `expected a warning, got ${got} without one${because}`, details };
  }
  if (expect !== undefined && got !== expect)
    return { key: "expect", text: `expected ${expect}, got ${got}${because}`, details };
  if (allowed === undefined || allowed === response.allowed) return undefined;
  return { key: "allowed", text: `expected ${allowed}, got ${response.allowed} (${got}${because})`, details };
}

function* messageFailures(expected: Expected, verdict: Verdict): Generator<Failure> {
  const { expect, message, messageContains, messageMatches } = expected;
  const actual = expect === "warn" ? (verdict.response.warnings ?? []) : [messageOf(verdict)];
  const got = `got ${actual.map((text) => JSON.stringify(text)).join(", ")}`;
  const fails = (fits: (text: string) => boolean): boolean => !actual.some(fits);
  if (message !== undefined && fails((text) => text === message))
    yield { key: "message", text: `expected the message ${JSON.stringify(message)}, ${got}`, details: [] };
  if (messageContains !== undefined && fails((text) => text.includes(messageContains))) {
    const text = `expected a message with ${JSON.stringify(messageContains)}, ${got}`;
    yield { key: "messageContains", text, details: [] };
  }
  if (messageMatches !== undefined && fails((text) => messageMatches.matcher(text).find())) {
    const text = `expected a message that matches ${JSON.stringify(messageMatches.pattern())}, ${got}`;
    yield { key: "messageMatches", text, details: [] };
  }
}

function changeFailures({ patch, mutated }: Expected, { response }: Verdict, review: Review): readonly Failure[] {
  if (patch === undefined && mutated === undefined) return [];
  const written = response.patch === undefined ? [] : parseJson(Buffer.from(response.patch, "base64").toString("utf8"));
  const operations = Array.isArray(written) ? written.filter(isJsonObject) : [];
  const failures: Failure[] = [];
  if (patch !== undefined) {
    const details = differenceLines(patch, operations);
    const text = `expected ${shown(patch)}, got ${shown(operations)}`;
    if (details.length > 0)
      failures.push({ key: "patch", text, details: isCut(patch) || isCut(operations) ? details : [] });
  }
  if (mutated !== undefined) {
    const object = review.kind === "raw" ? review.payload : review.request.object;
    const changed = isJsonObject(object) && operations.length > 0 ? applied(object, operations) : undefined;
    if (changed?.kind === "error" || changed?.kind === "panic" || changed?.kind === "internal")
      return [...failures, { key: "mutated", text: `the patch can't be applied: ${changed.message}`, details: [] }];
    const details = differenceLines(mutated.object, changed?.kind === "patched" ? changed.object : (object ?? null));
    const text = operations.length === 0 ? "the policy changes nothing" : "the object is another one";
    if (details.length > 0) failures.push({ key: "mutated", text, details });
  }
  return failures;
}

type Json = Readonly<Record<string, unknown>>;

function applied(object: Json, operations: readonly Json[]) {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const steps = operations.map(({ op, path, from, value }) => ({
    op: text(op),
    path: text(path),
    from: text(from),
    value,
  }));
  return applyJsonPatch(object, steps);
}

function memberOutcome({ entry, observations }: Verdict, name: string): MemberOutcome {
  const outcomes = observations.filter(({ policy, member }) => member && policy === `${entry.id}/${name}`);
  return outcomes.at(-1)?.outcome.verdict ?? "not evaluated";
}
