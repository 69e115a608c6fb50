/** `GET /openapi.json`: the server's routes, as OpenAPI 3.1. A test compares its paths with the routes. */
import type { RequestListener } from "node:http";
import { VERSION } from "../data/version.js";
import type { Webhook } from "../policy/webhook.js";
import { sendJson } from "./respond.js";

// The shapes of requests and answers in OpenAPI's words (spec kubewarden.md 3.2 and 3.3).

/** A reference to one of {@link API_SCHEMAS}. */
const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

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

/** The schemas by name. */
const API_SCHEMAS: Readonly<Record<string, object>> = {
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

/** The served paths. */
export interface OpenApiOptions {
  /** Paths behind the hot routes: without those that a setting has switched off. */
  readonly paths: readonly string[];
  readonly webhooks: readonly Pick<Webhook, "path" | "name">[];
}

type Operation = Readonly<Record<string, unknown>>;
/** A path's operations by method. */
type PathItem = Readonly<Record<string, unknown>>;

/** The route's handler. */
export function openApiRoute(options: OpenApiOptions): RequestListener {
  const text = JSON.stringify(openApi(options));
  return (_request, response) => sendJson(response, 200, text);
}

/** The document. */
export function openApi({ paths, webhooks }: OpenApiOptions): { readonly paths: Readonly<Record<string, PathItem>> } {
  const served = paths.flatMap((path) => (Object.hasOwn(BY_PATH, path) ? [[path, BY_PATH[path]!] as const] : []));
  return {
    openapi: "3.1.0",
    info: {
      title: "policy-server",
      version: VERSION,
      description:
        "Admission policies over HTTP. What policies decide, errors included, is a 200 with `allowed` true or false.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths: {
      ...HOT,
      ...Object.fromEntries(webhooks.map(({ path, name }) => [path, webhookItem(name)])),
      ...Object.fromEntries(served),
      ...PROBES,
    },
    components: { schemas: API_SCHEMAS, responses: RESPONSES },
  } as never;
}

const json = (schema: object): object => ({ "application/json": { schema } });
const ok = (description: string, content?: object): object => ({
  200: { description, ...(content && { content }) },
});
const get = (
  operationId: string,
  summary: string,
  responses: object,
  parameters: readonly object[] = [],
): PathItem => ({
  get: { operationId, summary, ...(parameters.length > 0 && { parameters }), responses },
});

const problem = (description: string): object => ({ description, content: json(reference("Problem")) });

const RESPONSES = {
  Refused: problem("the request can't be answered with a review: docs/http.md has the statuses"),
  UnknownPolicy: problem("no policy has this id"),
};

const ID = {
  name: "id",
  in: "path",
  required: true,
  description: "the name of a policy or group, or `<group>/<member>` with the slash as it is or as `%2F`",
  schema: { type: "string" },
};
const TIMEOUT = {
  name: "timeout",
  in: "query",
  description: "how long the caller waits, as the API server appends it",
  schema: { type: "string", examples: ["10s"] },
};

const review = (operationId: string, summary: string, request: string, response: string): PathItem => ({
  post: {
    operationId,
    summary,
    parameters: [ID, TIMEOUT],
    requestBody: { required: true, content: json(reference(request)) },
    responses: {
      ...ok("the policy's answer", json(reference(response))),
      404: { $ref: "#/components/responses/UnknownPolicy" },
      default: { $ref: "#/components/responses/Refused" },
    },
  } satisfies Operation,
});

/** The hot routes, which are always on. */
const HOT: Readonly<Record<string, PathItem>> = {
  "/validate/{id}": review(
    "validate",
    "ask a policy about an admission request",
    "AdmissionReview",
    "AdmissionReviewAnswer",
  ),
  "/audit/{id}": review(
    "audit",
    "the same, but the policy's own verdict: no monitor mode, no mutation rule, no custom message",
    "AdmissionReview",
    "AdmissionReviewAnswer",
  ),
  "/validate_raw/{id}": review("validateRaw", "ask a policy about any JSON", "RawReview", "RawReviewAnswer"),
};

const webhookItem = (name: string): PathItem => ({
  post: {
    summary: `whether a policy of ${name} is one, for the API server`,
    requestBody: { required: true, content: json(reference("AdmissionReview")) },
    responses: {
      ...ok("the answer", json(reference("AdmissionReviewAnswer"))),
      default: { $ref: "#/components/responses/Refused" },
    },
  },
});

/** The probes on a port of their own, always by plain HTTP. */
const PROBES: Readonly<Record<string, PathItem>> = {
  "/readiness": get("readiness", "whether requests are answered well; on the readiness port", {
    ...ok("yes, until the server begins to stop"),
    503: { description: "no; the body may say why" },
  }),
  "/liveness": get("liveness", "whether the process turns; on the readiness port", ok("yes")),
};

const INTERVAL = { name: "interval", in: "query", description: "seconds, 30 if absent", schema: { type: "number" } };
const profile = (operationId: string, what: string): PathItem =>
  get(
    operationId,
    `a profile of ${what}, with --enable-pprof`,
    {
      ...ok("for browsers' developer tools", { "application/octet-stream": {} }),
      409: { description: "another profile is being taken" },
    },
    [INTERVAL],
  );

const pagePost = (operationId: string, summary: string): PathItem => ({
  post: {
    operationId,
    summary,
    requestBody: { required: true, content: json({ type: "object" }) },
    responses: {
      ...ok("the answer", json({ type: "object" })),
      default: { description: "refused", content: json(reference("PageRefusal")) },
    },
  },
});

const file = (type: string): PathItem => ({
  get: { summary: "a file of the page", responses: ok("the file", { [type]: {} }) },
});

/** The routes behind the hot ones. */
const BY_PATH: Readonly<Record<string, PathItem>> = {
  "/policies": get(
    "policies",
    "what is served, and what is unavailable and why",
    ok("the policies", json({ type: "object" })),
  ),
  "/metrics": get("metrics", "metrics of all processes; on the readiness port, too", {
    ...ok("in Prometheus' text format", { "text/plain": {} }),
    503: { description: "not all processes handed over theirs in time" },
  }),
  "/version": get("version", "which server this is", ok("its version and that of Node.js", json(reference("Version")))),
  "/openapi.json": get("openapi", "this document", ok("OpenAPI 3.1", json({ type: "object" }))),
  "/debug/pprof/cpu": profile("cpuProfile", "the processor's time"),
  "/debug/pprof/heap": profile("heapProfile", "memory"),
  "/": get("page", "the page in the browser", ok("the page", { "text/html": {} })),
  "/page/page.js": file("text/javascript"),
  "/page/page.css": file("text/css"),
  "/page/state": get("pageState", "what the page shows", ok("what is served", json({ type: "object" }))),
  "/page/check": pagePost("pageCheck", "what is wrong with a draft; with --page play"),
  "/page/evaluate": pagePost("pageEvaluate", "asks a draft or what is served, explained; with --page play"),
};
