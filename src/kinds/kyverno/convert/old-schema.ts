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

/** Members of one schema, by their names with spaces between. */
const each = (schema: Schema, names: string): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.split(" ").map((name) => [name, schema]));
const strings = (names: string) => each(STRING, names);
/** An object of texts, all of which must be there. */
const texts = (names: string): ObjectSchema => object(strings(names), names.split(" "));

const STRINGS = list(STRING);
const INT32: Schema = { type: "integer", format: "int32" };
const SELECTOR = object({
  matchLabels: map(STRING),
  matchExpressions: list(object({ ...strings("key operator"), values: STRINGS }, ["key", "operator"])),
});
const NAMED_EXPRESSIONS = list(texts("expression name"));

const FILTER = {
  ...each(STRINGS, "clusterRoles roles"),
  subjects: list(object(strings("apiGroup kind name namespace"), ["kind", "name"])),
  resources: object({
    annotations: map(STRING),
    name: STRING,
    ...each(STRINGS, "kinds names namespaces"),
    ...each(SELECTOR, "namespaceSelector selector"),
    operations: list(oneOf("CREATE", "CONNECT", "UPDATE", "DELETE")),
  }),
};
const ANY_OR_ALL = each(list(object(FILTER)), "any all");
const MATCH = object({ ...FILTER, ...ANY_OR_ALL });

const SOURCES = "apiCall configMap globalReference imageRegistry variable";
const API_CALL = object({
  ...strings("jmesPath urlPath"),
  data: list(object({ key: STRING, value: ANY }, ["key", "value"])),
  default: ANY,
  method: { ...oneOf("GET", "POST"), default: "GET" },
  service: object({ ...strings("caBundle url"), headers: list(texts("key value")) }, ["url"]),
});
const CONTEXT = list(
  object(
    {
      name: STRING,
      apiCall: API_CALL,
      configMap: object(strings("name namespace"), ["name"]),
      globalReference: object(strings("jmesPath name"), ["name"]),
      imageRegistry: ANY,
      variable: object({ jmesPath: STRING, ...each(ANY, "default value") }),
    },
    ["name"],
    SOURCES.split(" "),
  ),
);

const COMPARED = "GreaterThanOrEquals GreaterThan LessThanOrEquals LessThan".split(" ");
const OPERATOR = oneOf(
  ..."Equals NotEquals In AnyIn AllIn NotIn AnyNotIn AllNotIn".split(" "),
  ...COMPARED,
  ...COMPARED.map((operator) => `Duration${operator}`),
);
const CONDITIONS = list(object({ ...each(ANY, "key value"), message: STRING, operator: OPERATOR }));
const ANY_ALL = object({ any: CONDITIONS, all: CONDITIONS });

const CONTROLS = [
  "HostProcess,Host Namespaces,Privileged Containers,Capabilities,HostPath Volumes,Host Ports,AppArmor,SELinux,/proc Mount Type",
  "Seccomp,Sysctls,Volume Types,Privilege Escalation,Running as Non-root,Running as Non-root user",
].flatMap((names) => names.split(","));
const VERSIONS = [...Array.from({ length: 14 }, (_, index) => `v1.${index + 19}`), "latest"];
const POD_SECURITY_EXCLUDES = list(
  object({ controlName: oneOf(...CONTROLS), ...each(STRINGS, "images values"), restrictedField: STRING }, [
    "controlName",
  ]),
);

const ACTION = oneOf("audit", "enforce", "Audit", "Enforce");
const OVERRIDES = list(object({ action: ACTION, namespaceSelector: SELECTOR, namespaces: STRINGS }));
const DENY = object({ conditions: ANY });
const LOOP = { context: CONTEXT, foreach: ANY, list: STRING, preconditions: ANY_ALL };

const VALIDATE = object({
  ...each(ANY, "anyPattern assert manifests pattern"),
  allowExistingViolations: BOOLEAN,
  cel: object({
    auditAnnotations: list(texts("key valueExpression")),
    expressions: list(object(strings("expression message messageExpression reason"), ["expression"])),
    generate: BOOLEAN,
    paramKind: object(strings("apiVersion kind")),
    paramRef: object({ ...strings("name namespace parameterNotFoundAction"), selector: SELECTOR }),
    variables: NAMED_EXPRESSIONS,
  }),
  deny: DENY,
  failureAction: oneOf("Audit", "Enforce"),
  failureActionOverrides: OVERRIDES,
  foreach: list(object({ ...LOOP, ...each(ANY, "anyPattern pattern"), deny: DENY, elementScope: BOOLEAN })),
  message: STRING,
  podSecurity: object({
    exclude: POD_SECURITY_EXCLUDES,
    level: oneOf("privileged", "baseline", "restricted"),
    version: oneOf(...VERSIONS),
  }),
});

const PATCHES = { patchStrategicMerge: ANY, patchesJson6902: STRING };
const MUTATE = object({
  ...PATCHES,
  foreach: list(object({ ...LOOP, ...PATCHES, order: oneOf("Ascending", "Descending") })),
  mutateExistingOnPolicyUpdate: BOOLEAN,
  targets: ANY,
});

const RULE = object(
  {
    ...each(ANY, "generate imageExtractors preconditions verifyImages"),
    ...each(MATCH, "exclude match"),
    celPreconditions: NAMED_EXPRESSIONS,
    context: CONTEXT,
    mutate: MUTATE,
    name: { type: "string", maxLength: 63 },
    reportProperties: map(STRING),
    skipBackgroundRequests: BOOLEAN,
    validate: VALIDATE,
  },
  ["match", "name"],
);

const FAILURE_POLICY = oneOf("Ignore", "Fail");
const SPEC = object({
  ...each(BOOLEAN, "admission background emitWarning generateExisting generateExistingOnPolicyUpdate"),
  ...each(BOOLEAN, "mutateExistingOnPolicyUpdate schemaValidation useServerSideApply"),
  applyRules: oneOf("All", "One"),
  failurePolicy: FAILURE_POLICY,
  rules: list(RULE),
  validationFailureAction: ACTION,
  validationFailureActionOverrides: OVERRIDES,
  webhookConfiguration: object({
    failurePolicy: FAILURE_POLICY,
    matchConditions: NAMED_EXPRESSIONS,
    timeoutSeconds: INT32,
  }),
  webhookTimeoutSeconds: INT32,
});

const resource = (spec: ObjectSchema): ObjectSchema =>
  object({ ...strings("apiVersion kind"), ...each(ANY, "metadata status"), spec }, ["spec"]);

/** A policy without its metadata. */
export const OLD_POLICY_SCHEMA = resource(SPEC);

/** A PolicyException of the old language without its metadata. */
export const OLD_EXCEPTION_SCHEMA = resource(
  object(
    {
      background: BOOLEAN,
      conditions: ANY_ALL,
      exceptions: list(object({ policyName: STRING, ruleNames: STRINGS }, ["policyName", "ruleNames"])),
      match: object(ANY_OR_ALL),
      podSecurity: POD_SECURITY_EXCLUDES,
    },
    ["exceptions", "match"],
  ),
);
