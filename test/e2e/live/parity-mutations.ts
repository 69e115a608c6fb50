/**
 * MutatingAdmissionPolicies of a generator. Several change one object; since the API server's plugin has no order, what each writes is its own, and does not depend
 * on what others write. In a namespace only the first may fail a request: which of several failures is said would be left to chance.
 */
import { pick, type Random } from "../../fuzz/random.js";

/** A rule of the generator. */
interface Rule {
  readonly operations: readonly string[];
}

const API = "admissionregistration.k8s.io/v1";
const MOST = 3;

const label = (of: string, value: string): string => `Object{metadata: Object.metadata{labels: {"${of}": ${value}}}}`;
const note = (of: string, value: string): string =>
  `Object{metadata: Object.metadata{annotations: {"${of}": ${value}}}}`;
const patched = (...operations: string[]): string => `[${operations.map((each) => `JSONPatch{${each}}`).join(", ")}]`;
/** Adds a label by a JSON patch, whether there are others or not. */
const labelled = (of: string, value: string): string =>
  `has(object.metadata.labels) ? ${patched(`op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("${of}/x"), value: ${value}`)} : ${patched(`op: "add", path: "/metadata/labels", value: {"${of}/x": ${value}}`)}`;

/** What any object can be changed by; `of` is the name of what a policy writes. */
const ANY: readonly ((of: string) => string)[] = [
  (of) => label(of, "string(request.operation)"),
  (of) => label(of, "variables.name"),
  (of) => label(of, 'namespaceObject.metadata.labels["odd"]'),
  (of) => label(of, 'request.userInfo.username.split(":")[0]'),
  (of) => label(of, 'request.?subResource.orValue("none") + "-" + request.resource.version'),
  (of) => note(of, "request.requestKind.kind + request.requestResource.version"),
  (of) => note(of, 'object.kind + " " + object.apiVersion'),
  (of) => note(of, "string(variables.isNew)"),
  (of) =>
    note(of, 'string(authorizer.group("").resource("secrets").namespace(request.namespace).check("get").allowed())'),
  (of) => labelled(of, '"patched"'),
  (of) => labelled(of, "string(size(request.name))"),
  () => patched(`op: "replace", path: "/metadata/labels/team", value: "c"`),
];
/** What only some kinds can be changed by, with the condition that it is one of them. */
const SOME: readonly (readonly [condition: string, expression: (of: string) => string])[] = [
  ["object.kind == 'ConfigMap'", (of) => `Object{data: {"${of}": "written", "k": "over"}}`],
  [
    "object.kind == 'ConfigMap'",
    (of) => patched(`op: "copy", from: "/data", path: "/binaryData"`, `op: "add", path: "/data/${of}", value: "1"`),
  ],
  ["object.kind == 'ConfigMap'", () => patched(`op: "move", from: "/data/k", path: "/data/moved"`)],
  ["object.kind == 'Secret'", (of) => `Object{stringData: {"${of}": "written"}}`],
  ["object.kind == 'Secret'", (of) => patched(`op: "add", path: "/data/${of}", value: "eA=="`)],
  [
    "object.kind == 'Service'",
    (of) => `Object{spec: Object.spec{ports: [Object.spec.ports{name: "${of}", port: 7000}]}}`,
  ],
  ["object.kind == 'Service'", () => "Object{spec: Object.spec{sessionAffinity: 'ClientIP'}}"],
  ["object.kind == 'ServiceAccount'", (of) => `Object{imagePullSecrets: [Object.imagePullSecrets{name: "${of}"}]}`],
  ["object.kind == 'ServiceAccount'", () => "Object{automountServiceAccountToken: false}"],
  [
    "object.kind == 'Pod'",
    (of) => `Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "${of}", image: "i"}]}}`,
  ],
  [
    "object.kind == 'Pod'",
    (of) =>
      `Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", env: [Object.spec.containers.env{name: "${of.toUpperCase().replaceAll("-", "_")}", value: "v"}]}]}}`,
  ],
  ["object.kind == 'Pod'", () => `Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "k"}]}}`],
  [
    "object.kind == 'Pod'",
    () => patched(`op: "add", path: "/spec/securityContext", value: Object.spec.securityContext{runAsNonRoot: true}`),
  ],
  ["object.kind == 'Deployment'", () => "Object{spec: Object.spec{replicas: 7}}"],
  [
    "object.kind == 'Deployment'",
    (of) =>
      `Object{spec: Object.spec{template: Object.spec.template{metadata: Object.spec.template.metadata{labels: {"${of}": "t"}}}}}`,
  ],
  ["object.kind == 'Scale'", () => "Object{spec: Object.spec{replicas: 5}}"],
  ["object.kind == 'Scale'", () => patched(`op: "replace", path: "/spec/replicas", value: 6`)],
  ["object.kind == 'Role'", () => `Object{rules: [Object.rules{verbs: ["get"]}]}`],
  [
    "object.kind == 'Role'",
    () =>
      patched(
        `op: "add", path: "/rules/0", value: Object.rules{apiGroups: [""], resources: ["pods"], verbs: ["watch"]}`,
      ),
  ],
  ["object.kind == 'Widget'", () => "Object{spec: Object.spec{colour: 'green'}}"],
  ["object.kind == 'Widget'", () => patched(`op: "replace", path: "/spec", value: {"replicas": 1, "unknown": "x"}`)],
  ["object.kind == 'HorizontalPodAutoscaler'", () => "Object{spec: Object.spec{minReplicas: 1}}"],
  ["object.kind == 'Eviction'", () => "Object{deleteOptions: Object.deleteOptions{gracePeriodSeconds: 1}}"],
  ["object.kind == 'TokenRequest'", () => "Object{spec: Object.spec{expirationSeconds: 700}}"],
  ["object.kind == 'TokenRequest'", () => patched(`op: "add", path: "/spec/audiences/-", value: "b"`)],
  ["object.kind == 'PodExecOptions'", () => "Object{command: ['false']}"],
  ["object.kind == 'PodExecOptions'", () => patched(`op: "replace", path: "/command", value: ["false"]`)],
  ["object.kind == 'Namespace'", (of) => label(of, "object.metadata.name")],
];
const CONDITIONS = [
  "request.operation == 'CREATE'",
  "request.userInfo.username != 'exempt'",
  "object.metadata.?labels.keep.hasValue()",
  "object.metadata.labels.keep == 'yes'",
  "!has(request.subResource)",
  "authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed()",
  "oldObject != null && oldObject.metadata.name == 'there'",
];
const VARIABLES = [
  { name: "name", expression: "request.name" },
  { name: "isNew", expression: "oldObject == null" },
];
/** By kind: what is written of a parameter, and where it is. */
const PARAMS = [
  {
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    values: [
      "params.data.most",
      'params.?kind.orValue("no-kind") + "-" + params.?apiVersion.orValue("no-version")',
      "params.metadata.name",
    ],
    refs: [
      { name: "limits" },
      { selector: { matchLabels: { limit: "yes" } } },
      { selector: { matchLabels: { limit: "no" } } },
      { name: "nowhere" },
    ],
  },
  {
    paramKind: { apiVersion: "parity.example.com/v1", kind: "Widget" },
    values: ['params.?spec.colour.orValue("none")', "params.kind", 'params.apiVersion.replace("/", "-")'],
    refs: [{ name: "there" }, { selector: { matchLabels: { keep: "yes" } } }, { selector: {} }, { name: "nowhere" }],
  },
];

