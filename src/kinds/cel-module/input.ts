/** What the module's expressions see of a request: Go reads JSON numbers as doubles, and so are they here. */
import type { Value } from "../../cel/index.js";
import { setKey } from "../../data/plain-object.js";
import type { Review } from "../../policy/review.js";
import { fieldsInAnyCase, goKind, isMap, requestMistake } from "./request-shape.js";

/** The variables, or what the module answers when it can't make them. */
export type ModuleInput =
  | { readonly object: Value; readonly oldObject: Value; readonly request: Value }
  | { readonly error: string }
  | { readonly unreadable: string };

/** Reads a review as the module does, its failures in the module's words. */
export function moduleInput(review: Review): ModuleInput {
  const payload: unknown = review.kind === "raw" ? review.payload : review.request;
  // The reader of admission reviews has seen to the types of their fields.
  const mistake = review.kind === "raw" ? requestMistake(payload) : undefined;
  if (mistake !== undefined) return { unreadable: `Error deserializing request: json: cannot unmarshal ${mistake}` };
  const request = withDoubles(payload);
  const { object, oldObject } = fieldsInAnyCase(request);
  if (object === undefined) return { error: "cannot unmarshal request object unexpected end of JSON input" };
  for (const [name, value] of Object.entries({ object, oldObject })) {
    if (value === undefined || value === null || isMap(value)) continue;
    const reason = `json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`;
    return { error: `cannot unmarshal request ${name} ${reason}` };
  }
  return { request, object: object ?? {}, oldObject: oldObject ?? {} };
}

/** A copy whose integers are doubles of the engine's value model. */
function withDoubles(value: unknown): Value {
  if (typeof value === "number" || typeof value === "bigint") {
    const double = Number(value);
    return Number.isSafeInteger(double) ? (Object(double) as Value) : double;
  }
  if (Array.isArray(value)) return value.map(withDoubles);
  if (!isMap(value)) return value as Value;
  const copy: Record<string, Value> = {};
  for (const key of Object.keys(value)) setKey(copy, key, withDoubles(value[key]));
  return copy;
}
