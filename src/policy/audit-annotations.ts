/**
 * Audit annotations within the API server's limits. It puts the webhook's name and a slash before each key, and drops what is not a qualified name then:
 * another slash, more than 63 characters.
 */
import { createHash } from "node:crypto";
import { goJson } from "../kubernetes/field-error.js";
import type { Found } from "./outcome.js";

/** Characters of the longest key. */
const LONGEST = 63;
/** Hexadecimal digits that replace the name before a key when it leaves no room for the key. */
const DIGITS = 8;
const UNUSABLE = /[^A-Za-z0-9._-]+/g;
const EDGES = /^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g;

/**
 * `<name>.<key>` of each, where the name is that of a policy or member; where that is too long or taken, a few digits in place of the name.
 * @param taken annotations that keep their keys
 */
export function annotationKeys(
  annotations: readonly (readonly [name: string, key: string, value: string])[],
  taken: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const found = new Map(Object.entries(taken));
  for (const [name, key, value] of annotations) {
    const plain = `${name}.${key}`.replace(UNUSABLE, "-").replace(EDGES, "");
    const isFree = plain.length <= LONGEST && plain !== "" && !found.has(plain);
    const short = isFree ? plain : shortKey(name, key);
    found.set(found.has(short) ? shortKey(`${name}.${key}`, key) : short, value);
  }
  return Object.fromEntries(found);
}

function shortKey(name: string, key: string): string {
  const digits = createHash("sha256").update(name).digest("hex").slice(0, DIGITS);
  const end = key.replace(UNUSABLE, "-").slice(-(LONGEST - DIGITS - 1));
  return `${digits}.${end}`.replace(EDGES, "");
}

/** Longest value of an annotation, in bytes (spec validating-admission-policy.md 8.3). */
const VALUE_MAX_BYTES = 10_240;

/** The longest beginning of an annotation's value that fits, cut between characters. */
export const cutValue = (value: string): string => cutBytes(value, VALUE_MAX_BYTES);

function cutBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const bytes = Buffer.from(text);
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/** The annotations of one policy for one request (disposable): repeated values count once. */
export class AnnotationValues {
  /** Made at first use: most policies have none. */
  #values: Map<string, Set<string>> | undefined;

  add(key: string, value: string): void {
    this.#values ??= new Map();
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  /** Each key with its values joined, in order. */
  joined(): readonly (readonly [key: string, value: string])[] {
    return this.#values === undefined
      ? NONE
      : Array.from(this.#values, ([key, values]) => [key, [...values].join(", ")] as const);
  }
}

const NONE: readonly never[] = [];

/** Most entries of the validation_failure annotation; it bounds the audit log. */
const MAX_FAILURES = 50;
/** Longest message of an entry, in bytes: that of the longest message expression. */
const MESSAGE_MAX_BYTES = 5_120;
/** Longest validation_failure annotation, in bytes: entries that do not fit are left out. */
const FAILURES_MAX_BYTES = 65_536;
/** The same of all members of a group, in bytes. */
const ALL_FAILURES_MAX_BYTES = 1_048_576;
/** The key of what Audit finds. */
export const FAILURE_KEY = "validation_failure";

/** The value of the validation_failure annotation (spec validating-admission-policy.md 8.2); `undefined` when there is nothing to write. */
export function validationFailure(found: readonly Found[], room = FAILURES_MAX_BYTES): string | undefined {
  const entries: string[] = [];
  let left = room;
  for (const { action, message, policy = "", binding = "", index, actions } of found) {
    if (action !== "Audit" || index === undefined) continue;
    const cut = cutBytes(message, MESSAGE_MAX_BYTES);
    const entry = goJson({ message: cut, policy, binding, expressionIndex: index, validationActions: actions });
    left -= Buffer.byteLength(entry) + 1;
    if (left < 0 || entries.push(entry) === MAX_FAILURES) break;
  }
  return entries.length === 0 ? undefined : `[${entries.join(",")}]`;
}

/** Annotations with what Audit found: `validation_failure`, of a group's members `<member>.validation_failure`. */
export function withFailures(
  annotations: Readonly<Record<string, string>> | undefined,
  found: readonly Found[],
): Readonly<Record<string, string>> | undefined {
  const byMember = new Map<string, Found[]>();
  for (const each of found) {
    const { member = "" } = each;
    const others = byMember.get(member);
    if (others === undefined) byMember.set(member, [each]);
    else others.push(each);
  }
  const failures: [name: string, key: string, value: string][] = [];
  let left = ALL_FAILURES_MAX_BYTES;
  for (const [member, each] of byMember) {
    const value = validationFailure(each, Math.min(left, FAILURES_MAX_BYTES));
    if (value === undefined) continue;
    left -= Buffer.byteLength(value);
    failures.push([member.replaceAll("/", "."), FAILURE_KEY, value]);
  }
  return failures.length === 0 ? annotations : annotationKeys(failures, annotations);
}