/** Rules that the API server takes: nothing is mutated that is deleted; and in which no built-in kind has a version that they leave out ({@link ANOTHER_VERSION}). */
const mutated = (rules: readonly Rule[]): Rule[] =>
  rules.map((rule) => ({
    ...rule,
    operations: rule.operations.filter((each) => each !== "DELETE"),
    ...(JSON.stringify(rule).includes('"autoscaling"') && { apiVersions: ["v1", "v2"] }),
  }));

/** Policies, with their bindings, for one namespace. */
export function mutation(next: Random, index: number, namespace: string, rules: (next: Random) => Rule[]): object[] {
  return Array.from({ length: 1 + next(MOST) }, (_, at) =>
    policy(next, `m-${index}-${at}`, namespace, rules, at === 0),
  ).flat();
}

function policy(
  next: Random,
  name: string,
  namespace: string,
  rules: (next: Random) => Rule[],
  mayFail: boolean,
): object[] {
  const params = next(3) === 0 ? pick(next, PARAMS) : undefined;
  const some = next(2) === 0 ? pick(next, SOME) : undefined;
  const expressions = [
    ...(params ? [label(`${name}-p`, pick(next, params.values))] : []),
    ...(some ? [some[1](name)] : Array.from({ length: 1 + next(2) }, (_, at) => pick(next, ANY)(`${name}-${at}`))),
  ];
  const conditions = [...(some ? [some[0]] : []), ...(next(3) === 0 ? [pick(next, CONDITIONS)] : [])];
  const spec = {
    ...{ failurePolicy: mayFail && next(2) === 0 ? "Fail" : "Ignore" },
    reinvocationPolicy: next(3) === 0 ? "IfNeeded" : "Never",
    ...(params && { paramKind: params.paramKind }),
    matchConstraints: {
      resourceRules: mutated(rules(next)),
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      ...(next(6) === 0 && { objectSelector: { matchExpressions: [{ key: "keep", operator: "Exists" }] } }),
      ...(next(5) === 0 && { excludeResourceRules: mutated(rules(next).slice(0, 1)) }),
      ...(next(4) === 0 && { matchPolicy: "Exact" }),
    },
    ...(conditions.length > 0 && {
      matchConditions: conditions.map((expression, at) => ({ name: `condition-${at}`, expression })),
    }),
    variables: VARIABLES,
    mutations: expressions.map((expression) =>
      expression.includes("JSONPatch{")
        ? { patchType: "JSONPatch", jsonPatch: { expression } }
        : { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
    ),
  };
  const binding = {
    policyName: name,
    ...(params && {
      paramRef: { ...pick<object>(next, params.refs), parameterNotFoundAction: mayFail ? "Deny" : "Allow" },
    }),
    ...(next(5) === 0 && { matchResources: { objectSelector: { matchLabels: { keep: "yes" } } } }),
    ...(next(5) === 0 && { matchResources: { namespaceSelector: { matchLabels: { odd: "yes" } } } }),
  };
  return [
    { apiVersion: API, kind: "MutatingAdmissionPolicy", metadata: { name }, spec },
    { apiVersion: API, kind: "MutatingAdmissionPolicyBinding", metadata: { name }, spec: binding },
  ];
}

/** A policy whose rules name another version of a built-in kind than a request does. */
export const ANOTHER_VERSION: readonly object[] = [
  {
    ...{ apiVersion: API, kind: "MutatingAdmissionPolicy", metadata: { name: "another-version" } },
    spec: {
      ...{ failurePolicy: "Fail", reinvocationPolicy: "Never" },
      matchConstraints: {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "named-versions" } },
        resourceRules: [
          {
            ...{ apiGroups: ["autoscaling"], apiVersions: ["v1"], operations: ["CREATE"] },
            resources: ["horizontalpodautoscalers"],
          },
        ],
      },
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: { expression: label("version", "request.resource.version") },
        },
      ],
    },
  },
  {
    ...{ apiVersion: API, kind: "MutatingAdmissionPolicyBinding", metadata: { name: "another-version" } },
    spec: { policyName: "another-version" },
  },
];
