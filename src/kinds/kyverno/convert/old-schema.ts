/** The schema of ClusterPolicy and Policy, equal to that of their CustomResourceDefinitions (Kyverno 1.19.1); what is never converted may be anything. */
import {
  ANY,
  BOOLEAN,
  list,
  map,
  type ObjectSchema,
  object,
  oneOf,
  type Schema,
  STRING,
} from "../../../kubernetes/custom-resource/schema.js";

const STRINGS = list(STRING);
const INT32: Schema = { type: "integer", format: "int32" };
const SELECTOR = object({
  matchLabels: map(STRING),
  matchExpressions: list(object({ key: STRING, operator: STRING, values: STRINGS }, ["key", "operator"])),
});
const NAMED_EXPRESSIONS = list(object({ name: STRING, expression: STRING }, ["expression", "name"]));

const FILTER = {
  clusterRoles: STRINGS,
  roles: STRINGS,
  subjects: list(object({ apiGroup: STRING, kind: STRING, name: STRING, namespace: STRING }, ["kind", "name"])),
  resources: object({
    annotations: map(STRING),
    kinds: STRINGS,
    name: STRING,
    names: STRINGS,
    namespaces: STRINGS,
    namespaceSelector: SELECTOR,
    operations: list(oneOf("CREATE", "CONNECT", "UPDATE", "DELETE")),
    selector: SELECTOR,
  }),
};
const FILTERS = list(object(FILTER));
const MATCH = object({ ...FILTER, any: FILTERS, all: FILTERS });

const CONTEXT = list(
  object(
    {
      name: STRING,
      apiCall: object({
        data: list(object({ key: STRING, value: ANY }, ["key", "value"])),
        default: ANY,
        jmesPath: STRING,
        method: { ...oneOf("GET", "POST"), default: "GET" },
        service: object(
          { caBundle: STRING, headers: list(object({ key: STRING, value: STRING }, ["key", "value"])), url: STRING },
          ["url"],
        ),
        urlPath: STRING,
      }),
      configMap: object({ name: STRING, namespace: STRING }, ["name"]),
      globalReference: object({ jmesPath: STRING, name: STRING }, ["name"]),
      imageRegistry: ANY,
      variable: object({ default: ANY, jmesPath: STRING, value: ANY }),
    },
    ["name"],
    ["apiCall", "configMap", "globalReference", "imageRegistry", "variable"],
  ),
);

/** The operators of conditions. */
export const OPERATORS: readonly string[] = [
  ...["Equals", "NotEquals", "In", "AnyIn", "AllIn", "NotIn", "AnyNotIn", "AllNotIn"],
  ...["GreaterThanOrEquals", "GreaterThan", "LessThanOrEquals", "LessThan"],
  ...["DurationGreaterThanOrEquals", "DurationGreaterThan", "DurationLessThanOrEquals", "DurationLessThan"],
];
const CONDITIONS = list(object({ key: ANY, message: STRING, operator: oneOf(...OPERATORS), value: ANY }));
const ANY_ALL = object({ any: CONDITIONS, all: CONDITIONS });

const CONTROLS = [
  "HostProcess,Host Namespaces,Privileged Containers,Capabilities,HostPath Volumes,Host Ports,AppArmor,SELinux,/proc Mount Type",
  "Seccomp,Sysctls,Volume Types,Privilege Escalation,Running as Non-root,Running as Non-root user",
].flatMap((each) => each.split(","));
const VERSIONS = [...Array.from({ length: 14 }, (_, index) => `v1.${index + 19}`), "latest"];

const POD_SECURITY_EXCLUDES = list(
  object({ controlName: oneOf(...CONTROLS), images: STRINGS, restrictedField: STRING, values: STRINGS }, [
    "controlName",
  ]),
);

const OVERRIDES = list(
  object({
    action: oneOf("audit", "enforce", "Audit", "Enforce"),
    namespaceSelector: SELECTOR,
    namespaces: STRINGS,
  }),
);

const FOREACH = list(
  object({
    anyPattern: ANY,
    context: CONTEXT,
    deny: object({ conditions: ANY }),
    elementScope: BOOLEAN,
    foreach: ANY,
    list: STRING,
    pattern: ANY,
    preconditions: ANY_ALL,
  }),
);

