/** Merges as tests write them. */
import { parseJson, stringifyJson } from "../../../src/data/json.js";
import { setKey } from "../../../src/data/plain-object.js";
import { isObject, type JsonObject } from "../../../src/kubernetes/object.js";
import { applyConfiguration } from "../../../src/kubernetes/structured-merge/apply-configuration.js";
import {
  type BundledSchemas,
  bundledSchemas,
  customResourceSchemas,
  type VersionSchemas,
} from "../../../src/kubernetes/structured-merge/merge-schemas.js";
import { ForeignValue, NIL_LIST, type PatchValue } from "../../../src/kubernetes/structured-merge/patch-value.js";

/** The built-in kinds. */
export const BUNDLED: BundledSchemas = bundledSchemas();

/** The types of a custom resource `acme.example/v1` `Thing`. */
export function thing(openAPIV3Schema: unknown): VersionSchemas | undefined {
  const versions = [{ name: "v1", served: true, schema: { openAPIV3Schema } }];
  const definition = { spec: { group: "acme.example", names: { kind: "Thing" }, versions } };
  return customResourceSchemas([definition], BUNDLED).version("acme.example", "v1");
}

/** A thing's types, of its spec's schema. */
export function thingOf(spec: JsonObject): VersionSchemas {
  const schemas = thing({ type: "object", properties: { spec } });
  if (schemas === undefined) throw new Error("the schema makes no types");
  return schemas;
}

/** What stands for values that JSON does not have. */
const PROTOBUF_NULL = new ForeignValue(
  "structpb.NullValue",
  () => "NULL_VALUE",
  () => "0",
);

/** A patch from JSON: `{"$null": 1}` is CEL's null, `{"$uint": n}` a uint. */
export function patchOf(value: unknown): PatchValue {
  if (value === NIL_LIST) return NIL_LIST;
  if (Array.isArray(value)) return value.map(patchOf);
  if (!isObject(value)) return value as PatchValue;
  if ("$null" in value) return PROTOBUF_NULL;
  const { $uint } = value as { readonly $uint?: unknown };
  if ($uint !== undefined) {
    return new ForeignValue(
      "uint64",
      () => String($uint),
      () => `0x${Number($uint).toString(16)}`,
    );
  }
  const result: Record<string, PatchValue> = {};
  for (const key of Object.keys(value)) setKey(result, key, patchOf(value[key]));
  return result;
}

/** The object that comes of a merge, or the failure. Texts are JSON. */
export function applied(schemas: VersionSchemas, live: unknown, patch: unknown): unknown {
  const outcome = applyConfiguration(schemas, live as JsonObject, patchOf(patch) as Record<string, PatchValue>);
  return "object" in outcome ? outcome.object : outcome.failure;
}

/** The spec of a thing after a patch of its spec; texts are JSON, so that doubles can be written. */
export function spec(schemas: VersionSchemas, live: string, patch: string): unknown {
  const head = '{"apiVersion":"acme.example/v1","kind":"Thing","spec":';
  const outcome = applied(schemas, parseJson(`${head}${live}}`), parseJson(`{"spec":${patch}}`));
  return isObject(outcome) ? stringifyJson(outcome.spec) : String(outcome).replace(/^error applying patch: /, "");
}
