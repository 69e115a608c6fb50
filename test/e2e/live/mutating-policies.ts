/** MutatingAdmissionPolicies of every sort, each for a namespace of its own, and objects that they change. */

/** What our server may read beside policies: what docs/cluster.md says that parameters need. */
export const MUTATION_ROLES = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: mutating-server }
rules:
  - { apiGroups: [""], resources: [configmaps], verbs: [get, list, watch] }
  - { nonResourceURLs: [/flagz], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: mutating-server }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: mutating-server }
subjects: [{ kind: ServiceAccount, name: policy-server, namespace: policy-server }]
`;

const GADGET = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        parts: {
          ...{ type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, of: { type: "string" } },
          },
        },
      },
    },
  },
};

export const MUTATION_WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.mutating.example.com" },
  spec: {
    ...{ group: "mutating.example.com", scope: "Namespaced" },
    names: { kind: "Gadget", plural: "gadgets", singular: "gadget", listKind: "GadgetList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: GADGET } }],
  },
};

interface Sort {
  readonly mutations: readonly string[];
  /** Of the rule. */
  readonly of?: readonly [group: string, resource: string];
  readonly spec?: object;
  readonly paramRef?: object;
  readonly rule?: object;
  readonly match?: object;
  readonly namespace?: string;
}

const isPatch = (expression: string): boolean => expression.includes("JSONPatch{");

function policy(name: string, sort: Sort): object[] {
  const { mutations, of: [group, resource] = ["", "configmaps"], spec, paramRef, rule, match, namespace = name } = sort;
  const apiVersion = "admissionregistration.k8s.io/v1";
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  const written = { apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource], ...rule };
  return [
    {
      ...{ apiVersion, kind: "MutatingAdmissionPolicy", metadata: { name } },
      spec: {
        ...{ reinvocationPolicy: "Never", failurePolicy: "Fail" },
        matchConstraints: { resourceRules: [written], ...match },
        mutations: mutations.map((expression) =>
          isPatch(expression)
            ? { patchType: "JSONPatch", jsonPatch: { expression } }
            : { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
        ),
        ...spec,
      },
    },
    {
      ...{ apiVersion, kind: "MutatingAdmissionPolicyBinding", metadata: { name } },
      spec: { policyName: name, matchResources: { namespaceSelector }, ...(paramRef && { paramRef }) },
    },
  ];
}

const label = (key: string, value: string): string => `Object{metadata: Object.metadata{labels: {"${key}": ${value}}}}`;
const added = (path: string, value: string): string => `[JSONPatch{op: "add", path: "${path}", value: ${value}}]`;
/** Adds one to an annotation. */
const COUNT = `[JSONPatch{op: "add", path: "/metadata/annotations/count", value: string(int(object.metadata.annotations["count"]) + 1)}]`;
const PARAM_KIND = { paramKind: { apiVersion: "v1", kind: "ConfigMap" } };
const [NEVER, IF_NEEDED] = [{ reinvocationPolicy: "Never" }, { reinvocationPolicy: "IfNeeded" }];

export const MUTATING_POLICIES: readonly object[] = [
  ...policy("apply", { mutations: [label("mutated", '"yes"')] }),
  ...policy("patch", {
    mutations: [
      '[JSONPatch{op: "add", path: "/data", value: {"a": "b"}}]',
      added(`/data/" + jsonpatch.escapeKey("x/y") + "`, '"1"'),
    ],
  }),
  ...policy("params", {
    mutations: [label("from", "params.data.team")],
    spec: PARAM_KIND,
    paramRef: { name: "one", namespace: "params", parameterNotFoundAction: "Deny" },
  }),
  ...policy("selected", {
    mutations: [added("/metadata/labels/p-" + '" + params.metadata.name + "', "params.data.team")],
    spec: PARAM_KIND,
    paramRef: { namespace: "selected", selector: { matchLabels: { param: "yes" } }, parameterNotFoundAction: "Deny" },
  }),
  ...policy("missing", {
    mutations: [label("from", "params.data.team")],
    spec: PARAM_KIND,
    paramRef: { name: "none", namespace: "missing", parameterNotFoundAction: "Deny" },
  }),
  ...policy("allowed", {
    mutations: [label("from", "params.data.team")],
    spec: PARAM_KIND,
    paramRef: { name: "none", namespace: "allowed", parameterNotFoundAction: "Allow" },
  }),
  ...policy("conditions", {
    mutations: [label("when", '"named"')],
    spec: {
      matchConditions: [
        { name: "a", expression: 'object.metadata.name.startsWith("w")' },
        { name: "b", expression: "!has(object.data)" },
      ],
    },
  }),
  ...policy("variables", {
    mutations: [label("n", "variables.n"), label("m", 'variables.n + "-" + string(size(object.metadata.labels))')],
    spec: {
      variables: [
        { name: "size", expression: "size(object.?metadata.labels.orValue({}))" },
        { name: "n", expression: '"n" + string(variables.size)' },
      ],
    },
  }),
  ...policy("once", { mutations: [COUNT], spec: NEVER }),
  ...policy("again", { mutations: [COUNT], spec: IF_NEEDED }),
  // Three that change one object, of which two see what the third has done.
  ...policy("a-many", { mutations: [COUNT], spec: IF_NEEDED, namespace: "many" }),
  ...policy("b-many", {
    mutations: [label("size", "string(size(object.metadata.labels))")],
    spec: { ...IF_NEEDED, matchConditions: [{ name: "always", expression: "true" }] },
    namespace: "many",
    rule: { operations: ["CREATE", "UPDATE"] },
  }),
  ...policy("c-many", { mutations: [label("third", '"c"')], spec: NEVER, namespace: "many" }),
  // What selects sees the object as it came.
  ...policy("a-selects", { mutations: [label("chosen", '"yes"')], namespace: "selects" }),
  ...policy("b-selects", {
    mutations: [label("late", '"yes"')],
    match: { objectSelector: { matchLabels: { chosen: "yes" } } },
    namespace: "selects",
  }),
  ...policy("ignore", {
    mutations: [label("n", 'string(1 / (object.metadata.name == "zero" ? 0 : 1))'), label("after", '"yes"')],
    spec: { failurePolicy: "Ignore" },
  }),
  ...policy("fail", {
    mutations: [label("n", "string(1 / (size(object.metadata.name) - size(object.metadata.name)))")],
  }),
  ...policy("containers", {
    of: ["apps", "deployments"],
    mutations: [
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{initContainers: [Object.spec.template.spec.initContainers{name: "mesh", image: "mesh:1", restartPolicy: "Always"}]}}}}',
      '[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{name: "log", image: "log:1"}}]',
      "Object{spec: Object.spec{replicas: object.spec.replicas * 2}}",
    ],
  }),
  ...policy("custom", {
    of: ["mutating.example.com", "gadgets"],
    mutations: [
      'Object{spec: Object.spec{size: 3, parts: [Object.spec.parts{name: "b", of: "us"}]}}',
      '[JSONPatch{op: "test", path: "/spec/size", value: 3}, JSONPatch{op: "add", path: "/metadata/labels", value: {"size": "3"}}]',
    ],
  }),
  ...policy("updates", { mutations: [label("updated", '"yes"')], rule: { operations: ["UPDATE"] } }),
  ...policy("named", {
    mutations: [label("named", '"yes"')],
    rule: { resourceNames: ["web"] },
    match: {
      excludeResourceRules: [
        { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"], resourceNames: ["api"] },
      ],
    },
  }),
  ...policy("spaces", {
    mutations: [label("stage", 'namespaceObject.metadata.labels["stage"]')],
    rule: { operations: ["*"] },
  }),
  ...policy("who", {
    mutations: [
      label("who", "request.userInfo.username"),
      label("may", 'string(authorizer.group("").resource("secrets").namespace("who").check("get").allowed())'),
    ],
  }),
];

const configMap = (namespace: string, name = "web", more: object = {}, metadata: object = {}): object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, ...metadata }, ...more },
});

const PARAMS = [
  configMap("params", "one", { data: { team: "a" } }),
  configMap("selected", "red", { data: { team: "r" } }, { labels: { param: "yes" } }),
  configMap("selected", "blue", { data: { team: "b" } }, { labels: { param: "yes" } }),
  configMap("updates"),
];

const NAMES = [
  "apply",
  "patch",
  "params",
  "selected",
  "missing",
  "allowed",
  "conditions",
  "variables",
  "once",
  "again",
  "many",
  "selects",
  "ignore",
  "fail",
];

/** With the objects in them that must exist before. */
export const MUTATION_NAMESPACES: readonly object[] = [
  ...[...NAMES, "containers", "custom", "updates", "named", "spaces", "who"].map((name) => ({
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { stage: `of-${name}` } } },
  })),
  ...PARAMS,
];

const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "containers" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "web:1", ports: [{ containerPort: 80 }] }] },
    },
  },
};

const counted = { annotations: { count: "0" }, labels: { x: "y" } };

/** The objects, which the policies of their namespaces change or not. */
export const MUTATED: readonly { readonly title: string; readonly object: object; readonly verb?: string }[] = [
  { title: "an ApplyConfiguration", object: configMap("apply", "web", {}, { labels: { own: "1" } }) },
  { title: "a JSONPatch", object: configMap("patch") },
  { title: "a parameter", object: configMap("params") },
  { title: "two parameters", object: configMap("selected", "web", {}, { labels: { x: "y" } }) },
  { title: "no parameter, Deny", object: configMap("missing") },
  { title: "no parameter, Allow", object: configMap("allowed") },
  { title: "conditions that hold", object: configMap("conditions") },
  { title: "a condition that does not hold", object: configMap("conditions", "api") },
  { title: "variables", object: configMap("variables", "web", {}, { labels: { a: "1", b: "2" } }) },
  { title: "a counter that is not reinvoked", object: configMap("once", "web", {}, counted) },
  { title: "a counter that is", object: configMap("again", "web", {}, counted) },
  { title: "several policies", object: configMap("many", "web", {}, counted) },
  { title: "a selector that holds only later", object: configMap("selects", "web", {}, { labels: { x: "y" } }) },
  { title: "a selector that holds", object: configMap("selects", "web", {}, { labels: { chosen: "yes" } }) },
  { title: "a failing mutation, Ignore", object: configMap("ignore", "zero") },
  { title: "none fails, Ignore", object: configMap("ignore") },
  { title: "a failing mutation, Fail", object: configMap("fail") },
  { title: "containers", object: DEPLOYMENT },
  {
    title: "a custom resource",
    object: {
      apiVersion: "mutating.example.com/v1",
      kind: "Gadget",
      metadata: { name: "g", namespace: "custom" },
      spec: { parts: [{ name: "a" }, { name: "b", of: "them" }] },
    },
  },
  { title: "creation, where updates are mutated", object: configMap("updates", "new") },
  { title: "an update", object: configMap("updates", "web", { data: { a: "1" } }), verb: "replace" },
  { title: "a name that the rule names", object: configMap("named") },
  { title: "a name that it excludes", object: configMap("named", "api") },
  { title: "another name", object: configMap("named", "other") },
  { title: "the Namespace", object: configMap("spaces") },
  { title: "who asks, and may", object: configMap("who") },
  { title: "a namespace without policies", object: configMap("default") },
];
