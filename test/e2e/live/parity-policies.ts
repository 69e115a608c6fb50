/** ValidatingAdmissionPolicies with everything that such a policy can ask, each for one namespace. */

type Spec = Readonly<Record<string, unknown>>;

const rule = (group: string, resource: string, ...operations: readonly string[]): object => ({
  apiGroups: [group],
  apiVersions: ["v1"],
  operations,
  resources: [resource],
});

/** A policy and its binding; the namespace has the policy's name unless the binding selects others. */
function policy(
  name: string,
  rules: readonly object[],
  spec: Spec,
  { match = {}, ...binding }: { match?: object } & Spec = {},
): object[] {
  const api = "admissionregistration.k8s.io/v1";
  return [
    {
      apiVersion: api,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: rules,
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
          ...match,
        },
        ...spec,
      },
    },
    {
      apiVersion: api,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"], ...binding },
    },
  ];
}

const CONFIG_MAPS = [rule("", "configmaps", "CREATE", "UPDATE")];
const validations = (...of: readonly object[]): Spec => ({ validations: of });

/** A custom resource with two versions that differ in nothing but their names. */
export const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.parity.example.com" },
  spec: {
    group: "parity.example.com",
    scope: "Namespaced",
    names: { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget" },
    versions: ["v1", "v2"].map((name) => ({
      ...{ name, served: true, storage: name === "v2", subresources: { status: {}, scale: SCALE() } },
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: { type: "object", properties: { replicas: { type: "integer" }, colour: { type: "string" } } },
            status: { type: "object", properties: { replicas: { type: "integer" } } },
          },
        },
      },
    })),
  },
};

