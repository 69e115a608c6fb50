/**
 * Twenty rules about pods like those that clusters have, written once for both kinds of policies: as Kyverno's ValidatingPolicies they say what a Pod must
 * be like, as ValidatingAdmissionPolicies what the template of a Deployment must be like.
 */
import type { JsonObject } from "../../src/kubernetes/object.js";

/** Where a rule finds a pod: its spec and its metadata, as expressions. */
interface Place {
  readonly spec: string;
  readonly meta: string;
}

const POD: Place = { spec: "object.spec", meta: "object.metadata" };
const TEMPLATE: Place = { spec: "object.spec.template.spec", meta: "object.spec.template.metadata" };

interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
}

interface Rule {
  readonly name: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly validations: readonly Validation[];
}

const containers = ({ spec }: Place): string =>
  `${spec}.containers + ${spec}.?initContainers.orValue([]) + ${spec}.?ephemeralContainers.orValue([])`;

/** A rule that each container must meet; the message names those that don't. */
const each = (name: string, place: Place, condition: string, what: string): Rule => ({
  name,
  variables: { all: containers(place), bad: `variables.all.filter(c, !(${condition})).map(c, c.name)` },
  validations: [
    {
      expression: "variables.bad.size() == 0",
      messageExpression: `'${what}: ' + variables.bad.join(', ')`,
    },
  ],
});

const rules = (place: Place): readonly Rule[] => {
  const { spec, meta } = place;
  return [
    each(
      "disallow-privileged-containers",
      place,
      "!c.?securityContext.?privileged.orValue(false)",
      "privileged containers are not allowed",
    ),
    {
      name: "disallow-host-namespaces",
      validations: ["hostNetwork", "hostPID", "hostIPC"].map((field) => ({
        expression: `${spec}.?${field}.orValue(false) == false`,
        message: `${field} must not be set`,
      })),
    },
    {
      name: "disallow-host-path",
      variables: { volumes: `${spec}.?volumes.orValue([])` },
      validations: [
        { expression: "variables.volumes.all(v, !has(v.hostPath))", message: "hostPath volumes are not allowed" },
      ],
    },
    each(
      "disallow-host-ports",
      place,
      "c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0)",
      "host ports are used by",
    ),
    {
      ...each(
        "restrict-capabilities",
        place,
        "c.?securityContext.?capabilities.?add.orValue([]).all(k, k in variables.known)",
        "capabilities that are not allowed are added in",
      ),
      variables: {
        known: "['AUDIT_WRITE', 'CHOWN', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID', 'SYS_CHROOT']",
        all: containers(place),
        bad: "variables.all.filter(c, c.?securityContext.?capabilities.?add.orValue([]).exists(k, !(k in variables.known))).map(c, c.name)",
      },
    },
    each(
      "require-drop-all",
      place,
      "'ALL' in c.?securityContext.?capabilities.?drop.orValue([])",
      "all capabilities must be dropped by",
    ),
    each(
      "disallow-privilege-escalation",
      place,
      "c.?securityContext.?allowPrivilegeEscalation.orValue(true) == false",
      "allowPrivilegeEscalation must be false in",
    ),
    each(
      "require-run-as-non-root",
      place,
      `c.?securityContext.?runAsNonRoot.orValue(${spec}.?securityContext.?runAsNonRoot.orValue(false))`,
      "runAsNonRoot must be true in",
    ),
    {
      name: "disallow-root-user",
      variables: { all: containers(place) },
      validations: [
        {
          expression: `${spec}.?securityContext.?runAsUser.orValue(1) > 0`,
          message: "the pod must not run as user 0",
        },
        {
          expression: "variables.all.all(c, c.?securityContext.?runAsUser.orValue(1) > 0)",
          message: "no container may run as user 0",
        },
      ],
    },
    {
      name: "restrict-seccomp",
      variables: { profile: `${spec}.?securityContext.?seccompProfile.?type.orValue('')` },
      validations: [
        {
          expression: "variables.profile in ['RuntimeDefault', 'Localhost']",
          messageExpression: "'the seccomp profile \"' + variables.profile + '\" is not allowed'",
        },
      ],
    },
    each(
      "disallow-latest-tag",
      place,
      "c.image.contains('@') || (c.image.contains(':') && !c.image.endsWith(':latest'))",
      "an image with another tag than latest is needed in",
    ),
    each(
      "restrict-registries",
      place,
      "c.image.startsWith('registry.acme.example/') || c.image.startsWith('mirror.acme.example/')",
      "images of unknown registries are used by",
    ),
    each(
      "require-image-pattern",
      place,
      "c.image.matches('^[a-z.]+/[a-z/-]+:[0-9][0-9.]*$')",
      "odd images are used by",
    ),
    each(
      "require-limits",
      place,
      "has(c.resources) && has(c.resources.limits) && ['cpu', 'memory'].all(k, k in c.resources.limits)",
      "limits of processor and memory are needed in",
    ),
    each(
      "limit-memory",
      place,
      "!has(c.resources) || !has(c.resources.limits) || !has(c.resources.limits.memory) || quantity(c.resources.limits.memory).isLessThan(quantity('4Gi'))",
      "less than 4Gi of memory may be used by",
    ),
    {
      name: "require-labels",
      variables: { labels: `${meta}.?labels.orValue({})` },
      validations: ["app", "team", "env"].map((label) => ({
        expression: `variables.labels[?'${label}'].orValue('') != ''`,
        message: `the label ${label} is required`,
      })),
    },
    {
      name: "require-probes",
      validations: [
        {
          expression: `${spec}.containers.all(c, has(c.livenessProbe) && has(c.readinessProbe))`,
          message: "liveness and readiness probes are required",
        },
      ],
    },
    {
      name: "disallow-token-mount",
      validations: [
        {
          expression: `${spec}.?automountServiceAccountToken.orValue(true) == false`,
          message: "the token of the service account must not be mounted",
        },
      ],
    },
    {
      name: "restrict-volume-types",
      variables: {
        volumes: `${spec}.?volumes.orValue([])`,
        known: "['configMap', 'downwardAPI', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret']",
      },
      validations: [
        {
          expression: "variables.volumes.all(v, variables.known.exists(k, k in v))",
          message: "volumes of this type are not allowed",
        },
      ],
    },
    {
      name: "restrict-sysctls",
      variables: { sysctls: `${spec}.?securityContext.?sysctls.orValue([]).map(s, s.name)` },
      validations: [
        {
          expression: "variables.sysctls.all(s, s.startsWith('net.ipv4.') || s == 'kernel.shm_rmid_forced')",
          messageExpression: "'sysctls that are not allowed: ' + variables.sysctls.join(', ')",
        },
      ],
    },
  ];
};

