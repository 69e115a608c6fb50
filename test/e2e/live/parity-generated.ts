/**
 * Policies and requests of a generator: what parts of a policy do by themselves and beside each other. A policy looks at one namespace, where it alone may deny: of
 * several denials it would be left to chance which one is said. Others look over its shoulder, and only warn and audit.
 */
import { pick, type Random, random } from "../../fuzz/random.js";
import type { Asked } from "./api.js";
import { collection, KINDS, type Kind, made } from "./parity-kinds.js";
import { mutation } from "./parity-mutations.js";
import type { ParityRequest } from "./parity-requests.js";

type Spec = Readonly<Record<string, unknown>>;

/** How many policies that may deny. */
const POLICIES = 36;
const OBSERVERS = 8;
const API = "admissionregistration.k8s.io/v1";
const USERS = ["writer", "reader", "exempt"];

const namespaceAt = (index: number): string => `generated-${index}`;
/** A third of what is asked for. */
const sometimes = (next: Random): boolean => next(3) === 0;

/** Conditions of requests: some fail for some kinds, which is what failure policies are for. */
const CONDITIONS = [
  "request.operation != 'DELETE'",
  "request.operation in ['CREATE', 'DELETE']",
  "request.userInfo.username != 'exempt'",
  "!('parity' in request.userInfo.groups)",
  "object == null || !has(object.metadata.labels) || !('skip' in object.metadata.labels)",
  "has(oldObject.metadata) || request.kind.kind != 'Pod'",
  "object.metadata.labels.team == 'a'",
  "oldObject.metadata.name == 'there'",
  "string(object.metadata.labels.size()) != '9'",
  "authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed()",
];

/** What is validated: all of them can be asked about every kind. */
const VALIDATIONS = [
  "object == null || object.metadata.?labels.team.orValue('none') != 'b'",
  "object.metadata.labels.team in ['a', 'c']",
  "object == null || object.metadata.?annotations.hasValue() || object.metadata.name.startsWith('x-')",
  "oldObject == null || oldObject.metadata.?labels.keep.orValue('no') != 'yes'",
  "request.operation != 'DELETE' || request.name != 'there'",
  "namespaceObject.metadata.labels.odd == 'yes' || request.operation == 'UPDATE'",
  "namespaceObject.metadata.name == request.namespace",
  "request.userInfo.username == 'admin' || request.dryRun == false",
  "!has(request.subResource) || request.subResource == 'status'",
  "has(request.options.fieldManager) && request.options.fieldManager != 'kubectl'",
  "authorizer.requestResource.check('delete').allowed()",
  "authorizer.path('/healthz').check('get').allowed() && request.resource.resource != 'roles'",
  "object == null || object.kind != 'Deployment' || object.spec.replicas < 3",
  "object == null || object.kind != 'Pod' || !object.spec.?hostNetwork.orValue(false)",
  "object == null || object.kind != 'Secret' || object.data.size() > 1",
  "object == null || object.kind != 'Widget' || object.spec.colour != 'red'",
  "object == null || object.kind != 'ConfigMap' || int(object.data.n) < 3",
  "request.resource.version == 'v1' && request.requestKind.version == 'v1'",
  "variables.label != 'b'",
  "variables.name.size() < 4 || variables.isNew",
  "1 / (variables.name.size() - 5) >= 0",
  "url('https://example.com/' + variables.name).getHost() == 'example.com' && variables.name.find('^[a-w]') != ''",
  "quantity('1Gi').isGreaterThan(quantity('500Mi')) && variables.label.split('').size() < 2",
];
/** With a parameter, a ConfigMap. */
const WITH_PARAMS = [
  "variables.label != params.data.forbidden",
  "params.data.most == '2' || object == null",
  "params.metadata.namespace == request.namespace",
  "int(params.data.most) > 2",
  "params.?kind.orValue('none') == 'none'",
];
const VARIABLES = [
  { name: "subject", expression: "object == null ? oldObject : object" },
  { name: "label", expression: "variables.subject.metadata.?labels.team.orValue('')" },
  { name: "name", expression: "request.name" },
  { name: "isNew", expression: "request.operation == 'CREATE'" },
];
const MESSAGES: readonly Spec[] = [
  {},
  { message: "not like this" },
  { messageExpression: "'not ' + request.name + ' as ' + string(request.operation)" },
  { message: "in its place", messageExpression: "string(object.metadata.labels.nowhere)" },
  { message: "in its place", messageExpression: "''" },
  { messageExpression: "'of ' + string(object.?metadata.labels.orValue({}).size())" },
  { messageExpression: "'in ' + namespaceObject.metadata.name + ': ' + variables.label" },
];
const REASONS = [undefined, undefined, "Forbidden", "Invalid", "RequestEntityTooLarge"];
const ACTIONS = [["Deny"], ["Deny"], ["Deny", "Audit"], ["Deny", "Audit"], ["Warn", "Audit"]];
const OBSERVING = [["Warn"], ["Audit"], ["Warn", "Audit"]];
const OPERATIONS = [["*"], ["CREATE", "UPDATE"], ["CREATE"], ["UPDATE", "DELETE"], ["CREATE", "UPDATE", "DELETE"]];
const EVERYTHING = ["", "apps", "rbac.authorization.k8s.io", "parity.example.com", "autoscaling"];

