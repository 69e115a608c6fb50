/** The JSON Schema of policies.yaml, for editors: made from the definition that reads the file. */
import { celSpec } from "./cel-fields.js";
import { ENTRY_FIELDS, KIND_KEYS, MEMBER_FIELDS, REFERENCE_FIELDS } from "./entry-fields.js";
import { type Fields, recordSchema, required } from "./record-shape.js";
import { type JsonSchema, text } from "./shape.js";

const NAME = { pattern: "^[^/]+$" };
const NAME_FIELD = { name: required(text("a name"), "Name of the member in the expression.") };

/** The schema (draft 2020-12). It accepts what the reader accepts, except for rules that no schema can express: references, cycles, repeated names. */
export function policiesSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Policies of the policy-group gateway",
    description: "A map from policy name to policy: exactly one of module, resource, cel or expression each.",
    type: "object",
    propertyNames: NAME,
    additionalProperties: {
      oneOf: KIND_KEYS.map((kind) => policySchema(ENTRY_FIELDS[kind])),
    },
    $defs: {
      members: {
        oneOf: [
          { type: "object", minProperties: 1, propertyNames: NAME, additionalProperties: { $ref: "#/$defs/member" } },
          { type: "array", minItems: 1, items: { oneOf: memberSchemas(NAME_FIELD) } },
        ],
      },
      celSpec: celSpec.schema,
      member: { oneOf: memberSchemas({}) },
    },
  };
}

function memberSchemas(more: Fields): readonly JsonSchema[] {
  return [REFERENCE_FIELDS, ...KIND_KEYS.map((kind) => MEMBER_FIELDS[kind])].map((fields: Fields) =>
    policySchema({ ...more, ...fields }),
  );
}

/** A reference to a shared definition, with the description of its place. */
function refer(name: string, { description }: JsonSchema): JsonSchema {
  return { description, $ref: `#/$defs/${name}` };
}

/** One kind of policy: `url` may stand for `module`, and `policies` are members. */
function policySchema(fields: Fields): JsonSchema {
  const schema = recordSchema(fields);
  const properties = schema.properties as Record<string, JsonSchema>;
  if (properties.policies !== undefined) properties.policies = refer("members", properties.policies);
  if (properties.cel !== undefined) properties.cel = refer("celSpec", properties.cel);
  if (properties.module === undefined) return schema;
  const needed = (schema.required as readonly string[]).filter((key) => key !== "module");
  return {
    ...schema,
    properties: { ...properties, url: { ...properties.module, description: "Another name for `module`." } },
    required: needed,
    oneOf: [{ required: ["module"] }, { required: ["url"] }],
  };
}
