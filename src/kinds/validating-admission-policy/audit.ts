/** The values of audit annotations (spec validating-admission-policy.md 8). */
import { goJson } from "../../kubernetes/field-error.js";
import type { PolicyDecision } from "./decision.js";

/** Most entries of the validation_failure annotation; it bounds the audit log. */
const MAX_AUDITED = 50;
/** Longest value of an audit annotation, in bytes. */
const VALUE_MAX_BYTES = 10_240;

/** The value of the validation_failure annotation; `undefined` when nothing was audited. */
export function validationFailure({ audited }: PolicyDecision): string | undefined {
  if (audited.length === 0) return undefined;
  const entries = audited.slice(0, MAX_AUDITED).map(({ message, policy, binding, index }) => ({
    message,
    policy: policy.name,
    binding: binding?.name ?? "",
    expressionIndex: index,
    validationActions: binding?.actions,
  }));
  return goJson(entries);
}

/** The longest beginning of an annotation's value that fits, cut between characters. */
export function cutValue(value: string): string {
  if (Buffer.byteLength(value) <= VALUE_MAX_BYTES) return value;
  const bytes = Buffer.from(value);
  let end = VALUE_MAX_BYTES;
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