function SCALE(): object {
  return { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
}

/** Names of the namespaces that the requests go to. */
export const NAMESPACES = [
  ...["params", "params-selector", "params-missing", "labels", "authz", "update", "delete", "connect", "scale"],
  ...[
    "status",
    "dry",
    "apply",
    "exact",
    "equivalent",
    "conditions",
    "messages",
    "errors",
    "ignore",
    "names",
    "objects",
    "generate",
    "failing-condition",
    "named-versions",
  ],
];

/** Every policy. Others than validating ones may stand here, too: what objects become is compared. */
export const PARITY_POLICIES: readonly object[] = [
  ...policy(
    "params",
    CONFIG_MAPS,
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      ...validations({
        expression: "size(object.data) <= int(params.data.most)",
        messageExpression: "'at most ' + params.data.most + ' keys'",
      }),
      matchConditions: [{ name: "not-the-parameter", expression: "object.metadata.name != 'limits'" }],
    },
    { paramRef: { name: "limits", namespace: "params", parameterNotFoundAction: "Deny" } },
  ),
  ...policy(
    "params-selector",
    CONFIG_MAPS,
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      ...validations({
        expression: "!(params.data.key in object.data)",
        messageExpression: "params.kind + ' forbids it'",
      }),
      matchConditions: [
        { name: "no-parameter", expression: "!has(object.metadata.labels) || !('limit' in object.metadata.labels)" },
      ],
    },
    { paramRef: { selector: { matchLabels: { limit: "yes" } }, parameterNotFoundAction: "Allow" } },
  ),
  ...policy(
    "params-missing",
    CONFIG_MAPS,
    { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, ...validations({ expression: "true" }) },
    { paramRef: { name: "nowhere", parameterNotFoundAction: "Deny" } },
  ),
  ...policy(
    "labels",
    CONFIG_MAPS,
    validations(
      {
        expression: "namespaceObject.metadata.labels.stage == 'production' ? 'owner' in object.data : true",
        message: "production needs an owner",
      },
      { expression: "namespaceObject.metadata.name == request.namespace", message: "another namespace" },
    ),
  ),
  ...policy(
    "authz",
    CONFIG_MAPS,
    validations(
      {
        expression:
          "!('privileged' in object.data) || authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed()",
        message: "only who may read Secrets",
      },
      {
        expression: "!('own' in object.data) || authorizer.requestResource.check('delete').allowed()",
        message: "only who may delete it",
      },
      {
        expression: "!('path' in object.data) || authorizer.path('/healthz').check('get').allowed()",
        message: "only who may read /healthz",
        reason: "Forbidden",
      },
    ),
  ),
  ...policy(
    "update",
    [rule("", "configmaps", "UPDATE")],
    validations(
      { expression: "object.data == oldObject.data || !('final' in oldObject.data)", message: "it is final" },
      { expression: "request.operation == 'UPDATE'", message: "no update" },
    ),
  ),
  ...policy(
    "delete",
    [rule("", "configmaps", "DELETE")],
    validations({
      expression: "object == null && !('keep' in oldObject.data)",
      messageExpression: "oldObject.metadata.name + ' is kept'",
    }),
  ),
  ...policy(
    "connect",
    [rule("", "pods/exec", "CONNECT"), rule("", "pods/portforward", "CONNECT"), rule("", "pods/attach", "CONNECT")],
    validations(
      {
        expression: "request.subResource != 'exec' || (has(object.command) && object.command[0] != 'sh')",
        message: "no shells",
      },
      { expression: "request.subResource != 'portforward'", message: "no ports" },
    ),
  ),
  ...policy(
    "scale",
    [
      rule("apps", "deployments/scale", "UPDATE"),
      rule("", "pods/eviction", "CREATE"),
      rule("", "serviceaccounts/token", "CREATE"),
    ],
    validations(
      { expression: "request.subResource != 'scale' || object.spec.replicas < 5", message: "fewer than five" },
      { expression: "request.subResource != 'eviction' || object.metadata.name != 'stays'", message: "it stays" },
      {
        expression: "request.subResource != 'token' || object.spec.expirationSeconds <= 3600",
        message: "an hour at most",
      },
    ),
  ),
  ...policy(
    "status",
    [rule("", "pods/status", "UPDATE")],
    validations({
      expression: "!has(object.status.message) || object.status.message != 'bad'",
      message: "not that message",
    }),
  ),
  ...policy(
    "dry",
    CONFIG_MAPS,
    validations(
      { expression: "request.dryRun || !('real' in object.data)", message: "only as a dry run" },
      { expression: "!request.dryRun || !('dry' in object.data)", message: "not as a dry run" },
    ),
  ),
  ...policy(
    "apply",
    CONFIG_MAPS,
    validations(
      { expression: "!('created' in object.data) || request.operation == 'UPDATE'", message: "not when it is created" },
      { expression: "!('changed' in object.data) || request.operation == 'CREATE'", message: "not when it is changed" },
      {
        expression: "!('manager' in object.data) || request.options.fieldManager == object.data.manager",
        message: "another manager",
      },
    ),
  ),
  ...["Exact", "Equivalent"].flatMap((matchPolicy) =>
    policy(
      matchPolicy.toLowerCase(),
      [
        {
          apiGroups: ["parity.example.com"],
          apiVersions: ["v1"],
          operations: ["CREATE", "UPDATE"],
          resources: ["widgets"],
        },
      ],
      validations({
        expression: "!has(object.spec.colour) || object.spec.colour != 'red'",
        messageExpression: "'no red in ' + object.apiVersion + ' asked as ' + request.requestKind.version",
      }),
      { match: { matchPolicy } },
    ),
  ),
  ...policy("conditions", CONFIG_MAPS, {
    matchConditions: [
      { name: "not-skipped", expression: "!('skip' in object.data)" },
      { name: "not-the-user", expression: "request.userInfo.username != 'exempt'" },
    ],
    variables: [
      { name: "keys", expression: "object.data.map(k, k)" },
      { name: "long", expression: "variables.keys.filter(k, size(k) > 3)" },
    ],
    ...validations({
      expression: "size(variables.long) == 0",
      messageExpression: "'too long: ' + string(size(variables.long))",
    }),
  }),
  ...policy(
    "messages",
    CONFIG_MAPS,
    validations(
      { expression: "!('bare' in object.data)" },
      { expression: "!('reason' in object.data)", message: "m", reason: "Forbidden" },
      { expression: "!('large' in object.data)", message: "m", reason: "RequestEntityTooLarge" },
      {
        expression: "!('broken' in object.data)",
        message: "in its place",
        messageExpression: "string(1 / int(object.data.zero))",
      },
      { expression: "!('first' in object.data)", message: "first" },
      { expression: "!('first' in object.data)", message: "second" },
    ),
  ),
  ...policy("errors", CONFIG_MAPS, {
    failurePolicy: "Fail",
    ...validations({ expression: "object.data.missing == 'x'", message: "m" }),
  }),
  ...policy("ignore", CONFIG_MAPS, {
    failurePolicy: "Ignore",
    ...validations({ expression: "object.data.missing == 'x'", message: "m" }),
  }),
  ...policy(
    "names",
    [{ ...rule("", "configmaps", "CREATE", "UPDATE"), resourceNames: ["named"] }],
    validations({ expression: "false", message: "by name" }),
    {
      match: { excludeResourceRules: [{ ...rule("", "configmaps", "UPDATE") }] },
    },
  ),
  ...policy("objects", CONFIG_MAPS, validations({ expression: "false", message: "selected" }), {
    match: { objectSelector: { matchExpressions: [{ key: "looked-at", operator: "Exists" }] } },
  }),
  ...policy("failing-condition", CONFIG_MAPS, {
    matchConditions: [{ name: "labelled", expression: "object.metadata.labels.team == 'a'" }],
    ...validations({ expression: "true" }),
  }),
  ...policy(
    "named-versions",
    [
      { ...rule("parity.example.com", "widgets", "CREATE"), resourceNames: ["there"] },
      { ...rule("parity.example.com", "widgets", "CREATE"), apiVersions: ["v2"] },
    ],
    validations({ expression: "object.apiVersion.endsWith('v2')", message: "as the second version" }),
  ),
  ...policy(
    "generate",
    [rule("", "configmaps", "CREATE")],
    validations({
      expression: "object.metadata.?generateName.orValue('') != 'bad-' && request.name == object.metadata.name",
      messageExpression: "'as ' + object.metadata.generateName",
    }),
  ),
];
