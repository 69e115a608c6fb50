/** Cases of scripts/go-types: objects, and what Kubernetes' own code makes of them. */
import { sameValue } from "../../../src/data/same-value.js";
import { asStruct, asStructStrictly, type Shaped, structOf } from "../../../src/kubernetes/go-types/as-struct.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";

interface Outcome {
  readonly object?: JsonObject;
  readonly error?: string;
}

/** One case. */
export interface GoCase {
  readonly id: string;
  /** `apiVersion/Kind`. */
  readonly kind: string;
  readonly object: JsonObject;
  readonly converter: Outcome;
  /** Where it differs from the converter's. */
  readonly json?: Outcome;
  /** The strict decoder's error; none where it takes the object. */
  readonly strict?: string;
}

/** What we make of a case in another way than Go, as texts. */
export function differences(testCase: GoCase): readonly string[] {
  const { id, kind, object, converter, json = converter, strict } = testCase;
  const at = kind.lastIndexOf("/");
  const type = structOf(kind.slice(0, at), kind.slice(at + 1));
  if (type === undefined) return [`${id}: the kind is not known`];
  const strictly = asStructStrictly(object, type);
  const refused = strictly.ok ? undefined : strictly.error;
  return [
    ...difference(`${id} converter`, converter, asStruct(object, type, "converter")),
    ...difference(`${id} json`, json, asStruct(object, type)),
    ...(refused === strict ? [] : [`${id} strict: ${refused} instead of ${strict}`]),
  ];
}

function difference(what: string, expected: Outcome, actual: Shaped): readonly string[] {
  if (!actual.ok)
    return actual.error === expected.error ? [] : [`${what}: ${actual.error} instead of ${expected.error}`];
  if (sameValue(actual.object, expected.object)) return [];
  return [`${what}: ${JSON.stringify(actual.object)} instead of ${JSON.stringify(expected)}`];
}
