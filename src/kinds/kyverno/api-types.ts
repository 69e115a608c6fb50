/**
 * The schemas of Kyverno's resources, equal to those of their CustomResourceDefinitions (spec kyverno.md 1.2, 4.5 and 5.1). All versions of a kind have the
 * same.
 */
import {
  ANY,
  BOOLEAN,
  INTEGER,
  list,
  map,
  type ObjectSchema,
  object,
  oneOf,
  type Schema,
  STRING,
} from "../../kubernetes/custom-resource/schema.js";

const STRINGS = list(STRING);

const LABEL_SELECTOR = object({
  matchLabels: map(STRING),
  matchExpressions: list(object({ key: STRING, operator: STRING, values: STRINGS }, ["key", "operator"])),
});

const RULES = list(
  object({
    apiGroups: STRINGS,
    apiVersions: STRINGS,
    operations: STRINGS,
    resourceNames: STRINGS,
    resources: STRINGS,
    scope: STRING,
  }),
);

const NAMED_EXPRESSION = object({ name: STRING, expression: STRING }, ["expression", "name"]);
/** Named expressions, each name once. */
const NAMED_EXPRESSIONS = list(NAMED_EXPRESSION, { key: "name" });
const ENABLED = object({ enabled: BOOLEAN });
const ENABLED_UNLESS_SAID = object({ enabled: { type: "boolean", default: true } });

const MATCH_RESOURCES = {
  namespaceSelector: LABEL_SELECTOR,
  objectSelector: LABEL_SELECTOR,
  resourceRules: RULES,
  excludeResourceRules: RULES,
  matchPolicy: STRING,
};

/** The members that validating and mutating policies have in common. */
const COMMON_SPEC = {
  failurePolicy: oneOf("Ignore", "Fail"),
  matchConstraints: object(MATCH_RESOURCES),
  matchConditions: NAMED_EXPRESSIONS,
  variables: NAMED_EXPRESSIONS,
  auditAnnotations: list(object({ key: STRING, valueExpression: STRING }, ["key", "valueExpression"])),
  webhookConfiguration: object({ timeoutSeconds: { type: "integer", format: "int32" } }),
} as const;

const EVALUATION = { mode: STRING, admission: ENABLED_UNLESS_SAID, background: ENABLED_UNLESS_SAID } as const;
const POD_CONTROLLERS = object({ controllers: STRINGS });

const VALIDATIONS = list(
  object({ expression: STRING, message: STRING, messageExpression: STRING, reason: STRING }, ["expression"]),
);
const VALIDATION_ACTIONS = list(oneOf("Deny", "Audit", "Warn"), "whole");

const POLICY_SPEC = object({
  ...COMMON_SPEC,
  validations: VALIDATIONS,
  validationActions: VALIDATION_ACTIONS,
  evaluation: object(EVALUATION),
  autogen: object({ podControllers: POD_CONTROLLERS, validatingAdmissionPolicy: ENABLED }),
});

const EXPRESSION = object({ expression: STRING });

const MUTATING_SPEC = object({
  ...COMMON_SPEC,
  mutations: list(object({ patchType: STRING, jsonPatch: EXPRESSION, applyConfiguration: EXPRESSION }, ["patchType"])),
  reinvocationPolicy: STRING,
  targetMatchConstraints: object({ ...MATCH_RESOURCES, expression: STRING }),
  targetMatchConditions: NAMED_EXPRESSIONS,
  evaluation: object({
    ...EVALUATION,
    mutateExisting: object({ enabled: { type: "boolean", default: false } }),
    skipBackgroundRequests: { type: "boolean", default: true },
    useServerSideApply: BOOLEAN,
  }),
  autogen: object({ podControllers: POD_CONTROLLERS, mutatingAdmissionPolicy: ENABLED }),
});

const TEXT_OR_EXPRESSION = object({ value: STRING, expression: STRING }, [], ["value", "expression"]);
const TYPED = object({ type: STRING }, ["type"]);
const ENABLED_BY_DEFAULT: Schema = { type: "boolean", default: true };

/** Members that are texts. */
const texts = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, STRING]));

const IDENTITY = object(texts("issuer", "subject", "issuerRegExp", "subjectRegExp", "subjectExpression"));
const SECRET = object({ name: { type: "string", default: "" } });
const LOG_KEYS = texts("url", "rekorPubKey", "ctLogPubKey", "tsaCertChain");

const COSIGN = object({
  key: object(texts("data", "kms", "hashAlgorithm", "expression")),
  keyless: object({ identities: list(IDENTITY), roots: STRING, additionalExtensions: map(STRING) }, ["identities"]),
  certificate: object({ cert: TEXT_OR_EXPRESSION, certChain: TEXT_OR_EXPRESSION }),
  source: object({ ...texts("repository", "tagPrefix"), PullSecrets: list(SECRET) }),
  ctlog: object({ ...LOG_KEYS, insecureIgnoreTlog: BOOLEAN, insecureIgnoreSCT: BOOLEAN }),
  tuf: object({ mirror: STRING, root: object(texts("data", "path")) }),
  annotations: map(STRING),
  trustedRoot: TEXT_OR_EXPRESSION,
});