/** How many rules there are. */
export const RULES: number = rules(POD).length;

const rule = (resources: string, apiGroup: string): JsonObject => ({
  resourceRules: [
    { apiGroups: [apiGroup], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: [resources] },
  ],
});

/** `number`: makes the expressions of each differ from those of all others. */
const body = ({ variables = {}, validations }: Rule, number: number): JsonObject => ({
  ...(Object.keys(variables).length > 0 && {
    variables: Object.entries(variables).map(([name, expression]) => ({ name, expression })),
  }),
  validations: validations.map((each) => ({ ...each, expression: `(${each.expression}) || ${number} < 0` })),
});

function all<T>(count: number, place: Place, make: (name: string, rule: Rule, number: number) => T): T[] {
  const known = rules(place);
  return Array.from({ length: count }, (_, i) => {
    const rule = known[i % known.length];
    if (rule === undefined) throw new Error("no rules");
    return make(i < known.length ? rule.name : `${rule.name}-${Math.floor(i / known.length)}`, rule, i);
  });
}

/** The rules as Kyverno's policies about Pods, which autogen makes some about pod controllers of; beyond the first twenty they come again. */
export const kyvernoPolicies = (count = RULES): readonly JsonObject[] =>
  all(count, POD, (name, written, number) => ({
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata: { name },
    spec: { validationActions: ["Deny"], matchConstraints: rule("pods", ""), ...body(written, number) },
  }));

/** The same about Deployments as ValidatingAdmissionPolicies, with their bindings. */
export const admissionPolicies = (count = RULES): readonly JsonObject[] =>
  all(count, TEMPLATE, (name, written, number) => [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: { matchConstraints: rule("deployments", "apps"), ...body(written, number) },
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ]).flat();
