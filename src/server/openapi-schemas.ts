/** The shapes of requests and answers in OpenAPI's words (spec kubewarden.md 3.2 and 3.3). */

/** A reference to one of {@link API_SCHEMAS}. */
export const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

const text = { type: "string" };
const whole = { type: "integer" };
const truth = { type: "boolean" };
const nullable = (schema: object): object => ({ anyOf: [schema, { type: "null" }] });
const object = (properties: object, required: readonly string[] = []): object => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
});

const kind = object({ group: text, version: text, kind: text }, ["group", "version", "kind"]);
const resource = object({ group: text, version: text, resource: text }, ["group", "version", "resource"]);

/** By name. */
export const API_SCHEMAS: Readonly<Record<string, object>> = {
  AdmissionReview: object({ apiVersion: text, kind: text, request: reference("AdmissionRequest") }, ["request"]),
  AdmissionRequest: object(
    {
      uid: text,
      kind,
      resource,
      operation: { type: "string", examples: ["CREATE", "UPDATE", "DELETE", "CONNECT"] },
      userInfo: { type: "object" },
      name: text,
      namespace: text,
      object: { description: "as it would be stored" },
      oldObject: { description: "as it is stored" },
      options: {},
      dryRun: truth,
    },
    ["uid", "kind", "resource", "operation", "userInfo"],
  ),
  AdmissionReviewAnswer: object({ apiVersion: text, kind: text, response: reference("Response") }, ["response"]),
  RawReview: object({ request: { description: "any JSON" } }, ["request"]),
  RawReviewAnswer: object({ response: reference("Response") }, ["response"]),
  Response: object(
    {
      uid: text,
      allowed: truth,
      patchType: { const: "JSONPatch" },
      patch: { type: "string", contentEncoding: "base64", contentMediaType: "application/json-patch+json" },
      status: object({ message: text, code: whole, reason: text, details: { type: "object" } }),
      auditAnnotations: nullable({ type: "object", additionalProperties: text }),
      warnings: nullable({ type: "array", items: text }),
    },
    ["uid", "allowed"],
  ),
  Problem: object({ message: text, status: whole }, ["message", "status"]),
  Version: object({ version: text, node: text }, ["version", "node"]),
  PageRefusal: object({ error: text }, ["error"]),
};