const VALIDATE = object({
  allowExistingViolations: BOOLEAN,
  anyPattern: ANY,
  assert: ANY,
  cel: object({
    auditAnnotations: list(object({ key: STRING, valueExpression: STRING }, ["key", "valueExpression"])),
    expressions: list(
      object({ expression: STRING, message: STRING, messageExpression: STRING, reason: STRING }, ["expression"]),
    ),
    generate: BOOLEAN,
    paramKind: object({ apiVersion: STRING, kind: STRING }),
    paramRef: object({ name: STRING, namespace: STRING, parameterNotFoundAction: STRING, selector: SELECTOR }),
    variables: list(object({ name: STRING, expression: STRING }, ["expression", "name"])),
  }),
  deny: object({ conditions: ANY }),
  failureAction: oneOf("Audit", "Enforce"),
  failureActionOverrides: OVERRIDES,
  foreach: FOREACH,
  manifests: ANY,
  message: STRING,
  pattern: ANY,
  podSecurity: object({
    exclude: POD_SECURITY_EXCLUDES,
    level: oneOf("privileged", "baseline", "restricted"),
    version: oneOf(...VERSIONS),
  }),
});

const MUTATE = object({
  foreach: list(
    object({
      context: CONTEXT,
      foreach: ANY,
      list: STRING,
      order: oneOf("Ascending", "Descending"),
      patchStrategicMerge: ANY,
      patchesJson6902: STRING,
      preconditions: ANY_ALL,
    }),
  ),
  mutateExistingOnPolicyUpdate: BOOLEAN,
  patchStrategicMerge: ANY,
  patchesJson6902: STRING,
  targets: ANY,
});

const RULE = object(
  {
    celPreconditions: NAMED_EXPRESSIONS,
    context: CONTEXT,
    exclude: MATCH,
    generate: ANY,
    imageExtractors: ANY,
    match: MATCH,
    mutate: MUTATE,
    name: { type: "string", maxLength: 63 },
    preconditions: ANY,
    reportProperties: map(STRING),
    skipBackgroundRequests: BOOLEAN,
    validate: VALIDATE,
    verifyImages: ANY,
  },
  ["match", "name"],
);

const FAILURE_POLICY = oneOf("Ignore", "Fail");

/** A policy without its metadata. */
export const OLD_POLICY_SCHEMA: ObjectSchema = object(
  {
    apiVersion: STRING,
    kind: STRING,
    metadata: ANY,
    spec: object({
      admission: BOOLEAN,
      applyRules: oneOf("All", "One"),
      background: BOOLEAN,
      emitWarning: BOOLEAN,
      failurePolicy: FAILURE_POLICY,
      generateExisting: BOOLEAN,
      generateExistingOnPolicyUpdate: BOOLEAN,
      mutateExistingOnPolicyUpdate: BOOLEAN,
      rules: list(RULE),
      schemaValidation: BOOLEAN,
      useServerSideApply: BOOLEAN,
      validationFailureAction: oneOf("audit", "enforce", "Audit", "Enforce"),
      validationFailureActionOverrides: OVERRIDES,
      webhookConfiguration: object({
        failurePolicy: FAILURE_POLICY,
        matchConditions: NAMED_EXPRESSIONS,
        timeoutSeconds: INT32,
      }),
      webhookTimeoutSeconds: INT32,
    }),
    status: ANY,
  },
  ["spec"],
);

const REFERENCES = list(object({ policyName: STRING, ruleNames: STRINGS }, ["policyName", "ruleNames"]));

/** A PolicyException of the old language without its metadata. */
export const OLD_EXCEPTION_SCHEMA: ObjectSchema = object(
  {
    apiVersion: STRING,
    kind: STRING,
    metadata: ANY,
    spec: object(
      {
        background: BOOLEAN,
        conditions: ANY_ALL,
        exceptions: REFERENCES,
        match: object({ any: FILTERS, all: FILTERS }),
        podSecurity: POD_SECURITY_EXCLUDES,
      },
      ["exceptions", "match"],
    ),
  },
  ["spec"],
);
