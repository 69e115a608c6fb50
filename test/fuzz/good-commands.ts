/** Command lines that judge something, with their files: each exits 0 because what they judge is in order. */

/** The condition of all policies: true here, and `flip` makes it something else. */
export const KEPT = "'keep' == 'keep'";

/** A command line. `DIR` in arguments, files and standard input stands for the folder of the files. */
export interface GoodCommand {
  readonly args: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** What stands in place of the condition so that a command that has judged anything says something else. */
  readonly flip: string;
}

const FALSE = "'keep' == 'drop'";
const UNREADABLE = "'keep' ==";
const FAILING = "1 / 0 == 1";

const RULE = '{ apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods] }';
const KYVERNO = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata:
  name: kept
spec:
  matchConstraints:
    resourceRules:
    - ${RULE}
  validations:
  - expression: "${KEPT}"
    message: it is not kept
`;
const ADMISSION = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: bound
spec:
  matchConstraints:
    resourceRules:
    - ${RULE}
  validations:
  - expression: "${KEPT}"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: binding
spec:
  policyName: bound
  validationActions: [Deny]
`;
const JSON_POLICY = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata:
  name: any-json
spec:
  evaluation:
    mode: JSON
  matchConstraints:
    resourceRules:
    - ${RULE}
  validations:
  - expression: "${KEPT}"
`;
const POD = `apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
spec:
  containers:
  - name: web
    image: nginx
`;
const JSON_POD = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": {"containers": []}}\n';
const ENTRIES = `kept:
  cel:
    validations:
    - expression: "${KEPT}"
from-file:
  resource: policy.yaml
both:
  expression: kept() && file()
  message: not both
  policies:
    kept:
      policy: kept
    file:
      policy: from-file
`;
const OWN_TEST = `policy: kept
cases:
- name: passes
  object: pod.yaml
  expect: allow
`;
const KYVERNO_TEST = `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata:
  name: kept
policies:
- policy.yaml
resources:
- pod.yaml
results:
- policy: kept
  resources:
  - web
  kind: Pod
  result: pass
`;
const REQUEST = {
  uid: "1",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  name: "web",
  namespace: "shop",
  operation: "CREATE",
  userInfo: { username: "jane" },
  object: JSON.parse(JSON_POD) as unknown,
};
const REVIEW = JSON.stringify(
  {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: REQUEST,
    response: { uid: "1", allowed: true },
  },
  undefined,
  1,
);

const CONFIGURED = { "policies.yaml": ENTRIES, "policy.yaml": KYVERNO, "pod.yaml": POD };
const FOLDERS = {
  "policies/a.yaml": KYVERNO,
  "policies/deep/b.yaml": ADMISSION,
  "policies/kustomization.yaml": "resources: [a.yaml]\n",
  "resources/web/pod.yaml": POD,
  "resources/other.json": JSON_POD,
  "resources/values.yaml": "replicas: 1\n",
};

/** All of them: at least one for each command that judges without a network. */
export const GOOD_COMMANDS: readonly GoodCommand[] = [
  { args: ["apply", "DIR/policy.yaml", "--resource", "DIR/pod.yaml"], files: CONFIGURED, flip: FALSE },
  { args: ["apply", "DIR/policies", "-r", "DIR/resources"], files: FOLDERS, flip: FALSE },
  { args: ["apply", "DIR/", "-r", "DIR/", "--table"], files: FOLDERS, flip: FALSE },
  { args: ["apply", "-", "-r", "DIR/pod.yaml"], files: CONFIGURED, stdin: KYVERNO, flip: FALSE },
  { args: ["apply", "DIR/policy.yaml", "-r", "-"], files: CONFIGURED, stdin: POD, flip: FALSE },
  { args: ["apply", "both", "--policies", "DIR/policies.yaml", "-r", "DIR/pod.yaml"], files: CONFIGURED, flip: FALSE },
  {
    args: ["apply", "DIR/json.yaml", "--json", "DIR/payload.json"],
    files: { "json.yaml": JSON_POLICY, "payload.json": JSON_POD },
    flip: FALSE,
  },
  {
    args: ["eval", "kept", "--policies", "DIR/policies.yaml", "--object", "DIR/pod.yaml"],
    files: CONFIGURED,
    flip: FALSE,
  },
  {
    args: ["eval", "--all", "--policies", "DIR/policies.yaml", "--object", "DIR/objects"],
    files: { ...CONFIGURED, "objects/a.yaml": POD, "objects/deep/b.json": JSON_POD },
    flip: FALSE,
  },
  { args: ["eval", "DIR/policy.yaml", "--object", "-"], files: CONFIGURED, stdin: POD, flip: FALSE },
  {
    args: ["eval", "DIR/bound.yaml", "--request", "DIR/review.json"],
    files: { "bound.yaml": ADMISSION, "review.json": REVIEW },
    flip: FALSE,
  },
  {
    args: ["test", "DIR/own.test.yaml", "--policies", "DIR/policies.yaml"],
    files: { ...CONFIGURED, "own.test.yaml": OWN_TEST },
    flip: FALSE,
  },
  {
    args: ["test", "DIR/tests", "--policies", "DIR/policies.yaml"],
    files: {
      ...CONFIGURED,
      "tests/own.test.yaml": OWN_TEST.replace("pod.yaml", "../pod.yaml"),
      "tests/kept/kyverno-test.yaml": KYVERNO_TEST,
      "tests/kept/policy.yaml": KYVERNO,
      "tests/kept/pod.yaml": POD,
    },
    flip: FALSE,
  },
  { args: ["check", "DIR/policies.yaml"], files: CONFIGURED, flip: UNREADABLE },
  { args: ["check", "-o", "json", "DIR/"], files: CONFIGURED, flip: UNREADABLE },
  { args: ["inspect", "DIR/policy.yaml"], files: CONFIGURED, flip: UNREADABLE },
  { args: ["inspect", "both", "--policies", "DIR/policies.yaml"], files: CONFIGURED, flip: UNREADABLE },
  {
    args: ["bench", "kept", "--policies", "DIR/policies.yaml", "--object", "DIR/pod.yaml", "--seconds", "0.01"],
    files: CONFIGURED,
    flip: FAILING,
  },
  {
    args: ["replay", "DIR/reviews", "--policies", "DIR/policies.yaml", "--fail-on-change"],
    files: { ...CONFIGURED, "reviews/one.json": REVIEW },
    flip: FALSE,
  },
  { args: ["cel", KEPT, "--environment", "kubernetes-1.34"], files: {}, flip: FALSE },
];