export function rules(next: Random): { readonly operations: readonly string[] }[] {
  const about = KINDS.filter(() => next(3) > 0);
  const exact = about.map(({ group, version, resource }) => ({
    ...{ apiGroups: [group], apiVersions: [version], operations: pick(next, OPERATIONS) },
    ...{ resources: sometimes(next) ? [resource, `${resource}/*`] : [resource] },
    // What differs there where a resource has several versions, parity-policies.ts shows.
    ...(next(8) === 0 && !["widgets", "horizontalpodautoscalers"].includes(resource) && { resourceNames: ["there"] }),
  }));
  const wide = { apiGroups: EVERYTHING, apiVersions: ["v1"], operations: pick(next, OPERATIONS), resources: ["*/*"] };
  return exact.length === 0 || next(4) === 0 ? [wide] : exact;
}

const distinct = <T>(next: Random, from: readonly T[], most: number): T[] => [
  ...new Set(Array.from({ length: next(most + 1) }, () => pick(next, from))),
];

function validations(next: Random, withParams: boolean): Spec[] {
  const one = (expression: string): Spec => {
    const reason = pick(next, REASONS);
    return { expression, ...pick(next, MESSAGES), ...(reason !== undefined && { reason }) };
  };
  const own = withParams ? [pick(next, WITH_PARAMS)] : [];
  return [...own, ...distinct(next, VALIDATIONS, 2), pick(next, VALIDATIONS)].map(one);
}

/** Where a binding finds its parameters. */
const PARAM_REFS = [
  { name: "limits" },
  { selector: { matchLabels: { limit: "yes" } } },
  { selector: { matchLabels: { limit: "never" } } },
  { name: "nowhere" },
];

/** A policy and its bindings. `where` selects namespaces. One that observes denies nothing, whatever fails. */
function policy(next: Random, name: string, where: object, observes = false): object[] {
  const withParams = sometimes(next);
  const spec = {
    failurePolicy: observes || sometimes(next) ? "Ignore" : "Fail",
    matchConstraints: {
      resourceRules: rules(next),
      namespaceSelector: where,
      ...(next(6) === 0 && { objectSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] } }),
      ...(next(4) === 0 && { excludeResourceRules: rules(next).slice(0, 1) }),
      ...(next(4) === 0 && { matchPolicy: "Exact" }),
    },
    ...(withParams && { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }),
    ...(sometimes(next) && {
      matchConditions: distinct(next, CONDITIONS, 2).map((expression, at) => ({ name: `condition-${at}`, expression })),
    }),
    variables: VARIABLES,
    validations: validations(next, withParams),
    ...(sometimes(next) && {
      auditAnnotations: [{ key: "asked", valueExpression: "string(request.operation) + ' ' + variables.label" }],
    }),
  };
  const binding = (suffix: string, validationActions: readonly string[], mayDeny: boolean): object => ({
    ...{ apiVersion: API, kind: "ValidatingAdmissionPolicyBinding", metadata: { name: `${name}${suffix}` } },
    spec: {
      ...{ policyName: name, validationActions },
      ...(withParams && {
        paramRef: { ...pick(next, PARAM_REFS), parameterNotFoundAction: mayDeny && next(2) === 0 ? "Deny" : "Allow" },
      }),
      ...(next(5) === 0 && { matchResources: { objectSelector: { matchLabels: { team: "b" } } } }),
      ...(next(5) === 0 && { matchResources: { namespaceSelector: { matchLabels: { odd: "yes" } } } }),
    },
  });
  // Of two bindings one denies at most.
  const second = next(5) === 0 ? [binding("-second", ["Warn", "Audit"], false)] : [];
  return [
    { apiVersion: API, kind: "ValidatingAdmissionPolicy", metadata: { name }, spec },
    binding("", pick(next, observes ? OBSERVING : ACTIONS), !observes),
    ...second,
  ];
}

