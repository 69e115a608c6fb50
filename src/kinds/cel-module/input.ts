/** What the module's expressions see of a request: Go reads JSON numbers as doubles, and so are they here. */
import { Lazy } from "../../cel/index.js";
import type { Review } from "../../policy/review.js";
import type { Doubles } from "../shared/doubles.js";
import { goKind, isMap, requestMembers, requestMistake, ruleValues } from "./request-shape.js";

/** What expressions know, the small before the large that they may be part of. */
export const NAMES = ["object", "oldObject", "request"] as const;

/** One of {@link NAMES}. */
export type Name = (typeof NAMES)[number];

/** The variables and what they are made of, or what the module answers when it can't make them. */
export type ModuleInput =
  | { readonly variables: Readonly<Record<Name, Lazy>>; readonly values: Readonly<Record<Name, unknown>> }
  | { readonly error: string }
  | { readonly unreadable: string };

/** Reads a review as the module does, its failures in the module's words. */
export function moduleInput(review: Review, doubles: Doubles): ModuleInput {
  const payload: unknown = review.kind === "raw" ? review.payload : review.request;
  const members = requestMembers(payload);
  // The reader of admission reviews has seen to the types of their fields.
  const mistake = review.kind === "raw" ? requestMistake(payload, members) : undefined;
  if (mistake !== undefined) return { unreadable: `Error deserializing request: json: cannot unmarshal ${mistake}` };
  const { object, oldObject } = ruleValues(members);
  if (object === undefined) return { error: "cannot unmarshal request object unexpected end of JSON input" };
  for (const [name, value] of Object.entries({ object, oldObject })) {
    if (value === undefined || value === null || isMap(value)) continue;
    const reason = `json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`;
    return { error: `cannot unmarshal request ${name} ${reason}` };
  }
  // Made when an expression refers to them: most refer to `object` only.
  const values = { request: payload, object: object ?? {}, oldObject: oldObject ?? {} };
  return {
    values,
    variables: {
      request: new Lazy(() => doubles.ofMembers(values.request)),
      object: new Lazy(() => doubles.of(values.object)),
      oldObject: new Lazy(() => doubles.of(values.oldObject)),
    },
  };
}