const NOTARY = object({ certs: TEXT_OR_EXPRESSION, tsaCerts: TEXT_OR_EXPRESSION });
const PROVIDER = oneOf("default", "amazon", "azure", "google", "github");

const IMAGE_SPEC = object(
  {
    ...COMMON_SPEC,
    // Unlike those of other kinds, these may have the same name twice.
    matchConditions: list(NAMED_EXPRESSION),
    variables: list(NAMED_EXPRESSION),
    images: list(NAMED_EXPRESSION),
    validations: VALIDATIONS,
    validationActions: VALIDATION_ACTIONS,
    evaluation: object(EVALUATION),
    autogen: object({ podControllers: POD_CONTROLLERS }),
    validationConfigurations: {
      ...object({ mutateDigest: ENABLED_BY_DEFAULT, verifyDigest: ENABLED_BY_DEFAULT, required: ENABLED_BY_DEFAULT }),
      default: {},
    },
    matchImageReferences: list(object({ glob: STRING, expression: STRING }, [], ["glob", "expression"])),
    credentials: object({ allowInsecureRegistry: BOOLEAN, providers: list(PROVIDER), secrets: STRINGS }),
    attestors: list(object({ name: STRING, cosign: COSIGN, notary: NOTARY }, ["name"], ["cosign", "notary"])),
    attestations: list(object({ name: STRING, intoto: TYPED, referrer: TYPED }, ["name"])),
  },
  ["attestors", "validations"],
);

const EXCEPTION_SPEC = object(
  {
    policyRefs: list(object({ name: STRING, kind: STRING }, ["kind", "name"])),
    matchConditions: list(NAMED_EXPRESSION),
    images: STRINGS,
    allowedValues: STRINGS,
    reportResult: { type: "string", enum: ["skip", "pass"], default: "skip" },
    expiresAt: { type: "string", format: "date-time" },
    properties: map(STRING),
    evaluationMode: STRING,
  },
  ["policyRefs"],
);

const CONTEXT_ENTRY_SPEC = object(
  {
    kubernetesResource: object({ group: STRING, version: STRING, resource: STRING, namespace: STRING }, [
      "resource",
      "version",
    ]),
    apiCall: object({
      urlPath: STRING,
      method: { type: "string", enum: ["GET", "POST"], default: "GET" },
      data: list(object({ key: STRING, value: ANY }, ["key", "value"])),
      service: object(
        {
          url: STRING,
          caBundle: STRING,
          headers: list(object({ key: STRING, value: STRING }, ["key", "value"])),
        },
        ["url"],
      ),
      refreshInterval: { type: "string", format: "duration", default: "10m" },
      retryLimit: { ...INTEGER, minimum: 1, default: 3 },
    }),
    projections: list(object({ name: STRING, jmesPath: STRING }, ["jmesPath", "name"])),
  },
  [],
  ["kubernetesResource", "apiCall"],
);

const STATUS_CONDITIONS = list(
  object(
    {
      lastTransitionTime: { type: "string", format: "date-time" },
      message: STRING,
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
      reason: STRING,
      status: oneOf("True", "False", "Unknown"),
      type: STRING,
    },
    ["lastTransitionTime", "message", "reason", "status", "type"],
  ),
);

const TARGETS = list(
  object({ group: STRING, version: STRING, resource: STRING, kind: STRING }, ["kind", "resource", "version"]),
);

const policyStatus = (spec: Schema) =>
  object({
    conditionStatus: object({ ready: BOOLEAN, message: STRING, conditions: STATUS_CONDITIONS }),
    autogen: object({ configs: map(object({ targets: TARGETS, spec }, ["spec", "targets"])) }),
    generated: BOOLEAN,
  });

const CONTEXT_ENTRY_STATUS = object({
  ready: BOOLEAN,
  conditions: STATUS_CONDITIONS,
  lastRefreshTime: { type: "string", format: "date-time" },
});

/** An object without its metadata, which is the same for all kinds. Its status has no meaning here, but is checked like the rest. */
const resource = (spec: Schema, status: Readonly<Record<string, Schema>>): ObjectSchema =>
  object({ apiVersion: STRING, kind: STRING, metadata: ANY, spec, ...status }, ["spec"]);

export const POLICY_SCHEMA: ObjectSchema = resource(POLICY_SPEC, { status: policyStatus(POLICY_SPEC) });
export const MUTATING_SCHEMA: ObjectSchema = resource(MUTATING_SPEC, { status: policyStatus(MUTATING_SPEC) });
export const IMAGE_SCHEMA: ObjectSchema = resource(IMAGE_SPEC, { status: policyStatus(IMAGE_SPEC) });
/** Exceptions have no status. */
export const EXCEPTION_SCHEMA: ObjectSchema = resource(EXCEPTION_SPEC, {});
export const CONTEXT_ENTRY_SCHEMA: ObjectSchema = resource(CONTEXT_ENTRY_SPEC, { status: CONTEXT_ENTRY_STATUS });
