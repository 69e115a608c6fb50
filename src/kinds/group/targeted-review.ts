import { printedOnce } from "../../data/printed-once.js";
import type { AdmissionRequest, Review } from "../../policy/index.js";

/**
 * The question `member(value)` asks: the same request, about another value. `object` (or the raw payload) is the value; its own apiVersion
 * and kind, when it has them, become the request's. Name and namespace stay: whoever writes the object could choose another Namespace's rules.
 * There is no old object: the value's former state is not known.
 */
export function reviewOf(review: Review, value: unknown): Review {
  if (review.kind === "raw") {
    return { kind: "raw", payload: value, requestBytes: printedOnce(value), targeted: true };
  }
  const { oldObject: _, object: __, ...rest } = review.request;
  const kind = kindOf(value);
  // Of a request without an object, such as DELETE, `object` is null: asked about that, members see none, as when they are asked about the request.
  const object = value === null ? {} : { object: value };
  const request: AdmissionRequest = { ...rest, ...(kind && { kind, requestKind: kind }), ...object };
  return { kind: "admission", request, requestBytes: printedOnce(request), targeted: true };
}

/** What a Kubernetes object says that it is. */
function kindOf(value: unknown): AdmissionRequest["kind"] | undefined {
  const apiVersion = member(value, "apiVersion");
  const kind = member(value, "kind");
  return typeof apiVersion === "string" && typeof kind === "string" ? groupVersionKind(apiVersion, kind) : undefined;
}

function groupVersionKind(apiVersion: string, kind: string): AdmissionRequest["kind"] {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind };
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}