/** What a seed makes. */
export interface Generated {
  /** Namespaces, and what is in them before. */
  readonly objects: readonly (readonly [path: string, object: object])[];
  readonly policies: readonly object[];
  /** Requests without end. */
  readonly requests: Iterator<ParityRequest, never>;
}

/** Makes policies and requests; the same of the same seed. */
export function generated(seed: number): Generated {
  const next = random(seed);
  const policies = Array.from({ length: POLICIES }, (_, index) =>
    policy(next, namespaceAt(index), { matchLabels: { "kubernetes.io/metadata.name": namespaceAt(index) } }),
  );
  const observers = Array.from({ length: OBSERVERS }, (_, index) =>
    policy(next, `observer-${index}`, { matchLabels: { watched: `${index % 4}` } }, true),
  );
  const mutations = Array.from({ length: POLICIES }, (_, index) => mutation(next, index, namespaceAt(index), rules));
  return {
    ...{ objects: objects(), policies: [...policies, ...observers, ...mutations].flat() },
    requests: requests(next),
  };
}

function objects(): [string, object][] {
  return Array.from({ length: POLICIES }, (_, index): [string, object][] => {
    const name = namespaceAt(index);
    const labels = { watched: `${index % 4}`, ...(index % 2 === 1 && { odd: "yes" }) };
    const limits = { forbidden: "c", most: `${1 + (index % 3)}` };
    return [
      ["/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }],
      [
        `/api/v1/namespaces/${name}/configmaps`,
        {
          ...{ apiVersion: "v1", kind: "ConfigMap" },
          metadata: { name: "limits", labels: { limit: "yes" } },
          data: limits,
        },
      ],
      ...KINDS.filter(({ version }) => version === "v1").flatMap((kind): [string, object][] => [
        [collection(kind, name), made(kind, { name: "there", labels: { team: "a", keep: "yes" } }, 0)],
        [collection(kind, name), made(kind, { name: "other" }, 0)],
      ]),
    ];
  }).flat();
}

const TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
};

/** What a request does to an object of a kind. */
type Make = (next: Random, kind: Kind, path: string, value: number) => Omit<Asked, "as" | "groups">;

function metadataOf(next: Random): { labels?: object; annotations?: object } {
  const team = pick(next, [undefined, "a", "b", "c"]);
  const labels = { ...(team !== undefined && { team }), ...(next(6) === 0 && { skip: "yes" }) };
  return {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(next(4) === 0 && { annotations: { why: "so" } }),
  };
}

/** What is asked of a part of a Pod or an account, and Namespaces themselves. */
function parts(next: Random, at: string): ReturnType<Make> {
  const pod = `${at}pods/${existing(next)}`;
  const meta = { metadata: { name: /[a-z]+$/.exec(pod)?.[0] } };
  const namespace = { metadata: { name: /namespaces.([^/]+)/.exec(at)?.[1], ...metadataOf(next) } };
  return pick<ReturnType<Make>>(next, [
    { method: "POST", path: `${pod}/exec?command=true&` },
    { method: "POST", path: `${pod}/attach?` },
    { method: "POST", path: `${pod}/portforward?ports=1&` },
    { method: "GET", path: `${pod}/proxy/?` },
    {
      ...{ method: "POST", path: `${pod}/eviction?` },
      body: { apiVersion: "policy/v1", kind: "Eviction", ...meta, deleteOptions: { dryRun: ["All"] } },
    },
    {
      ...{ method: "POST", path: `${pod}/binding?` },
      body: { apiVersion: "v1", kind: "Binding", ...meta, target: { kind: "Node", name: "node" } },
    },
    {
      ...{ method: "POST", path: `${at}serviceaccounts/there/token?` },
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: ["a"] } },
    },
    {
      ...{ method: "PATCH", type: TYPES.merge, path: `${pod}/ephemeralcontainers?` },
      body: { spec: { ephemeralContainers: [{ name: "e", image: "e" }] } },
    },
    { method: "DELETE", path: `/api/v1/namespaces/${namespace.metadata.name}?` },
    {
      ...{
        method: "PATCH",
        type: TYPES.apply,
        path: `/api/v1/namespaces/${namespace.metadata.name}?fieldManager=parity&`,
      },
      body: { apiVersion: "v1", kind: "Namespace", ...namespace },
    },
  ]);
}

