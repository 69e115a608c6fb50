/** The JSON Schema of test files, for editors: made from the definition that reads them. */
import { ENTRY_FIELDS } from "../../config/entry-fields.js";
import { recordSchema } from "../../config/record-shape.js";
import type { JsonSchema } from "../../config/shape.js";
import { caseShape, EXPECTED_KEYS, fileShape, KIND_KEYS } from "./fields.js";

/** The schema (draft 2020-12). It accepts what the reader accepts, except for combinations of keys, which a schema can't express. */
export function testsSchema(): JsonSchema {
  const { properties, ...file } = recordSchema(fileShape.fields);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Tests of policies of the policy-group gateway",
    ...file,
    properties: {
      ...(properties as Record<string, JsonSchema>),
      // As in policies.yaml.
      ...Object.fromEntries(KIND_KEYS.map((kind) => [kind, entryKey(kind)])),
      cases: { type: "array", description: "What is asked, and what is expected.", items: { $ref: "#/$defs/case" } },
    },
    $defs: {
      case: { ...recordSchema(caseShape.fields), anyOf: EXPECTED_KEYS.map((key) => ({ required: [key] })) },
    },
  };
}

function entryKey(kind: (typeof KIND_KEYS)[number]): JsonSchema {
  const { properties } = recordSchema(ENTRY_FIELDS[kind]);
  return (properties as Record<string, JsonSchema>)[kind] ?? {};
}
