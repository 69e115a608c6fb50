/** When PolicyExceptions end: `spec.expiresAt`, and the label by which Kyverno's cleanup controller deletes objects (spec kyverno.md 5.2). */

import { parseGoDuration } from "../../data/go/duration.js";
import { isRfc3339, rfc3339Time } from "../../data/rfc3339.js";
import { type FieldError, type FieldPath, invalid } from "../../kubernetes/field-error.js";
import { text } from "../../kubernetes/object.js";
import type { ExceptionResource } from "./resource.js";

const TTL_LABEL = "cleanup.kyverno.io/ttl";
const NEVER = Number.POSITIVE_INFINITY;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The end of an exception. */
export interface Expiry {
  /** Milliseconds since 1970; Infinity: never. */
  readonly at: number;
  /** The member that says so, as written; absent: none does. */
  readonly written?: { readonly path: FieldPath; readonly value: string };
}

/** The end of an exception, the earlier one of the two; or the error of one that can't be read, so that how long it lasts is not known. */
export function expiryOf({ metadata, spec }: ExceptionResource): Expiry | FieldError {
  const ends: Expiry[] = [];
  if (spec.expiresAt !== undefined) {
    const path = ["spec", "expiresAt"];
    const at = rfc3339Time(spec.expiresAt);
    if (at === undefined) return invalid(path, spec.expiresAt, "must be a time such as 2030-01-31T00:00:00Z");
    ends.push({ at, written: { path, value: spec.expiresAt } });
  }
  const ttl = metadata.labels?.[TTL_LABEL];
  if (ttl !== undefined) {
    const path = ["metadata", "labels", TTL_LABEL];
    const at = endOf(ttl, text(metadata, "creationTimestamp"));
    if (at === undefined) return invalid(path, ttl, "must be a date such as 2030-01-31, or a duration such as 36h");
    ends.push({ at, written: { path, value: ttl } });
  }
  return ends.reduce((first, next) => (next.at < first.at ? next : first), { at: NEVER });
}

/** Whether a result of {@link expiryOf} is an error. */
export const isUnreadable = (expiry: Expiry | FieldError): expiry is FieldError => "text" in expiry;

/** The warning about an exception that has expired by `now` (milliseconds since 1970); undefined for others. */
export function expiredText(exception: ExceptionResource, now: number): string | undefined {
  const expiry = expiryOf(exception);
  if (isUnreadable(expiry) || expiry.at >= now) return undefined;
  const { namespace = "", name = "" } = exception.metadata;
  return `PolicyException ${namespace === "" ? name : `${namespace}/${name}`} has expired (${expiry.written?.value ?? ""}), and exempts from nothing`;
}

/** The end by the label's value: a date, or a duration from the creation on; an object in a file, without a creation, has yet to begin. */
function endOf(ttl: string, created: string): number | undefined {
  const [, date, hours = "00", minutes = "00", seconds = "00"] =
    /^(\d{4}-\d{2}-\d{2})(?:T(\d{2})(\d{2})(\d{2})Z)?$/.exec(ttl) ?? [];
  if (date !== undefined) return rfc3339Time(`${date}T${hours}:${minutes}:${seconds}Z`);
  const lasts = milliseconds(ttl);
  if (lasts === undefined) return undefined;
  return isRfc3339(created) ? (rfc3339Time(created) ?? 0) + lasts : NEVER;
}

function milliseconds(duration: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,9})(?:d|days?|(w|weeks?))$/i.exec(duration) ?? [];
  if (count !== undefined) return Number(count) * DAY_MS * (unit === "" ? 1 : 7);
  const parsed = parseGoDuration(duration);
  return parsed.ok ? Number(parsed.nanos / 1_000_000n) : undefined;
}