const existing = (next: Random): string => pick(next, ["there", "there", "other"]);
const merged = (next: Random, path: string, body: object): ReturnType<Make> => ({
  ...{ method: "PATCH", type: TYPES.merge, path: `${path}/${existing(next)}?` },
  body,
});
const MAKES: readonly Make[] = [
  (next, kind, path, value) => ({
    ...{ method: "POST", path: `${path}?` },
    body: made(
      kind,
      { ...pick(next, [{ name: "new" }, { name: "x-new" }, { generateName: "gen-" }]), ...metadataOf(next) },
      value,
    ),
  }),
  (next, kind, path, value) => {
    const name = pick(next, ["there", "new", "x-new"]);
    const body = made(kind, { name, ...metadataOf(next) }, value);
    const [manager, force] = [pick(next, ["parity", "kubectl"]), next(2) === 0];
    return {
      method: "PATCH",
      type: TYPES.apply,
      path: `${path}/${name}?fieldManager=${manager}&force=${force}&`,
      body,
    };
  },
  (next, kind, path, value) => {
    const name = existing(next);
    // Custom resources are replaced in a version that was read.
    if (kind.kind === "Widget") return merged(next, path, { spec: { replicas: value } });
    return {
      method: "PUT",
      path: `${path}/${name}?fieldManager=parity&`,
      body: made(kind, { name, ...metadataOf(next) }, value),
    };
  },
  (next, _, path) => merged(next, path, { metadata: metadataOf(next) }),
  (next, { kind }, path, value) => ({
    ...{ method: "PATCH", type: TYPES.json, path: `${path}/${existing(next)}?` },
    body:
      kind === "Deployment"
        ? [{ op: "replace", path: "/spec/replicas", value }]
        : [{ op: "add", path: "/metadata/annotations", value: { n: `${value}` } }],
  }),
  (next, _, path) => ({ method: "DELETE", path: `${path}/${existing(next)}?` }),
  (_, __, path) => ({ method: "DELETE", path: `${path}?` }),
  (next, { kind }, path, replicas) =>
    ["Deployment", "Widget"].includes(kind)
      ? { method: "PATCH", type: TYPES.merge, path: `${path}/there/scale?`, body: { spec: { replicas } } }
      : { method: "DELETE", path: `${path}/${existing(next)}?propagationPolicy=Orphan&` },
  (next, { kind }, path, replicas) =>
    ["Deployment", "Widget", "Pod"].includes(kind)
      ? {
          method: "PATCH",
          type: TYPES.merge,
          path: `${path}/there/status?`,
          body: { status: kind === "Pod" ? { message: "m" } : { replicas } },
        }
      : {
          method: "PATCH",
          type: TYPES.merge,
          path: `${path}/${existing(next)}?`,
          body: { metadata: metadataOf(next) },
        },
  // What stands in no namespace: the namespace itself.
  (next, _, path) => ({
    ...{
      method: "PATCH",
      type: TYPES.merge,
      path: `${/\/namespaces\/[^/]+/.exec(path)?.[0].replace(/^/, "/api/v1") ?? ""}?`,
    },
    body: { metadata: metadataOf(next) },
  }),
  (next, _, path) => parts(next, path.replace(/^.*(?=\/namespaces)/, "/api/v1").replace(/[^/]*$/, "")),
];
/** Some ways to ask come more often than others. */
const WEIGHTED = [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 10, 10].map((at) => MAKES[at] as Make);

function* requests(next: Random): Generator<ParityRequest, never> {
  for (let number = 0; ; number++) {
    const kind = pick(next, KINDS);
    const path = collection(kind, namespaceAt(next(POLICIES)));
    const asked = pick(next, WEIGHTED)(next, kind, path, next(5));
    const as = next(3) === 0 ? pick(next, USERS) : undefined;
    yield {
      ...asked,
      ...{ title: `request ${number}`, path: `${asked.path}dryRun=All` },
      ...(as !== undefined && { as, ...(next(2) === 0 && { groups: ["parity", "system:authenticated"] }) }),
    };
  }
}
